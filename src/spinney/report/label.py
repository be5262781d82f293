"""A privacy label of a release, and its entry for a registry of deployments.

The label is after the expert-informed one of Dibia et al. (2025): budget, epsilon, delta, rho, unit, model of trust, mechanisms,
composition, utility, audit. The entry has the fields of the deployment registry of OpenDP, down to its third tier.
What no release can know (who is responsible, what for, which people) is left to be filled in.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from spinney.privacy.charges import Measure
from spinney.releases.centers import Release
from spinney.releases.cover import CoverRelease
from spinney.releases.description import DescriptionRelease
from spinney.releases.promise import Promise
from spinney.releases.sites import SiteRelease

__all__ = ["OPEN", "label_page", "privacy_label", "registry_entry"]

#: What a user has to fill in.
OPEN = "to be filled in by the publisher"
#: What is outside the promise, for every release.
UNPROTECTED = (
    "bounds, columns, k, epsilon, delta, parameters and public maps; running time and memory use; that a fit was made, and when"
)


def _unit(release: Promise) -> tuple[str, str]:
    """Return the unit in a word, and what it means."""
    change = "added or removed" if release.adjacency == "add-remove" else "replaced by another"
    if release.max_rows_per_group is None:
        return "one row", f"Tables that differ by one row, {change}. A person with several rows is protected in each, not in all."
    rows = release.max_rows_per_group
    return "one group of rows", f"Tables that differ by all rows of one group, {change}; at most {rows} rows of a group count."


def _contents(release: Promise) -> tuple[str, str, str, str]:
    """Return what was released, in a word and in a sentence, the public domain, and how far off the numbers are."""
    near = "is within {:g}{} of the true one with probability 0.95"
    if isinstance(release, Release):
        lower, upper = release.domain["lower"], release.domain["upper"]
        bounds = ", ".join(f"{low:g} to {high:g}" for low, high in list(zip(lower, upper, strict=True))[:8])
        what = f"{len(release.centers)} centers of {len(lower)} columns ({release.objective})"
        words = f"{what}, with noisy sizes and a noisy summary of the rows."
        domain = f"numbers in declared bounds: {bounds}{' ...' if len(lower) > 8 else ''}"
        return "cluster centers", words, domain, f"each noisy size {near.format(release.sizes_margin, ' rows')}"
    if isinstance(release, SiteRelease):
        points = release.space["n_points"]
        words = f"{len(release.medoids)} sites of a public space of {points} points, with noisy sizes."
        domain = f"points of a public space ({release.space['kind']} of {points} points)"
        return "chosen sites", words, domain, f"each noisy size {near.format(release.sizes_margin, ' rows')}"
    if isinstance(release, DescriptionRelease):
        what = f"{len(release.rows)} clusters of another release in {len(release.bins)} columns"
        domain = f"{len(release.names)} columns with declared bounds or categories"
        words = f"Noisy numbers of rows, histograms and means of {what}."
        return "description of clusters", words, domain, f"each noisy number of rows {near.format(release.rows_margin, '')}"
    assert isinstance(release, CoverRelease)
    words = f"{len(release.chosen)} choices of {release.n_sets} public sets that cover many rows."
    return "chosen sets", words, f"{release.n_items} public items", "no error is released with the choices"


def _rho(release: Promise) -> Fraction | float:
    return sum((charge.amount for charge in release.charges if charge.measure is Measure.ZCDP), start=Fraction(0))


def _mechanisms(release: Promise) -> str:
    """Return the mechanisms that were used, each once, with how often."""
    counts = Counter(record["mechanism"] for record in release.mechanisms)
    told = (f"{name} ({times} {'question' if times == 1 else 'questions'})" for name, times in counts.items())
    return ", ".join(told) or "not recorded"


def _sections(release: Promise) -> dict[str, dict[str, tuple[str, str]]]:
    """Return the sections of the label: of each row its name, its value and an explanation."""
    private, rho, made = release.is_private, float(_rho(release)), release.made
    kind, words, domain, utility = _contents(release)
    spent = f"{release.epsilon:.6g} of {release.promised_epsilon:g} spent"
    epsilon, delta = f"{release.promised_epsilon:g}", f"{release.delta:g}"
    used = f"{rho:.6g}" if private and rho else "not used"
    asked = f"{len(release.charges)} questions were asked, each with noise on every slot."
    versions = ", ".join(f"{name} {text}" for name, text in release.versions.items())
    charged = f"entry {made['entry']} of {made.get('ledger')}" if made.get("entry") else "no ledger"
    return {
        "privacy": {
            "promise": (release.statement, "The guarantee in one sentence."),
            "privacy budget": (spent if private else "none", "What the questions used together, of what was promised."),
            "epsilon": (epsilon if private else "none", "How much can be learned about one unit: the smaller, the less."),
            "delta": (delta if private else "none", "The chance left out of that promise; 0 leaves none."),
            "rho": (used, "Gaussian noise is counted in rho (zCDP), which is part of epsilon."),
            "unit of privacy": _unit(release),
        },
        "trust": {
            "model": (release.trust.kind, release.trust.words or "Not stated."),
            "randomness": (release.noise, "Secure noise comes from the system's entropy and cannot be repeated."),
            "audit": (release.audit, "A report with a measured bound, if there is one."),
        },
        "data": {
            "released": (kind, words),
            "domain": (domain, "Public; declared by the caller."),
            "preprocessing": (release.preprocessing or "not stated", "What was done to rows before the questions."),
            "missing values": (release.missing_values or "not stated", "The rule for rows that say nothing."),
        },
        "means": {
            "mechanisms": (_mechanisms(release), asked),
            "composition": ("charges add", "Pure charges add exactly; rho adds and is converted once, at delta."),
            "utility": (utility, "What the noise does to the result."),
            "software": (f"spinney {release.version}", versions or "Not stated."),
        },
        "about": {
            "made": (
                made.get("date") or "not stated",
                f"Charged to {charged}; epsilons of several releases about the same rows add up.",
            ),
            "responsible": (OPEN, "Who published it."),
            "contact": (OPEN, "Where to ask."),
        },
    }


def privacy_label(release: Promise) -> dict[str, Any]:
    """Return a privacy label, JSON-ready: sections of rows, each with a value and an explanation.

    Privacy
    -------
    Post-processing of a release: free.
    """
    sections = {
        section: {name: {"value": value, "explanation": words} for name, (value, words) in rows.items()}
        for section, rows in _sections(release).items()
    }
    return {"label": "spinney-label/1"} | sections


def label_page(release: Promise) -> str:
    """Return the label as Markdown."""
    lines = ["# Privacy label"]
    for section, rows in _sections(release).items():
        lines += ["", f"## {section.capitalize()}", "", "| what | value | meaning |", "|---|---|---|"]
        for row in rows.items():
            cells = (text.replace("|", "\\|").replace("\n", " ") for text in (row[0], *row[1]))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def registry_entry(release: Promise) -> dict[str, Any]:
    """Return what a registry of deployments asks for, JSON-ready; what a release cannot know is left to be filled in.

    Privacy
    -------
    Post-processing of a release: free.
    """
    unit, unit_words = _unit(release)
    kind, words, domain, _ = _contents(release)
    rho = float(_rho(release))
    flavor = "approximate differential privacy" if release.delta else "pure differential privacy"
    parameters = {"epsilon": release.promised_epsilon if release.is_private else None, "delta": release.delta}
    return {
        "tier": 3,
        "deployment": {
            "name": OPEN,
            "data_curator": OPEN,
            "contact": OPEN,
            "intended_use": OPEN,
            "data_product_type": kind,
            "data_product_region": OPEN,
            "data_product_description": words,
            "publication_date": release.made.get("date"),
            "dp_flavor": {
                "name": flavor if release.is_private else release.noise,
                "data_domain": domain,
                "unprotected_quantities": UNPROTECTED,
            },
            "privacy_loss": {
                "privacy_unit": unit,
                "privacy_unit_description": unit_words,
                "privacy_parameters": parameters | ({"rho": rho} if rho else {}),
                "privacy_parameters_description": f"{release.statement}; {release.epsilon:.6g} was spent.",
            },
            "model": {
                "model_name": release.trust.kind,
                "model_name_description": release.model,
                "release_type": "one time",
                "interactivity": "none: the questions follow from a plan that is made before any row is read",
            },
            "additional_dp_information": {
                "post_processing": "all computation on noisy answers; nothing else reads rows",
                "composition": "pure charges add; zCDP charges add and are converted once, at delta",
            },
            "implementation": {
                "pre_processing_eda_hyperparameter_tuning": f"{release.preprocessing}; k: {release.k_source or 'not stated'}",
                "mechanisms": _mechanisms(release),
                "software": {"spinney": release.version} | release.versions,
                "audit": release.audit,
                "justification": OPEN,
            },
        },
    }
