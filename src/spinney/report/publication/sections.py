"""What a report says around its results: who held the rows, what was spent, how it was made, and how to check it."""

from __future__ import annotations

import shlex

from spinney.ledgers.ledger import Ledger
from spinney.privacy.trust import Trust
from spinney.releases.promise import Promise
from spinney.report.publication.document import (
    LETTERS,
    Block,
    Command,
    Facts,
    Notice,
    Paragraph,
    Section,
    Sheet,
    Value,
    clean,
    short,
)
from spinney.report.publication.odds import promises
from spinney.verification.report import Verification

#: Lines shown of charges, charges beyond which one kind shares a line, and lines of the releases of a ledger.
CHARGES, EACH, ENTRIES = 12, 20, 8
SECURE = "Secure: the noise came from the entropy of the operating system, and cannot be repeated or taken out."
#: Who can check a signature, by its kind.
SIGNED = {
    "hmac-sha256": "yes; the holder of the key can check it",
    "ed25519": "yes; anyone can check it with the public key of whoever signed",
}


def notices(release: Promise, verification: Verification | None) -> tuple[Notice, ...]:
    """Return what stands above everything else."""
    if not promises(release):
        why = f"The noise of this release is not secure ({clean(release.noise, LETTERS)})."
        if release.is_private:
            why = "This release names a seed of its noise, or promises nothing finite."
        told = f"{why} Whoever reads it may learn about single rows. For made-up rows only: do not publish it."
        return (Notice("NOT PRIVATE", told),)
    if verification is not None and not verification.holds:
        told = clean(verification.verdict)
        return (Notice("CHECK FAILED", f"What this release states of itself does not hold together. {told} Do not rely on it."),)
    return ()


def model_section(release: Promise, *more: tuple[str, str]) -> Section:
    """Return who held the rows, what was done to them, and more facts."""
    trust = Trust.of(clean(release.model))
    rules = "; ".join(clean(rule) for rule in release.preprocessing.split("; ") if rule)
    number = release.k if release.k is not None else "not stated"
    given = {**release.parameters, "random_state": release.random_state, "noise_seed": release.noise_seed}
    listed = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
    facts = (
        ("Who held the rows", f"{_sentence(trust.words or trust.kind or 'not stated')} Model: {trust.kind or 'not stated'}."),
        ("Randomness", SECURE if promises(release) else f"{_sentence(clean(release.noise, LETTERS))} It protects nobody."),
        ("Before the questions", _sentence(rules or "not stated")),
        (
            "Number asked for" if getattr(release, "k_costs", None) is None else "Number found",
            f"{number}, {clean(release.k_source) or 'source not stated'}.",
        ),
        *((("To repeat it", f"{clean(listed)}."),) if listed else ()),
    )
    return Section("Who was trusted, and what was done", (Facts((*facts, *more)),))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _charge_rows(release: Promise) -> list[tuple[str, str, str]]:
    """Return name, question and price of what was asked; many that differ only by the number in their name are one row."""
    each = [(charge.name, charge.question, f"{charge.measure.value} {float(charge.amount):.6g}") for charge in release.charges]
    if len(each) <= EACH:
        return each
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, question, price in each:
        stem, _, number = name.rpartition(" ")
        alike.setdefault((question, stem if stem and number.isdigit() else name, price), []).append(name)
    rows = []
    for (question, _, price), names in alike.items():
        last = names[-1].rpartition(" ")[2]
        one = len(names) == 1
        rows.append((names[0] if one else f"{names[0]} .. {last}", question, price if one else f"{len(names)} x {price}"))
    return rows


def _charges(release: Promise, whole: bool) -> Sheet:
    rows = _charge_rows(release)
    shown = rows if whole else rows[:CHARGES]
    cells = tuple(tuple(Value(clean(text, LETTERS)) for text in row) for row in shown)
    note = f"{len(rows) - len(shown):,} more lines are in the release file." if len(rows) > len(shown) else ""
    title = "What each user's reports are worth" if release.trust.is_local else "Questions asked of the rows"
    return Sheet(title, ("for", "question", "charge"), cells, 2, note)


def spent_section(release: Promise, ledger: Ledger | None, whole: bool = False) -> Section:
    """Return what was spent, and what is left."""
    blocks: list[Block] = []
    if promises(release):
        delta = f", delta {release.delta:g}" if release.delta else ", delta 0"
        told = f"Promised: epsilon {short(release.promised_epsilon, 6)}{delta}. Spent: epsilon {short(release.epsilon, 6)}"
        how = f"in {_questions(release)}, each answered with noise"
        how = "by each user, in reports with noise of their own" if release.trust.is_local else how
        blocks.append(Paragraph(f"{told}, {how}."))
    else:
        blocks.append(Paragraph(f"There is no promise, so nothing was spent; {_questions(release)} were asked."))
    blocks.append(_charges(release, whole))
    if any(charge.measure.value == "rho" for charge in release.charges):
        blocks.append(Paragraph("Gaussian noise is charged in rho, which adds up and is converted to epsilon once, at delta."))
    blocks += _ledger_blocks(release, ledger)
    return Section("What was spent and what is left", tuple(blocks))


