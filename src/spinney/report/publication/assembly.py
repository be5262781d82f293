"""From a release to the sections of its report, in the order that a reader needs them."""

from __future__ import annotations

from os import PathLike
from typing import TypedDict

from spinney.constraints import Constraint, check, instance, optional
from spinney.exceptions import ParameterError
from spinney.ledgers.ledger import Ledger
from spinney.naming import is_path
from spinney.releases.centers import Release
from spinney.releases.curve import CostCurve
from spinney.releases.description import DescriptionRelease
from spinney.releases.reading import AnyRelease
from spinney.releases.sites import SiteRelease
from spinney.report.curve import found_curve
from spinney.report.geography import Geography
from spinney.report.publication.declared import bounds_section, has_sources
from spinney.report.publication.document import LETTERS, Document, Drawing, Paragraph, Section, clean
from spinney.report.publication.odds import chance_words, percent_words, promise_section, promises
from spinney.report.publication.pictures import curve_drawing
from spinney.report.publication.results import headline, result_sections
from spinney.report.publication.sections import (
    check_section,
    made_facts,
    model_section,
    notices,
    sign_section,
    spent_section,
)
from spinney.spaces.metric import FiniteMetric
from spinney.verification.report import Verification

#: The longest title.
LONGEST_TITLE = 120
_A_LEDGER = Constraint(
    lambda value: value is None or isinstance(value, Ledger) or is_path(value),
    "a Ledger, its path, or None",
    "Ledger('ledger.jsonl').",
)


def _is_name(item: tuple[object, object]) -> bool:
    number, name = item
    return type(number) is int and type(name) is str and 0 < len(name) <= LETTERS and name.isprintable()


#: What a report is made of; a table in the place of a parameter is not looked into.
LAWFUL = {
    "release": Constraint(lambda value: isinstance(value, AnyRelease), "a release", "model.release_, or read_release(path)."),
    "title": Constraint(
        lambda value: value is None or (type(value) is str and 0 < len(value) <= LONGEST_TITLE and value.isprintable()),
        f"a text of one line and at most {LONGEST_TITLE} letters",
        "leave it out.",
    ),
    "ledger": _A_LEDGER,
    "curve": optional(instance(CostCurve, "cost_curve(release).")),
    "names": Constraint(
        lambda value: value is None or (isinstance(value, dict) and all(map(_is_name, value.items()))),
        f"a dict of numbers of clusters with their names, texts of one line and at most {LETTERS} letters",
        "names={0: 'young, little income'}.",
    ),
    "verification": optional(instance(Verification, "verify(path).")),
    "space": optional(instance(FiniteMetric, "the one that sites were chosen from.")),
}


class Shown(TypedDict, total=False):
    """What a report may show besides its release; see `html_page`."""

    title: str | None
    ledger: Ledger | str | PathLike[str] | None
    curve: CostCurve | None
    verification: Verification | None
    described: Release | None
    names: dict[int, str] | None
    space: FiniteMetric | None


def _check(owner: str, release: AnyRelease, shown: Shown) -> None:
    """Raise unless the parameters are what they should be."""
    if set(shown) - set(Shown.__annotations__):
        known = "A report takes title, ledger, curve, verification, described, names and space."
        raise ParameterError(known, "leave out what is something else.")
    check(owner, dict.fromkeys(LAWFUL) | {"release": release, **shown}, LAWFUL)
    described = shown.get("described")
    of_it = isinstance(release, DescriptionRelease) and isinstance(described, Release) and described.digest == release.of
    if not (described is None or of_it):
        hint = "name the release that was described, and of a description alone."
        raise ParameterError.wrong("described", owner, "the release of centers that a description is of", described, hint)
    count = {Release: "centers", DescriptionRelease: "rows"}.get(type(release))
    if not all(number in range(len(getattr(release, count)) if count else 0) for number in shown.get("names") or ()):
        raise ParameterError("A name is of no cluster of this release.", "names by the numbers in the table, from 0.")


