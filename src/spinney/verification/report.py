"""What verification found, line by line."""

from __future__ import annotations

from dataclasses import dataclass

from spinney._shown import Showable

#: How a finding is shown.
MARKS = {True: "holds", False: "REFUSED", None: "not stated"}


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Parameters
    ----------
    subject : str
        What it is about.
    holds : bool or None
        None: the release does not say enough to check it.
    words : str
        What was found.
    """

    subject: str
    holds: bool | None
    words: str


@dataclass(frozen=True)
class Verification(Showable):
    """All findings about one release. Printing it shows them, with the verdict at the end.

    Parameters
    ----------
    title : str
    findings : tuple of Check
    authenticated : bool
        Whether it stands, to the letter, in a ledger, or was signed with the key.
    file, ledger : str
        The names of the file and of the ledger that was looked into, without their folders; empty if there was none.
    """

    title: str
    findings: tuple[Check, ...]
    authenticated: bool
    file: str = ""
    ledger: str = ""

    @property
    def holds(self) -> bool:
        """Whether nothing was refused."""
        return all(finding.holds is not False for finding in self.findings)

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        if not self.holds:
            refused = [finding.subject for finding in self.findings if finding.holds is False]
            return f"REFUSED: {', '.join(refused)}."
        told = "" if all(finding.holds for finding in self.findings) else ", as far as the release tells"
        by = "authenticated" if self.authenticated else "not authenticated: anyone could have written this file"
        return f"The arithmetic holds{told}; {by}."

    def __str__(self) -> str:
        width = max(len(finding.subject) for finding in self.findings)
        lines = [f"{MARKS[one.holds]:<8}  {one.subject:<{width}}  {one.words}" for one in self.findings]
        return "\n".join([self.title, *lines, self.verdict])
