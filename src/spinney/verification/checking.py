"""Checking a release alone: its shape, its promise, its charges, its noise, and whether anyone vouches for it.

Nothing here is imported from the code that plans, charges or draws noise: the arithmetic is written a second time.
"""

from __future__ import annotations

import hmac
from fractions import Fraction
from pathlib import Path
from typing import Any

from spinney.exceptions import ReleaseError
from spinney.verification.amounts import ADDITIVE, converted, fraction_of, of_gaussian_noise, told
from spinney.verification.asked import misasked
from spinney.verification.canonical import digest_of, read_record
from spinney.verification.contents import KINDS, check_contents, kind_of
from spinney.verification.keys import is_signed_by, is_signed_with, read_key
from spinney.verification.ledger_lines import read_ledger
from spinney.verification.margins import margins_are_told
from spinney.verification.noise import Refused, Setting, check_noise
from spinney.verification.report import Check, Verification
from spinney.verification.shape import SCHEMAS, misfit

#: By how much of it what is stated as spent may lie above the sum of the charges.
SLACK = Fraction(1, 1000)


def _version_of(record: dict[str, Any], path: str | Path) -> int:
    """Return the version of a release's format, after a check of its shape."""
    name, _, version = str(record.get("format")).rpartition("/")
    known = [str(one) for one in SCHEMAS]
    if name.removeprefix("spinney-") not in KINDS or not name.startswith("spinney-") or version not in known:
        raise ReleaseError(f"{path} is not a release of a known format.", "name a file that a fit wrote.")
    wrong = misfit(record, int(version))
    if wrong is not None:
        raise ReleaseError(f"{path} is no whole release: {wrong}.", "restore it from a copy.")
    return int(version)


def _statement(record: dict[str, Any]) -> str:
    """Return the sentence that the numbers of a release make."""
    if record["noise"] != "secure":
        return str(record["noise"])
    cap = record["max_rows_per_group"]
    unit = "row" if cap is None else f"group of at most {cap} counted rows"
    change = {"add-remove": "adding or removing", "replace": "replacing"}[record["adjacency"]]
    epsilon, delta = record["promised_epsilon"], record["delta"]
    number = epsilon if epsilon == "inf" else repr(float(epsilon))
    floats = ", proved over the reals only" if any(one["question"] == "minimize" for one in record["charges"]) else ""
    return f"({number}, {float(delta)!r})-differentially private for {change} one {unit}{floats}"


def _promise(record: dict[str, Any]) -> list[Check]:
    stated = _statement(record)
    same = record["statement"] == stated
    words = stated if same else "its sentence is not what its numbers say"
    private = record["noise"] == "secure" and record["promised_epsilon"] != "inf" and record.get("noise_seed") is None
    noise = "secure: drawn from the entropy of the system" if private else "not private: this release promises nothing"
    return [Check("promise", same, words), Check("noise", private, noise)]


