"""The theorems of Shechner 2021 on separated clusters: their bounds, what they ask of a mixture, and how both were judged.

Letters as there: phi^p is OPT_k over OPT_{k-1}, Lambda the radius of the domain, w OPT_k the cost of the base's centers. A
setting has ``n``, ``d``, ``k``, ``epsilon``, ``power`` and ``reach``, which is Lambda.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.pages import markdown
from experiments.shapes import Judged, settled

#: By method, objective and sweep: the values that were run, with settings and means.
Measured = dict[tuple[str, str, str], list[tuple[float, Any, dict[str, float]]]]

#: Whose theorems are judged: about the cost of k-means, the distance, the cost of k-median; "" if there is none.
THEOREMS = {
    "stable": ("Corollary 4.4", "Theorem 4.6", "Theorem 5.4"),
    "sample-aggregate": ("Theorem 7.8", "Theorem 7.10", ""),
    "local": ("Corollary 6.6", "Theorem 6.7", "section 6, k-median"),
    "local, published": ("Corollary 6.6", "Theorem 6.7", "section 6, k-median"),
}
#: Lemma 4.1 asks for phi^2 (w + 1) / (1 - phi^2) of at most this, w OPT_k being the cost of the base; Theorem 5.2, which the
#: k-median rests on, for phi (w + 1) / (1 - phi) of less than the second.
LEAST_PHI = {2: 1 / 784, 1: 1 / 4}


def bound(setting: Any, means: dict[str, float], method: str) -> float:
    """Return the excess that a theorem allows, with constant 1 and without logarithms.

    phi^p OPT + k sqrt(d) Lambda^p / eps; in the local model the second term is sqrt(n) times as large.
    """
    p = setting.power
    noise = setting.k * math.sqrt(setting.d) * setting.reach**p / setting.epsilon
    return float(means["phi"] ** p * means["plain"] + noise * (math.sqrt(setting.n) if method.startswith("local") else 1))


def _large(setting: Any) -> float:
    """Return k^2.5 d^1.5 Lambda^2 / eps: what sample and aggregate asks of the cost."""
    return float(setting.k**2.5 * setting.d**1.5 * setting.reach**2 / setting.epsilon)


def phi_asked(power: int, w: float = 1.0) -> float:
    """Return the largest phi at which the lemmas hold, for a base of w times the best cost."""
    return float((LEAST_PHI[power] / (w + 1 + LEAST_PHI[power])) ** (1 / power))


#: What theorems ask of OPT_k or OPT_{k-1}, with constant 1 and without logarithms: of a setting, phi and OPT_k.
CONDITIONS: dict[str, Callable[[Any, float, float], bool]] = {
    "Theorem 4.6": lambda s, phi, opt: opt / phi**2 >= s.reach**2 / phi**4 * (s.k * math.sqrt(s.d) + s.k**1.5) / s.epsilon,
    "Theorem 7.8": lambda s, phi, opt: opt >= _large(s),
    "Theorem 7.10": lambda s, phi, opt: opt >= _large(s) + s.reach**2 * s.k * math.sqrt(s.d) / (s.epsilon * phi**2),
    "Theorem 6.7": lambda s, phi, opt: opt / phi**2 >= s.k * math.sqrt(s.d * s.n) * s.reach**2 / (s.epsilon * phi**4),
}


def shapes(measured: Measured) -> dict[tuple[str, str], dict[str, Judged]]:
    """Return, for each method and theorem and along each sweep, how the measured quantity stands to its bound."""
    found: dict[tuple[str, str], dict[str, Judged]] = {}
    for (method, objective, sweep), made in measured.items():
        if method not in THEOREMS or len(made) < 2:
            continue
        means_cost, distance, median_cost = THEOREMS[method]
        values, name = [value for value, _, _ in made], means_cost if objective == "k-means" else median_cost
        if name:
            allowed = [bound(setting, means, method) for _, setting, means in made]
            vacuous = tuple(one > means["most"] for one, (_, _, means) in zip(allowed, made, strict=True))
            met = [is_met(name, setting, means) for _, setting, means in made]
            excess = [means["excess"] for _, _, means in made]
            found.setdefault((method, name), {})[sweep] = Judged(values, excess, allowed, met, vacuous)
        if objective == "k-means":
            allowed = [means["phi"] ** 2 * setting.reach for _, setting, means in made]
            met = [is_met(distance, setting, means) for _, setting, means in made]
            apart = [means["distance"] for _, _, means in made]
            found.setdefault((method, distance), {})[sweep] = Judged(values, apart, allowed, met)
    return found


def is_met(theorem: str, setting: Any, means: dict[str, float]) -> bool:
    """Whether phi is small enough, for a base as good as the best, and OPT_k or OPT_{k-1} large enough if that is asked."""
    asked = CONDITIONS.get(theorem, lambda setting, phi, opt: True)
    return means["phi"] <= phi_asked(setting.power) and asked(setting, means["phi"], means["plain"])


def rows_asked(measured: Measured, method: str, theorem: str) -> float:
    """Return how many rows, to a factor of 2, a theorem asks of the mixture of small phi that is nearest to it."""
    found = [math.inf]
    for (own, objective, _), made in measured.items():
        for _, setting, means in made if (own, objective) == (method, "k-means") else ():
            n = setting.n
            while not CONDITIONS[theorem](replace(setting, n=n), means["phi"], means["plain"] * n / setting.n):
                n *= 2
            found += [n] if means["phi"] <= phi_asked(2) else []
    return float(min(found))


def shape_table(measured: Measured) -> str:
    """Return, along each sweep, which constant each theorem's bound needs, and how the measured quantity and the bound grow."""
    lines = [
        [f"`{method}`", name, sweep, *one.words]
        for (method, name), each in shapes(measured).items()
        for sweep, one in each.items()
    ]
    return markdown(["method", "bound", "along", "constant needed, by value", "exponent: measured / bound", "verdict"], lines)


def verdict_table(measured: Measured) -> str:
    """Return one verdict on each theorem's shape: the largest constant needed anywhere, and along what it grows."""
    lines = []
    for (method, name), each in shapes(measured).items():
        told, count = [one for shape in each.values() for one in shape.told], sum(len(one.values) for one in each.values())
        grows = [sweep for sweep, one in each.items() if one.grows]
        shape = f"the constant grows along {', '.join(grows)}" if grows else "the shape everywhere"
        most = f"{max(used for used, _ in told):.2g}" if told else ""
        met = f"{sum(met for one in each.values() for met in one.met)} of {count}"
        met += f" (from {rows_asked(measured, method, name):.1g} rows)" if met[0] == "0" and name in CONDITIONS else ""
        lines.append(
            [name, f"`{method}`", most, met, f"{count - len(told)} of {count}", f"{settled(list(each.values()))}; {shape}"]
        )
    return markdown(["bound", "method", "largest constant needed", "condition met", "vacuous", "verdict"], lines)


def phi_text(least: dict[str, float]) -> str:
    """Return what the theorems ask of phi, in numbers, and how small it is here, by objective."""
    return (
        f"Lemma 4.1 asks for phi^2 (w + 1) / (1 - phi^2) <= 1/784, w OPT_k being the cost of the base: phi <= "
        f"{phi_asked(2):.4f} for w = 1, {phi_asked(2, 5.0):.4f} for w = 5. Theorem 5.2, for k-median, asks for "
        f"phi (w + 1) / (1 - phi) < 1/4: phi < {phi_asked(1):.3f} for w = 1. The smallest phi here is {least['k-means']:.4f}, "
        f"and {least['k-median']:.4f} for k-median."
    )
