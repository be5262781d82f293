"""From runs to tables: the mean of each cell, and whether a claim held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from benchmarks.pages import markdown
from experiments.published import printed_epsilon
from experiments.runs import METHODS, PLAIN, PRINTED, SEARCHED
from experiments.tasks import SPACES

__all__ = [
    "Claim", "claims_table", "costs_table", "faster_text", "gap_table", "means", "printed_text", "summary_text", "time_table",
]  # fmt: skip

Runs = list[dict[str, Any]]
Cell = tuple[str, str, int]
#: A difference is clear if chance alone makes one so large, on either side, with this probability.
CHANCE = 0.025
#: A claim is true in most cells if it is in this share of them; a smaller share of clear cells than the second may be chance.
MOST, SOME = 0.8, 0.1


def by_cell(runs: Runs, column: str) -> dict[tuple[str, str, int, str], dict[int, float]]:
    """Return the value of each repetition, by space, demand, k and method."""
    found: dict[tuple[str, str, int, str], dict[int, float]] = {}
    for run in runs:
        if column in run:
            found.setdefault((run["space"], run["demand"], run["k"], run["method"]), {})[run["repetition"]] = run[column]
    return found


def means(runs: Runs, column: str) -> dict[tuple[str, str, int, str], float]:
    """Return the mean over repetitions, by space, demand, k and method."""
    return {key: float(np.mean(list(values.values()))) for key, values in by_cell(runs, column).items()}


@dataclass(frozen=True)
class Claim:
    """That one method's values are lower than another's, in cells with one kind of demand or with both."""

    text: str
    lower: str
    higher: str
    column: str
    demand: str = ""

    def compare(self, runs: Runs) -> Iterator[tuple[Cell, float, int | None]]:
        """Yield for each cell the ratio of means, and `clear_sign`."""
        values = by_cell(runs, self.column)
        for space, demand, k, method in values:
            if method != self.lower or self.demand not in ("", demand) or (space, demand, k, self.higher) not in values:
                continue
            lower, higher = values[space, demand, k, self.lower], values[space, demand, k, self.higher]
            pairs = np.array([(lower[r], higher[r]) for r in lower if r in higher])
            one, two = pairs[:, 0], pairs[:, 1]
            yield (space, demand, k), one.mean() / two.mean(), clear_sign(one - two)


def clear_sign(gaps: np.ndarray) -> int | None:
    """Return the sign of a mean of paired differences if Student's t-test finds it clear, else 0; None for a single one."""
    if len(gaps) < 2:
        return None
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return int(np.sign(gaps.mean())) if abs(gaps.mean()) > stdtrit(len(gaps) - 1, 1 - CHANCE) * error else 0


def verdict(ratios: list[float], signs: list[int | None]) -> str:
    """Return what a comparison over several cells comes to; those of one repetition, where nothing is tested, do not count."""
    ratios = [ratio for ratio, sign in zip(ratios, signs, strict=True) if sign is not None]
    tested, true = len(ratios), sum(ratio < 1 for ratio in ratios)
    clear, wrong = signs.count(-1), signs.count(1)
    enough = max(1.0, SOME * tested)
    if true >= MOST * tested and clear >= enough and wrong <= max(1, CHANCE * tested):
        return "holds"
    if clear >= enough and clear > wrong and _geometric(ratios) < 1:
        return "holds in part"
    if wrong >= enough and wrong > clear and _geometric(ratios) > 1:
        return "the opposite holds" if true <= (1 - MOST) * tested else "the opposite holds in part"
    return "does not show"


CLAIMS = (
    *(
        Claim(f"initial cost, not private{where}: HST below {name}", f"NDP-HST{where}", f"NDP-{other}{where}", "initial")
        for where in ("", " on U")
        for name, other in (("k-median++", "kmedian++"), ("random", "rand"))
    ),
    Claim("initial cost, private: DP-HST below k-median++", "DP-HST", "DP-kmedian++", "initial"),
    Claim("initial cost, private: DP-HST below random", "DP-HST", "DP-rand", "initial"),
    *(
        Claim(f"final cost, private{kind}, {name}: DP-HST below DP-{other}", f"DP-HST{kind}", f"DP-{other}{kind}", column)
        for kind in ("", " corrected")
        for name, column in (("mean over T", "average"), ("best of T", "best"), ("released", "final"))
        for other in ("kmedian++", "rand")
    ),
    Claim(
        "steps to the best moving average, imbalanced: DP-HST below DP-kmedian++", "DP-HST", "DP-kmedian++", "iterations",
        "imbalanced",
    ),
    Claim("steps to the best moving average, imbalanced: DP-HST below DP-rand", "DP-HST", "DP-rand", "iterations", "imbalanced"),
    Claim("swaps until the plain search stops: HST below k-median++", "NDP-HST", "NDP-kmedian++", "iterations"),
    Claim("ours, released: corrected DP-HST below printed", "DP-HST corrected", "DP-HST", "final"),
    Claim("ours, released: cells below printed DP-HST", "cells", "DP-HST", "final"),
    Claim("ours, released: coverage below printed DP-HST", "coverage", "DP-HST", "final"),
    Claim("ours, released: cells below the best of T of printed DP-HST", "cells", "DP-HST best", "final"),
)  # fmt: skip