def _questions(release: Promise) -> str:
    count = len(release.charges)
    return f"{count:,} question" if count == 1 else f"{count:,} questions"


def _ledger_blocks(release: Promise, ledger: Ledger | None) -> list[Block]:
    """Return the state of the ledger, with its last releases."""
    entry, name = release.made.get("entry"), clean(release.made.get("ledger") or "", LETTERS)
    if ledger is None:
        told = "No ledger was charged: nothing in the release tells what else was released about the same rows."
        if entry:
            told = f"Charged to the ledger {name} as entry {clean(entry, LETTERS)}; what is left there is not shown here."
        return [Paragraph(told)]
    blocks = ledger_blocks(ledger, entry)
    if entry not in {one.id for one in ledger.entries}:
        blocks.insert(0, Notice("Not in this ledger", "No entry of the ledger paid for this release."))
    elif ledger.digests.get(str(entry)) not in (None, release.digest):
        blocks.insert(0, Notice("Changed", "This is not the release that its entry in the ledger paid for."))
    return blocks


def ledger_blocks(ledger: Ledger, entry: str | None = None) -> list[Block]:
    """Return what is left in a ledger, and its last releases; one of them may be this one."""
    entries, ceiling = ledger.entries, ledger.ceiling
    told = (
        f"Ledger: {len(entries):,} {'release' if len(entries) == 1 else 'releases'}. Together they may spend epsilon "
        f"{short(float(ceiling.epsilon), 6)}, delta {float(ceiling.delta):g}. Spent: epsilon {short(ledger.spent, 6)}. "
        f"Left: epsilon {short(ledger.remaining, 6)}."
    )
    blocks: list[Block] = [Paragraph(told)]
    rows = []
    for number, one in list(enumerate(entries, start=1))[-ENTRIES:]:
        what = clean(one.what, LETTERS) + (" (this release)" if one.id == entry else "")
        delta = f", delta {one.delta:g}" if one.delta else ""
        rows.append((Value(str(number)), Value(one.when[:10]), Value(what), Value(f"epsilon {short(one.epsilon, 6)}{delta}")))
    left = f"{len(entries) - ENTRIES:,} earlier ones are in the ledger." if len(entries) > ENTRIES else ""
    if rows:
        blocks.append(Sheet("Last releases in the ledger", ("no.", "day (UTC)", "what", "promise"), tuple(rows), 3, left))
    return blocks


def check_section(release: Promise, verification: Verification | None, ledger: Ledger | None = None) -> Section:
    """Return how to check the release, by the name of its file, and what a check found when the report was written."""
    file = clean(verification.file) if verification is not None and verification.file else "release.json"
    told = (
        "Trust the release file, not this page. Anyone can check its arithmetic; who names the ledger too learns whether it paid"
    )
    name = verification.ledger if verification is not None and verification.ledger else release.made.get("ledger")
    command = f"spinney verify {shlex.quote(file)}"
    if name and release.made.get("entry"):
        command = f"spinney verify {shlex.quote(file)} --ledger {shlex.quote(clean(name))}"
    blocks: list[Block] = [Paragraph(f"{told} for this very release:"), Command(command)]
    if verification is not None:
        blocks.append(Paragraph(f"When this page was written: {clean(verification.verdict)}"))
    entry = release.made.get("entry")
    is_paid = ledger is not None and entry is not None and ledger.digests.get(str(entry)) == release.digest
    if is_paid and not (verification is not None and verification.authenticated):
        blocks.append(Paragraph("It stands, to the letter, in the ledger that this page shows."))
    signed = SIGNED.get(str(release.signature).partition(":")[0], "no")
    facts = {"Digest of the release": release.digest, "Signed under a key": signed}
    if release.format.endswith("/1"):
        facts = {"Digest of the release": f"none: format {clean(release.format, LETTERS)} is of an earlier version"}
    facts |= dict(made_facts(release)) | {"Audit": clean(release.audit, 120)}
    return Section("How to check it", (*blocks, Facts(tuple(facts.items()))))


def made_facts(release: Promise) -> tuple[tuple[str, str], ...]:
    """Return when a release was made, and by what."""
    made = release.made
    charged = (
        f", charged to {clean(made['ledger'], LETTERS)} as entry {clean(made['entry'], LETTERS)}" if made.get("entry") else ""
    )
    algorithm = clean(getattr(release, "algorithm", "coverage"), LETTERS)
    return (
        ("Made", f"{clean(made.get('date') or 'on a day that is not stated', LETTERS)}{charged}"),
        ("Software", f"spinney {clean(release.version, LETTERS)}; algorithm {algorithm}"),
    )


def sign_section(has_sources: bool = False, has_names: bool = False) -> Section:
    """Return what no release knows, to be filled in by hand; sources of bounds only if they were not declared."""
    given = (
        (("Names of clusters", "Given by the publisher, who had read the release. They are no part of it."),) if has_names else ()
    )
    names = ("Published by", "Contact", "What for", *(() if has_sources else ("Source of the bounds",)), "Approved by, day")
    return Section("To be filled in by the publisher", (Facts((*given, *((name, "") for name in names))),))
