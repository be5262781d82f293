"""What a promise means, in words and odds that need no mathematics. Limits are rounded to the safe side."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Decimal

from spinney.releases.promise import Promise
from spinney.report.label import UNPROTECTED
from spinney.report.publication.document import Block, Facts, Paragraph, Section, Sheet, Value

#: Guesses before the release is read, and what they are called.
GUESSES = ((0.01, "1 in 100 (1%)"), (0.1, "1 in 10 (10%)"), (0.5, "50:50 (50%)"), (0.9, "9 in 10 (90%)"))
#: Beyond this epsilon there is no useful limit.
LARGEST = 20.0


def promises(release: Promise) -> bool:
    """Whether a release promises anything: secure noise, no seed, and a finite epsilon."""
    return release.is_private and release.noise_seed is None and math.isfinite(release.promised_epsilon)


def _rounded(value: float, digits: int) -> str:
    """Return a positive number in this many digits, rounded down."""
    number = Decimal(value)
    step = Decimal(1).scaleb(number.adjusted() - digits + 1)
    text = f"{number.quantize(min(step, Decimal(1)), rounding=ROUND_FLOOR):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent_words(guess: float, epsilon: float) -> str:
    """Return how sure a guess can become if odds are multiplied by exp(epsilon), which may be negative; to the safe side."""
    other = 1 / (1 + guess / (1 - guess) * math.exp(min(max(epsilon, -600.0), 600.0)))  # the chance of the opposite
    left = 100 * (other if epsilon >= 0 else 1 - other)
    if left < 1e-6:
        return "nearly 100%" if epsilon >= 0 else "nearly 0%"
    down = Decimal(_rounded(left, 1 + len(str(int(left))) if left >= 1 else 2))
    return f"{100 - down if epsilon >= 0 else down:f}%"  # rounded away from the guess, but never to a certainty


def chance_words(delta: float) -> str:
    """Return a small chance as "one in N", rounded up."""
    if delta >= 1:
        return "1 in 1"
    if delta < 1e-15:
        return f"{delta:.2g}"
    return f"1 in {math.floor(1 / delta * (1 + 1e-12)):,}"


def _unit(release: Promise) -> tuple[str, str]:
    """Return who is protected, in a sentence, and what one of them is called."""
    if release.max_rows_per_group is None:
        told = "Each single row of the table. Where one person has several rows, each of them is protected, but not all together."
        return told, "row"
    rows = "one row" if release.max_rows_per_group == 1 else f"{release.max_rows_per_group:,} rows"
    return f"Each group of rows under one name, such as all rows of one person. At most {rows} of a group were counted.", "group"


def _limit(release: Promise, unit: str) -> str:
    epsilon = release.promised_epsilon
    about = f"any one {unit} " + ("was in the table" if release.adjacency == "add-remove" else "says one thing or another")
    return (
        f"Someone who knows all else, even all other rows, and is undecided (50:50) whether {about}, is at most "
        f"{percent_words(0.5, epsilon)} sure after reading this release. The table says the same for other guesses."
    )


def _contents(release: Promise, unit: str) -> str:
    """Return the limit for a guess between two contents of a unit that is known to be there, if units are added or removed."""
    epsilon, delta = release.promised_epsilon, release.delta
    told = f"Someone who knows that a {unit} is in the table, and is undecided (50:50) between two things that it may say,"
    if epsilon > LARGEST:
        return f"{told} may be sure after reading this release: there is no useful limit."
    more = f", but for a chance of at most {chance_words(delta * (1 + math.exp(epsilon)))}" if delta else ""
    return f"{told} is at most {percent_words(0.5, 2 * epsilon)} sure of one of them after reading this release{more}."


def _table(release: Promise) -> Sheet:
    epsilon = release.promised_epsilon
    rows = [(Value(name), *(Value(percent_words(guess, way)) for way in (epsilon, -epsilon))) for guess, name in GUESSES]
    return Sheet(
        "How sure an attacker can become", ("guess before reading", "after, at most", "after, at least"), tuple(rows),
        note="Rounded to the safe side." + (" Apart from the exceptional chance above." if release.delta else ""),
    )  # fmt: skip


def promise_section(release: Promise) -> Section:
    """Return the promise in plain words."""
    if not promises(release):
        return Section("What is promised", (Paragraph("Nothing. This release may reveal who is in the table, and their rows."),))
    who, unit = _unit(release)
    exceptions = "None: the limit holds for every possible outcome (delta is 0)."
    if release.delta:
        exceptions = f"It is as if, with a chance of at most {chance_words(release.delta)} (delta), the limit did not hold."
    facts = [
        ("Who is protected", who),
        ("The most that can be learned about one", _limit(release, unit)),
        ("Exceptions", exceptions),
    ]
    if release.adjacency == "add-remove":
        facts.append(("What the rows say", _contents(release, unit)))
    blocks: list[Block] = [
        Facts(tuple(facts)),
        _table(release),
        Paragraph(
            "What is true of many people stays visible, and may be said about someone who was never in the table: that is what "
            f"the release is for. Not protected, as it is public or seen otherwise: {UNPROTECTED}"
            f"{'' if release.adjacency == 'add-remove' else '; the number of rows or groups'}. "
            "Several releases about the same people add up: their epsilons must be added."
        ),
        Paragraph(f"The formal statement: {release.statement}."),
    ]
    return Section("What is promised", tuple(blocks))