def _charges(record: dict[str, Any]) -> Check:
    """Add up the charges, and compare them with what was spent and what was promised."""
    charges, delta = record["charges"], told(record["delta"])
    amounts, deltas = ([fraction_of(one.get(name, "0")) for one in charges] for name in ("amount", "delta"))
    if not charges or None in amounts or None in deltas:
        return Check("charges", False, "a charge is no finite amount")
    sums = {"epsilon": Fraction(), "rho": Fraction()}
    for charge, amount in zip(charges, amounts, strict=True):
        sums[charge["measure"]] += amount or 0
    own = sum((one or Fraction() for one in deltas), Fraction())
    zcdp = converted(sums["rho"], delta - own) if own <= delta else None
    if zcdp is None:
        return Check("charges", False, "the charges need a larger delta than the release states")
    totals = [sums["epsilon"] + zcdp]
    if sums["rho"] and all(one["question"] in ADDITIVE for one in charges if one["measure"] == "rho"):
        totals.append(sums["epsilon"] + of_gaussian_noise(sums["rho"], delta - own, zcdp))
    total = max((one for one in totals if one <= told(record["epsilon"])), default=totals[-1])  # older releases state the first
    how = f"{len(charges)} charges add up to epsilon {float(total):.9g}"
    how += f" at delta {record['delta']:g} (rho {float(sums['rho']):.6g})" if sums["rho"] else ""
    spent, promised = record["epsilon"], record["promised_epsilon"]
    if total > told(spent):
        return Check("charges", False, f"{how}, more than the {spent:.9g} that is stated")
    if told(spent) * (1 - SLACK) > total:  # conversions differ in their last digits
        return Check("charges", False, f"{how}, less than the {spent:.9g} that is stated: a charge is missing")
    if told(spent) > told(promised):
        return Check("charges", False, f"more is spent than the {promised:.9g} that is promised")
    if len({one["name"] for one in charges}) < len(charges):
        return Check("charges", False, "two charges have one name")
    return Check("charges", True, f"{how}, of {promised:.9g} promised")


def _noise(record: dict[str, Any]) -> list[Check]:
    """Check the noise of every question, that the questions match the algorithm, and the margins the noise."""
    charges, records = record["charges"], record["mechanisms"]
    asked, is_local = {one["question"] for one in charges}, record["model"].partition(":")[0].partition(",")[0] == "local"
    if (asked == {"reports"}) is not is_local or ("reports" in asked) is not is_local:
        words = "users' reports were added up, and nothing else, if and only if the model is local"
        return [Check("model", False, f"it is not the one of its charges: {words}")]
    if [one["name"] for one in charges] != [one["name"] for one in records]:
        return [Check("mechanisms", False, "they do not match the charges")]
    is_description = kind_of(record) == "description"
    columns, described = len(record["domain"]["lower"]) if "domain" in record else 0, record.get("columns", [])
    measured = sum(one["kind"] in ("number", "date") for one in described) if is_description else 0
    rows = (record["max_rows_per_group"] or 1) * record.get("row_times", 1)
    setting = Setting(record["adjacency"] == "replace", rows, columns or len(described), measured, is_description)
    found = []
    for charge, noise in zip(charges, records, strict=True):
        try:
            found.append(Check(charge["name"], True, f"{charge['question']}: {check_noise(noise, charge, setting)}"))
        except Refused as error:
            found.append(Check(charge["name"], False, f"{charge['question']}: {error}"))
    if not all(one.holds for one in found):
        return found
    kind = "local" if is_local else kind_of(record)
    wrong = misasked(record, kind, columns)
    if wrong is not None:
        return [*found, Check("questions", False, wrong)]
    told = margins_are_told(record, kind)
    return found if told else [*found, Check("margins", False, "they do not match the noise")]


def _are_paid(charges: list[dict[str, str]], paid: list[dict[str, str]]) -> bool:
    """Whether each charge is one of those paid, perhaps for another question, or several pooled under their joined names.

    Each pays once. What a question needs is looked at elsewhere: here amounts count.
    """
    left = {one["name"]: one for one in paid}
    for charge in sorted(charges, key=lambda one: one["name"] not in left):  # first those that stand as they were paid
        alone = left.get(charge["name"])
        if alone == charge:
            del left[charge["name"]]
            continue
        names = _joined(charge["name"], list(left))
        parts = [left.pop(name) for name in names]
        amounts = [fraction_of(one["amount"]) for one in parts]
        plain = all(one["measure"] == charge["measure"] and "delta" not in one for one in (*parts, charge))
        if not parts or not plain or None in amounts or sum(amounts) != fraction_of(charge["amount"]):  # type: ignore[arg-type]
            return False
    return True