def with_best(runs: Runs) -> Runs:
    """Add the best of T of printed DP-HST, which nobody may release, as a method of its own."""
    extra = [{**run, "method": "DP-HST best", "final": run["best"]} for run in runs if run["method"] == "DP-HST"]
    return [*runs, *[{key: run[key] for key in ("space", "demand", "k", "repetition", "method", "final")} for run in extra]]


def claims_table(runs: Runs) -> str:
    """Return one row per claim: in how many cells it is true and the mean ratio, by space and in all."""
    runs = with_best(runs)
    lines = []
    for claim in CLAIMS:
        cells = list(claim.compare(runs))
        if not cells:
            continue
        parts = [_summary([c for c in cells if c[0][0] == name]) for name in SPACES.values()]
        ratios, signs = [c[1] for c in cells], [c[2] for c in cells]
        lines.append([claim.text, *parts, f"{signs.count(-1)} / {signs.count(1)}", f"**{verdict(ratios, signs)}**"])
    return markdown(["claim", *SPACES.values(), "clearly true / false", "verdict"], lines)


def _summary(cells: list[tuple[Cell, float, int | None]]) -> str:
    if not cells:
        return ""
    ratios = [ratio for _, ratio, _ in cells]
    return f"{sum(r < 1 for r in ratios)} of {len(ratios)}, {_geometric(ratios):.2f}"


def _geometric(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-300)))))


def gap_table(runs: Runs) -> str:
    """Return the mean ratio of DP-HST to DP-kmedian++ with balanced and with imbalanced demand."""
    lines = []
    for kind, title in (("", "as printed"), (" corrected", "corrected")):
        for column, name in (("initial", "initial"), ("average", "mean over T"), ("best", "best of T"), ("final", "released")):
            claim = Claim("", f"DP-HST{kind}", f"DP-kmedian++{kind}", column)
            cells = list(claim.compare(runs))
            line = [title, name]
            for space in SPACES.values():
                pair = [[r for (s, d, _), r, _ in cells if (s, d) == (space, demand)] for demand in ("balanced", "imbalanced")]
                line.append(" / ".join(f"{_geometric(ratios):.2f}" for ratios in pair) if all(pair) else "")
            lines.append(line)
    return markdown(["method", "cost", *SPACES.values()], lines)


def costs_table(runs: Runs) -> str:
    """Return every method's costs over the final cost of NDP-kmedian++, averaged over k (geometrically)."""
    groups = [(space, demand) for space in SPACES.values() for demand in ("balanced", "imbalanced")]
    columns = {c: by_cell(runs, c) for c in ("initial", "average", "best", "final")}
    final = columns["final"]

    def entry(column: str, space: str, demand: str, method: str) -> str:
        ratios = [
            sum(values.values()) / sum(final[space, demand, k, "NDP-kmedian++"][r] for r in values)  # of the same repetitions
            for (s, d, k, m), values in columns[column].items()
            if (s, d, m) == (space, demand, method) and (space, demand, k, "NDP-kmedian++") in final
        ]
        return f"{_geometric(ratios):.2f}" if ratios else ""

    lines = []
    for method in METHODS:
        wanted = ("initial", "final") if method in PLAIN else ("initial", "average", "best", "final")
        wanted = wanted if method in (*PLAIN, *PRINTED, *SEARCHED) else ("final",)
        texts = {"initial": "initial", "average": "mean over T", "best": "best of T", "final": "released"}
        for column in wanted:
            name = "final" if method in PLAIN and column == "final" else texts[column]
            line = [entry(column, space, demand, method) for space, demand in groups]
            if any(line):
                lines.append([method, name, *line])
    return markdown(["method", "cost", *(f"{space}, {demand}" for space, demand in groups)], lines)


