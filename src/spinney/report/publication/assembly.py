"""From a release to the sections of its report, in the order that a reader needs them."""

from __future__ import annotations

from typing import Any

from spinney.exceptions import ParameterError
from spinney.ledgers.ledger import Ledger
from spinney.naming import is_path
from spinney.releases.centers import Release
from spinney.releases.curve import CostCurve
from spinney.releases.description import DescriptionRelease
from spinney.releases.reading import AnyRelease
from spinney.report.curve import found_curve
from spinney.report.publication.declared import bounds_section, has_sources
from spinney.report.publication.document import Document, Paragraph, Section
from spinney.report.publication.odds import factor_words, promise_section, promises
from spinney.report.publication.pictures import curve_drawing
from spinney.report.publication.results import headline, result_sections
from spinney.report.publication.sections import (
    check_section,
    model_section,
    notices,
    sign_section,
    spent_section,
)
from spinney.verification.report import Verification

__all__ = ["assembled", "curve_section", "summarized"]

#: The longest title.
LONGEST_TITLE = 120


def _checked(owner: str, release: Any, title: Any, ledger: Any, curve: Any, verification: Any, described: Any) -> None:
    """Raise unless the parameters are what they should be; a table in their place is not looked into."""
    if not isinstance(release, AnyRelease):
        raise ParameterError.wrong("release", owner, "a release", release, "model.release_, or read_release(path).")
    plain = type(title) is str and 0 < len(title) <= LONGEST_TITLE and title.isprintable()
    if not (title is None or plain):
        raise ParameterError.wrong(
            "title", owner, f"a text of one line and at most {LONGEST_TITLE} letters", title, "leave it out."
        )
    if not (ledger is None or isinstance(ledger, Ledger) or is_path(ledger)):
        raise ParameterError.wrong("ledger", owner, "a Ledger, its path, or None", ledger, "Ledger('ledger.jsonl').")
    if not (curve is None or isinstance(curve, CostCurve)):
        raise ParameterError.wrong("curve", owner, "a CostCurve or None", curve, "cost_curve(release).")
    if not (verification is None or isinstance(verification, Verification)):
        raise ParameterError.wrong("verification", owner, "a Verification or None", verification, "verify(path).")
    if described is None:
        return
    if not (isinstance(release, DescriptionRelease) and isinstance(described, Release) and described.digest == release.of):
        hint = "name the release that was described, and of a description alone."
        raise ParameterError.wrong("described", owner, "the release of centers that a description is of", described, hint)


def _lead(release: AnyRelease) -> str:
    if not promises(release):
        return "Made without secure noise: this result promises no privacy."
    unit = "row" if release.max_rows_per_group is None else "person or group"
    about = f"whether any one {unit} took part" if release.adjacency == "add-remove" else f"what any one {unit} says"
    told = f"Published under differential privacy, epsilon {release.promised_epsilon:g}: {about}"
    return f"{told} changes an attacker's odds by a factor of at most {factor_words(release.promised_epsilon)}."


def curve_section(curve: CostCurve, private: bool) -> Section:
    """Return the cost curve with how to read it."""
    source = "the private summary, free of charge" if private else "the summary"
    told = f"Estimated from {source}. Look for the bend, and read the shape, not the values: they carry the summary's noise."
    if curve.chosen is not None:
        why = "rows thin out between the clusters, and one more would gain little" if curve.chosen > 1 else "no more stand out"
        told += f" {curve.chosen:,} was chosen: {why}."
    return Section("How many clusters", (Paragraph(told), curve_drawing(curve)))


def assembled(
    owner: str,
    release: AnyRelease,
    title: Any,
    ledger: Any,
    curve: Any,
    verification: Any,
    described: Any = None,
) -> Document:
    """Return a report's sections after a check of the parameters, which are as for `html_page`, and of who asks."""
    _checked(owner, release, title, ledger, curve, verification, described)
    curve = found_curve(release) if curve is None and isinstance(release, Release) else curve
    opened = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
    sections = (
        promise_section(release),
        *result_sections(release, described),
        *([curve_section(curve, promises(release))] if curve is not None else []),
        spent_section(release, opened),
        bounds_section(release),
        model_section(release),
        check_section(release, verification, opened),
        sign_section(has_sources(release)),
    )
    return Document(title or headline(release), _lead(release), notices(release, verification), sections)


def summarized(release: AnyRelease) -> Document:
    """Return the sections of a report to look at first: what was found, promised and spent."""
    curve = found_curve(release) if isinstance(release, Release) else None
    sections = (
        *result_sections(release),
        *([curve_section(curve, promises(release))] if curve is not None else []),
        promise_section(release),
        spent_section(release, None),
    )
    return Document(headline(release), _lead(release), notices(release, None), sections)