def _joined(name: str, names: list[str]) -> list[str]:
    """Return names of the list, none twice, that are joined in another one; none if there are no such."""
    for one in names:
        if one == name:
            return [one]
        if name.startswith(f"{one} + "):
            rest = _joined(name[len(one) + 3 :], [other for other in names if other != one])
            if rest:
                return [one, *rest]
    return []


def _in_ledger(record: dict[str, Any], path: str | Path) -> Check:
    """Look for the release in a ledger."""
    ledger, entry = read_ledger(path), record.get("made", {}).get("entry")
    if entry is None or entry not in ledger.entries:
        return Check("ledger", False, "no entry of this ledger paid for it")
    if entry not in ledger.digests:
        words = "its entry is there without a digest: the fit failed, or an earlier version made it. Not authenticated"
        return Check("ledger", False, words)
    if not hmac.compare_digest(ledger.digests[entry], digest_of(record)):
        return Check("ledger", False, "it is not the release that its entry paid for: something in it was changed")
    if not _are_paid(record["charges"], ledger.entries[entry]["charges"]):
        return Check("ledger", False, "its entry did not pay for all of its charges")
    return Check("ledger", True, f"entry {entry} paid for it, and it is unchanged since")


def _signed(record: dict[str, Any], is_so: bool, key: str) -> Check:
    """Return the check of a signature."""
    if record.get("signature") is None:
        return Check("signature", False, "it is not signed")
    other = "it was changed, or signed with another key"
    return Check("signature", is_so, f"signed with {key}, and unchanged since" if is_so else other)


def verify(
    path: str | Path, *, ledger: str | Path | None = None, key: str | Path | None = None, public_key: str | Path | None = None
) -> Verification:
    """Check a release with code apart from the one that made it, and say in words what holds.

    An edited charge, price, sensitivity or scale is refused by arithmetic. That nothing else was edited is known only if the
    digest of the release stands in a ledger, or if it was signed: asked for either, what is not authentic is refused.

    Privacy
    -------
    Reads a release and nothing about rows: free.

    Parameters
    ----------
    path : str or Path
        What ``release.to_json(path)`` wrote, with this version or an earlier one; format 1 says nothing of noise.
    ledger : str or Path, optional
        The ledger that was charged.
    key : str or Path, optional
        A file with the secret bytes that it was signed with, which whoever signs and whoever checks share.
    public_key : str or Path, optional
        A file with the public key of whoever signed it (Ed25519, PEM): anyone may check, and the holder of the private key alone
        can sign. Needs the extra ``sign``.

    Returns
    -------
    Verification
        ``holds``, ``authenticated``, ``findings``, and a page of words when printed.

    Raises
    ------
    ReleaseError
        If the file is no release, or not a whole one.

    Examples
    --------
    >>> import tempfile
    >>> from spinney import PrivateKMeans, verify
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = folder.name + "/release.json"
    >>> text = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit([[0.1], [0.9]]).release_.to_json(path)
    >>> print(verify(path).verdict)
    The arithmetic holds; not authenticated: anyone could have written this file.
    >>> folder.cleanup()
    """
    record = read_record(path)
    version = _version_of(record, path)
    findings = _promise(record)
    if findings[1].holds:
        findings.append(_charges(record))
        if version == 1:
            findings.append(Check("mechanisms", None, "noise was not recorded in this version of the format"))
        else:
            findings.extend(_noise(record))
    if version > 1:
        findings.extend(check_contents(record))
    vouched = [_in_ledger(record, ledger)] if ledger is not None else []
    if key is not None:
        vouched.append(_signed(record, is_signed_with(record, read_key(key)), "this secret key"))
    if public_key is not None:
        vouched.append(_signed(record, is_signed_by(record, public_key), "the private key of this public one"))
    authenticated = bool(vouched) and all(finding.holds for finding in vouched)
    title = f"{path}: {record['format']}, made by spinney {record['version']}"
    looked = "" if ledger is None else Path(ledger).name
    return Verification(title, (*findings, *vouched), authenticated, Path(path).name, looked)