def summary_text(runs: Runs, times: Runs, fast: Runs) -> str:
    """Return the paper's claims in a line each, with their verdicts; times are of the printed tree, and of the fast one."""

    def said(lower: str, higher: str, column: str, demand: str = "") -> str:
        cells = list(Claim("", lower, higher, column, demand).compare(runs))
        if not cells:
            return "not measured"
        ratios, gaps = [c[1] for c in cells], [c[2] for c in cells]
        return (
            f"**{verdict(ratios, gaps)}** ({sum(r < 1 for r in ratios)} of {len(ratios)} cells, ratio {_geometric(ratios):.2f})"
        )

    plain = [ratio for _, ratio, _ in Claim("", "NDP-HST", "NDP-kmedian++", "final").compare(runs)] or [np.nan]
    shares = {
        demand: _geometric([r for _, r, _ in Claim("", "DP-HST", "DP-kmedian++", "average", demand).compare(runs)] or [np.nan])
        for demand in ("balanced", "imbalanced")
    }
    return "\n".join([
        f"- HST starts cost less than k-median++, not private: {said('NDP-HST', 'NDP-kmedian++', 'initial')}; if both read "
        f"all points and not the demand: {said('NDP-HST on U', 'NDP-kmedian++ on U', 'initial')}.",
        f"- The same, private: {said('DP-HST', 'DP-kmedian++', 'initial')}; with imbalanced demand "
        f"{said('DP-HST', 'DP-kmedian++', 'initial', 'imbalanced')}.",
        f"- Plain final costs overlap: ratios of NDP-HST to NDP-kmedian++ from {min(plain):.3f} to {max(plain):.3f}.",
        f"- Lower final cost of DP-HST than of DP-kmedian++, as printed, mean over T: "
        f"{said('DP-HST', 'DP-kmedian++', 'average')}; "
        f"best of T, imbalanced (Fig. 6): {said('DP-HST', 'DP-kmedian++', 'best', 'imbalanced')}; released: "
        f"{said('DP-HST', 'DP-kmedian++', 'final')}.",
        f"- The advantage is larger when demand is imbalanced: mean over T of DP-HST is {shares['balanced']:.2f} times that of "
        f"DP-kmedian++ with balanced demand, {shares['imbalanced']:.2f} times with imbalanced.",
        f"- DP-HST needs fewer steps (Fig. 5): than DP-kmedian++ "
        f"{said('DP-HST', 'DP-kmedian++', 'iterations', 'imbalanced')}, than DP-rand "
        f"{said('DP-HST', 'DP-rand', 'iterations', 'imbalanced')}.",
        f"- HST is faster than k-median++ for k > log2 n: with the printed tree {faster_text(times)}; with the fast tree of the "
        f"same kind, `MetricHST.build`, {faster_text(fast)}.",
        f"- Its time grows only slightly faster with n: {_growth(times)}.",
        f"- Correcting the search lowers what DP-HST releases: {said('DP-HST corrected', 'DP-HST', 'final')}.",
        f"- `cells` releases less than printed DP-HST: {said('cells', 'DP-HST', 'final')}; `coverage` does: "
        f"{said('coverage', 'DP-HST', 'final')}.",
    ])  # fmt: skip


def faster_text(times: Runs) -> str:
    """Return in how many cells with k > log2 n a tree and its search take less time than k-median++, by kind of space."""
    found: dict[str, list[bool]] = {}
    for row in times:
        if row["k"] > np.log2(row["n"]):
            found.setdefault(row["space"].split()[0], []).append(row["tree"] + row["search"] < row["k-median++"])
    return ", ".join(f"{name} {sum(won)} of {len(won)} **{_all_or_none(won)}**" for name, won in found.items()) or "not measured"


def _all_or_none(won: list[bool]) -> str:
    return "holds" if all(won) else "holds in part" if any(won) else "does not hold"


def _growth(times: Runs) -> str:
    """Return how CPU time grows with the number of points on MNIST under l2, with k = 20."""
    rows = [row for row in times if (row["space"], row["k"]) == ("MNIST l2", 20)]
    if len({row["n"] for row in rows}) < 2:
        return "not measured"
    n = np.log([row["n"] for row in rows])
    powers = [
        np.polyfit(n, np.log(np.maximum(seconds, 1e-9)), 1)[0]
        for seconds in ([row["tree"] + row["search"] for row in rows], [row["k-median++"] for row in rows])
    ]
    return f"as n^{powers[0]:.1f}, k-median++ as n^{powers[1]:.1f} (MNIST l2, k = 20)"


def time_table(rows: Runs) -> str:
    """Return CPU seconds of HST initialization / k-median++, and whether the first is faster for k > log2 n."""
    lines = []
    for name, n in dict.fromkeys((row["space"], row["n"]) for row in rows):
        own = [row for row in rows if (row["space"], row["n"]) == (name, n)]
        above = [row for row in own if row["k"] > np.log2(n)]
        faster = [row["k"] for row in above if row["tree"] + row["search"] < row["k-median++"]]
        text = "holds" if len(faster) == len(above) else f"holds from k = {min(faster)}" if faster else "does not hold"
        times = [f"{row['tree'] + row['search']:.3f} / {row['k-median++']:.3f}" for row in own]
        lines.append([name, str(n), f"{np.log2(n):.1f}", *times, f"**{text}**"])
    ks = dict.fromkeys(row["k"] for row in rows)
    return markdown(["space", "n", "log2 n", *(f"k = {k}" for k in ks), "faster for k > log2 n"], lines)


def printed_text(epsilon: float) -> str:
    """Return what the printed constants spend, in words."""
    spent, alone = printed_epsilon(epsilon), printed_epsilon(2 * epsilon)["tree"]
    return (
        f"At epsilon = {epsilon:g}, Algorithm 6 on its own with L = 8 spends {alone:.4f} and not {epsilon:g}: the shares 1, 1/2, "
        f"1/4, ... of its levels add up to almost 2. In Algorithm 7, which runs it at half of epsilon, the tree spends "
        f"{spent['tree']:.4f}, swaps and the last choice {spent['swaps']:g}: {spent['together']:.4f} together."
    )