def _lead(release: AnyRelease) -> str:
    if not promises(release):
        return "Made without secure noise: this result promises no privacy."
    unit = "row" if release.max_rows_per_group is None else "person or group"
    about = f"any one {unit} " + ("took part" if release.adjacency == "add-remove" else "says one thing or another")
    sure = percent_words(0.5, release.promised_epsilon)
    but = f", but for a chance of at most {chance_words(release.delta)}" if release.delta else ""
    return (
        f"Published under differential privacy (epsilon {release.promised_epsilon:g}). Someone who is undecided, 50:50, whether "
        f"{about} is at most {sure} sure after reading this page, whatever else they know{but}."
    )


def curve_section(curve: CostCurve, private: bool) -> Section:
    """Return the cost curve with how to read it."""
    source = "the private summary, free of charge" if private else "the summary"
    told = f"Estimated from {source}. Look for the bend, and read the shape, not the values: they carry the summary's noise."
    if curve.chosen is not None:
        why = "rows thin out between the clusters, and one more would gain little" if curve.chosen > 1 else "no more stand out"
        told += f" {curve.chosen:,} was chosen: {why}."
    return Section("How many clusters", (Paragraph(told), curve_drawing(curve)))


def _curve_sections(release: AnyRelease, curve: CostCurve | None = None) -> list[Section]:
    """Return a cost curve, by default the one that a release's number of clusters was found from."""
    found = found_curve(release) if curve is None and isinstance(release, Release) else curve
    return [] if found is None else [curve_section(found, promises(release))]


def assembled(owner: str, release: AnyRelease, shown: Shown) -> Document:
    """Return a report's sections after a check of the parameters, which are as for `html_page`, and of who asks."""
    _check(owner, release, shown)
    ledger, verification, space = shown.get("ledger"), shown.get("verification"), shown.get("space")
    if not (space is None or isinstance(release, SiteRelease)):
        raise ParameterError.wrong("space", owner, "left out, but for a release of sites", space, "leave it out.")
    where = Geography.of(owner, release, space, None) if isinstance(release, SiteRelease) and space is not None else None
    opened = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
    sections = (
        promise_section(release),
        *result_sections(release, shown.get("described"), names=shown.get("names"), where=where),
        *_curve_sections(release, shown.get("curve")),
        spent_section(release, opened),
        bounds_section(release),
        model_section(release),
        check_section(release, verification, opened),
        sign_section(has_sources(release), bool(shown.get("names"))),
    )
    return Document(shown.get("title") or headline(release), _lead(release), notices(release, verification), sections)


def map_document(release: SiteRelease, space: FiniteMetric | None, degrees: bool | None) -> Document:
    """Return a page that is a map, with its sites and its promise."""
    found, *drawn = result_sections(release, where=Geography.of("draw_map", release, space, degrees))
    sections = (*drawn, found, promise_section(release), check_section(release, None))
    return Document(headline(release), _lead(release), notices(release, None), sections)


def summarized(release: AnyRelease) -> Document:
    """Return the sections of a report to look at first: what was found, promised and spent."""
    found = (*result_sections(release), *_curve_sections(release))
    sections = (*found, promise_section(release), spent_section(release, None))
    return Document(headline(release), _lead(release), notices(release, None), sections)


def in_short(release: AnyRelease, whole: bool, curve: bool) -> Document:
    """Return the sections of a page of text, without pictures; the whole of each table, or as much as fits on a page."""
    _check("page", release, {})
    found = result_sections(release, whole=whole)
    drawn = [section for section in found if not any(isinstance(block, Drawing) for block in section.blocks)]
    plain = isinstance(release, Release) and release.facts is None and release.tightened is None
    sections = (
        *drawn,
        *(_curve_sections(release) if curve else ()),
        spent_section(release, None, whole),
        *(() if plain else (bounds_section(release),)),
        model_section(release, *made_facts(release)),
    )
    return Document(headline(release), f"Promise: {clean(release.statement)}.", notices(release, None), sections)
