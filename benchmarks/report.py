"""Write every table of the documents from the store: ``python -m benchmarks report``; a name writes that one, a suite is printed.

A table goes where a page has its markers, ``<!-- NAME -->`` and ``<!-- end NAME -->``: README.md, ARCHITECTURE.md or any page of
``docs``. Names of tables are those of `TABLES`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Callable

import numpy as np

from benchmarks.cells import Cell, Suite, suites
from benchmarks.drawn import GAPS, SHAPES
from benchmarks.lead import bar_text, lead_table, loss_table, method_table, winners
from benchmarks.pages import RESULTS, into_page, markdown
from benchmarks.store import Store, standard_error

OBJECTIVES = {2: "k-means", 1: "k-median"}
STEPS = ("weiszfeld", "gradient", "localized", "objective")
#: Costs that differ by a smaller part are taken as equal.
SAME = 5e-4
#: Largest lawful rise of the cost with more budget, and by how many standard errors it must be exceeded.
RISE, RISE_ERRORS = 0.005, 3


def bold(text: str, wrong: bool) -> str:
    """Return a text in bold where something does not hold."""
    return f"**{text}**" if wrong else text


def pivot(
    suite: Suite,
    head: list[str],
    row: Callable[[Cell], tuple[str, ...]],
    column: Callable[[Cell], str],
    entry: Callable[[Cell], str],
) -> str:
    """Return a table of a suite: cells of one row and one column share an entry, that of the first of them."""
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for cell in suite.cells:
        rows.setdefault(row(cell), {}).setdefault(column(cell), entry(cell))
    columns = list(dict.fromkeys(column(cell) for cell in sorted(suite.cells, key=lambda cell: -cell.power)))
    return markdown([*head, *columns], [[*name, *(found.get(one, "") for one in columns)] for name, found in rows.items()])


def budget(cell: Cell) -> str:
    """Return epsilon and delta as titles of columns."""
    return f"epsilon {cell.epsilon:g}, delta {cell.delta:g}"


def suite_table(store: Store, suite: Suite) -> str:
    """Return all cells of a suite: mean, standard error, runs, and the bar, bold where it is missed."""
    lines = []
    for cell in suite.cells:
        ratios, bar = store.ratios(suite.name, cell) if suite.measure == "cost" else [], suite.bars.get(cell)
        if ratios:
            mean, error = float(np.mean(ratios)), standard_error(ratios)
            shown = [bold(f"{mean:.4f}", bar is not None and mean > bar), f"{error:.4f}", str(len(ratios))]
        else:
            shown = ["", "", str(len(store.values(suite.name, cell)))]
        lines.append([cell.title, cell.algorithm, *shown, "" if bar is None else f"{bar:g}"])
    return markdown(["cell", "algorithm", "mean", "standard error", "runs", "at most"], lines)


def utility(store: Store) -> str:
    """Return the default's cost, the published tree's and private Lloyd's in brackets."""
    suite = suites()["utility"]

    def entry(cell: Cell) -> str:
        ours, hst, lloyd = (store.mean("utility", one) for one in suite.rivals(cell))
        return f"{ours:.3f} ({hst:.2f}; {lloyd:.2f})"

    bars = {(cell.table, cell.epsilon): f"{bar:.2f}" for cell, bar in suite.bars.items() if cell.algorithm == "auto"}
    return pivot(
        suite,
        ["data", "epsilon", "at most"],
        lambda cell: (cell.table, f"{cell.epsilon:g}", bars[cell.table, cell.epsilon]),
        lambda cell: f"{OBJECTIVES[cell.power]}, delta {cell.delta:g}",
        entry,
    )


def small(store: Store) -> str:
    """Return the default's cost at small budgets with its bars."""
    suite = suites()["small"]

    def entry(cell: Cell) -> str:
        ratios, bar = store.ratios("small", cell), suite.bars.get(cell, math.inf)
        text = bold(f"{np.mean(ratios):.3f} ± {standard_error(ratios):.3f}", float(np.mean(ratios)) > bar)
        return text if math.isinf(bar) else f"{text} ({bar:g})"

    return pivot(suite, ["set"], _set_name, lambda cell: f"epsilon {cell.epsilon:g}", entry)


def _set_name(cell: Cell) -> tuple[str, ...]:
    return (f"{cell.table}, k = {cell.k}, delta {cell.delta:g}",)


def small_median(store: Store, before: str = "6f0194d") -> str:
    """Return the default's cost over that of another commit."""
    suite, found = suites()["small-median"], {}
    for cell in suite.cells:
        commits = [line["commit"] for line in store.lines["small-median", cell]]
        older, newer = ([one for one in commits if one.startswith(before) is is_older][-1] for is_older in (True, False))
        found[cell] = quotient(*(store.values("small-median", cell, commit) for commit in (newer, older)))
    ratios, errors = np.array(list(found.values())).T
    table = pivot(
        suite,
        ["set"],
        _set_name,
        lambda cell: f"epsilon {cell.epsilon:g}",
        lambda cell: "{:.3f} ± {:.3f}".format(*found[cell]),
    )
    worse = int((ratios > 1 + 2 * errors).sum())
    mean = math.exp(float(np.log(ratios).mean()))
    return f"{table}\n\nGeometric mean {mean:.3f}; higher by more than two standard errors: {worse}."


def quotient(after: list[float], before: list[float]) -> tuple[float, float]:
    """Return the ratio of two mean costs, and the relative errors of both together."""
    means = float(np.mean(after)), float(np.mean(before))
    errors = [standard_error(costs) / mean for costs, mean in zip((after, before), means, strict=True)]
    return means[0] / means[1], math.hypot(*errors)


def baselines(store: Store) -> str:
    """Return what the papers' algorithms cost here, beside their authors' own code."""
    suite, lines = suites()["baselines"], []
    for cell in suite.cells:
        ratios, bar = store.ratios("baselines", cell), suite.bars[cell]
        mean = float(np.mean(ratios))
        lines.append(
            [f"`{cell.algorithm}`", cell.table, f"{bar:g}", bold(f"{mean:.3f}", mean > bar), f"{standard_error(ratios):.3f}"]
        )
    return markdown(["algorithm", "data", "their own code", "here", "standard error"], lines)


def loose(store: Store) -> str:
    """Return what wide boxes cost."""
    suite = suites()["loose"]
    bars = {cell.table: f"{bar:g}" for cell, bar in suite.bars.items()}

    def row(cell: Cell) -> tuple[str, ...]:
        name, factor = cell.table.removesuffix(" times too wide").split(" in a box ")
        return name, factor, bars.get(cell.table, "")

    def entry(cell: Cell) -> str:
        tight, plain = (store.mean("loose", one) for one in suite.rivals(cell))
        return f"{plain:.3f} / {tight:.3f}"

    title = "delta {:g}: as it is / tightened"
    return pivot(suite, ["data", "box, times too wide", "tightened, at most"], row, lambda cell: title.format(cell.delta), entry)


def stability(store: Store) -> str:
    """Return the stable algorithm's cost on blobs, and its base's in brackets."""
    suite = suites()["stability"]
    order = sorted(suite.cells, key=lambda cell: -cell.power)
    means = {cell: store.mean("stability", cell) for cell in order}
    rows: dict[tuple[str, ...], list[str]] = {}
    for cell in order:
        if cell.algorithm == "stable":
            _, n, _, d = cell.table.split()
            ours, base = (means[one] for one in suite.rivals(cell))
            rows.setdefault((OBJECTIVES[cell.power], d, f"{int(n):,}"), []).append(f"{ours:.3f} ({base:.3f})")
    head = ["objective", "columns", "rows", *dict.fromkeys(map(budget, suite.cells))]
    return markdown(head, [[*row, *entries] for row, entries in rows.items()])


def stability_sets(store: Store) -> str:
    """Return the stable algorithm's cost over its base's on the sets of the utility table."""
    suite = suites()["stability-sets"]
    promises = [(2, 1.0, 0.0), (2, 1.0, 1e-6), (2, 0.25, 0.0), (1, 1.0, 0.0), (1, 0.25, 0.0)]
    found: dict[str, list[float]] = {}
    for table in dict.fromkeys(cell.table for cell in suites()["utility"].cells):
        for power, epsilon, delta in promises:
            cell = next(c for c in suite.cells if (c.table, c.power, c.epsilon, c.delta) == (table, power, epsilon, delta))
            ours, base = (float(np.mean(store.values(suite.name, one))) for one in suite.rivals(cell))
            found.setdefault(table, []).append(ours / base)
    found["geometric mean"] = np.exp(np.log(list(found.values())).mean(axis=0)).tolist()
    head = ["data", *(f"{OBJECTIVES[power]}, epsilon {epsilon:g}, delta {delta:g}" for power, epsilon, delta in promises)]
    return markdown(head, [[name, *(f"{one:.3f}" for one in row)] for name, row in found.items()])


def sample_aggregate(store: Store) -> str:
    """Return what plain clustering of blocks costs beside the default: geometric means."""

    def row(cell: Cell) -> tuple[str, ...]:
        _, n, _, d = cell.table.split()
        return d, f"{int(n):,}", f"{cell.epsilon:g}"

    def entry(cell: Cell) -> str:
        return f"{np.exp(np.mean(np.log(store.ratios('sample-aggregate', cell)))):.3f}"

    def title(cell: Cell) -> str:
        return cell.algorithm if " " in cell.algorithm else f"`{cell.algorithm}`"

    return pivot(suites()["sample-aggregate"], ["columns", "rows", "epsilon"], row, title, entry)


def won(ratios: dict[str, list[float]]) -> str:
    """Return the step of the least mean cost, and those within two standard errors of it."""
    means = {step: float(np.mean(runs)) for step, runs in ratios.items()}
    best = min(means, key=lambda step: means[step])
    gaps = {step: np.subtract(runs, ratios[best]) for step, runs in ratios.items() if step != best}
    close = [
        step for step, gap in gaps.items() if gap.mean() <= max(2 * gap.std(ddof=1) / math.sqrt(len(gap)), SAME * means[best])
    ]
    return ", ".join([f"**{best}**", *close])


def verdict(cells: list[dict[str, list[float]]]) -> str:
    """Return, for each step, how it compares with the Weiszfeld step over all cells, run by run."""
    lines = []
    for step in STEPS[1:]:
        logs = [np.log(cell[step]) - np.log(cell[STEPS[0]]) for cell in cells]
        found = [(float(log.mean()), float(log.std(ddof=1) / math.sqrt(len(log)))) for log in logs]
        mean = math.exp(float(np.mean([log for log, _ in found])))
        better, worse = (sum(sign * log > max(2 * error, SAME) for log, error in found) for sign in (-1, 1))
        most = math.exp(max(log for log, _ in found))
        lines.append([step, f"{mean:.4f}", f"{better} of {len(cells)}", f"{worse} of {len(cells)}", f"{most:.3f}"])
    head = ["step", "cost over the Weiszfeld step's, geometric mean", "cells lower", "cells higher", "highest cell"]
    return markdown(head, lines)


def _by_step(store: Store, suite: Suite) -> dict[Cell, dict[str, list[float]]]:
    """Return the ratios of each step, by the cell of the first of them."""
    firsts = [cell for cell in suite.cells if cell.algorithm.endswith(STEPS[0])]
    return {
        cell: {
            step: store.ratios(suite.name, next(c for c in suite.rivals(cell) if c.algorithm == _other(cell, step)))
            for step in STEPS
        }
        for cell in firsts
    }  # fmt: skip


def _other(cell: Cell, step: str) -> str:
    return cell.algorithm.replace(STEPS[0], step)


def medians(store: Store) -> str:
    """Return which step wins on one cluster."""
    found = _by_step(store, suites()["medians"])
    together: dict[tuple[int, int, float], list[dict[str, list[float]]]] = {}
    for cell, ratios in found.items():
        n, d = (int(word.strip(",")) for word in cell.table.split()[2:5:2])
        together.setdefault((d, n, cell.delta), []).append(ratios)
    lines = []
    for (d, n, delta), cells in together.items():
        joined = {step: [r for ratios in cells for r in ratios[step]] for step in STEPS}
        means = [f"{100 * (np.mean(joined[step]) - 1):.2f}" for step in STEPS]
        lines.append([str(d), f"{n:,}", f"{delta:g}", *means, won(joined)])
    return f"{markdown(['columns', 'rows', 'delta', *STEPS, 'least'], lines)}\n\n{verdict(list(found.values()))}"


def median_fits(store: Store) -> str:
    """Return which step wins in whole fits: mean distances."""
    found, lines = _by_step(store, suites()["medians-fits"]), []
    for cell, costs in found.items():
        means = [f"{np.mean(costs[step]):.4f}" for step in STEPS]
        lines.append([cell.table, cell.algorithm.split(",")[0], f"{cell.epsilon:g}", *means, won(costs)])
    return f"{markdown(['data', 'algorithm', 'epsilon', *STEPS, 'least'], lines)}\n\n{verdict(list(found.values()))}"


def local(store: Store) -> str:
    """Return what the local model costs."""
    suite, lines = suites()["local"], []
    firsts = sorted((cell for cell in suite.cells if cell.algorithm == "local refined"), key=lambda cell: -cell.power)
    for cell in firsts:
        _, n, _, d = cell.table.split()
        each = [store.ratios("local", one) for one in suite.rivals(cell)]
        means, bar = [float(np.mean(ratios)) for ratios in each], suite.bars.get(cell)
        factor = (means[2] - 1) / max(means[0] - 1, 1e-9)
        shown = [f"{means[0]:.3f} ({max(each[0]):.3f})", *(f"{mean:.3f}" for mean in means[1:]), f"{factor:.0f}"]
        lines.append([OBJECTIVES[cell.power], d, f"{int(n):,}", "" if bar is None else f"{bar:g}", *shown])
    head = ["objective", "columns", "users", "at most", "refined (worst run)", "stable", "stable, as printed"]
    seconds = store.seconds("local", [cell for cell in firsts if "1000000" in cell.table])
    time = f"One fit of 1,000,000 simulated users takes at most {seconds:.1f} CPU seconds with the refined protocol."
    return f"{markdown([*head, 'excess, printed over refined'], lines)}\n\n{time}"


def sites(store: Store) -> str:
    """Return what sites on networks cost, and time and memory on a large one."""
    suite, lines = suites()["sites"], []
    for cell in (one for one in suite.cells if one.algorithm == "cells"):
        each = [store.ratios("sites", one) for one in suite.rivals(cell)]
        means, counts = [float(np.mean(ratios)) for ratios in each], [len(ratios) for ratios in each]
        runs = f"{counts[0]} ({min(counts[1:-1])})"
        shown = [f"**{means[0]:.3f}**", *(f"{mean:.2f}" for mean in means[1:])]
        lines.append([cell.table, f"{cell.epsilon:g}", runs, f"{suite.bars[cell]:g}", *shown])
    names = [one.algorithm for one in suite.rivals(suite.cells[0])]
    head = ["network", "epsilon", "runs", "at most", *(f'`"{name}"`' for name in names[:-1]), names[-1]]
    size = json.loads((RESULTS / "scale_sites.json").read_text())
    return (
        f"{markdown(head, lines)}\n\nOn a square of streets of {size['nodes']:,.0f} nodes with {size['rows']:,.0f} rows, "
        f"`PrivateKMedoids(10)` takes {size['cpu']:.1f} CPU seconds (at most 12)\nand {size['peak GiB']:.2f} GiB at its peak "
        "(at most 0.5).\n\n"
        f"The default with squared distances, and with demand all over:\n\n{_other_sites(store)}"
    )


def _other_sites(store: Store) -> str:
    suite, lines = suites()["sites-others"], []
    for cell in (one for one in suite.cells if one.algorithm == "cells"):
        ours, blind = (store.mean(suite.name, one) for one in suite.rivals(cell))
        name, bar = cell.table + (" squared" if cell.power == 2 else ""), suite.bars.get(cell)
        lines.append([name, f"{cell.epsilon:g}", f"{bar:g}" if bar else "", f"**{ours:.3f}**", f"{blind:.2f}"])
    return markdown(["network", "epsilon", "at most", '`"cells"`', "no rows read"], lines)


def atoms(store: Store) -> str:
    """Return what sites cost where demand is at few points: the default's cost, and the better of two others' there."""
    suite, lines, misses = suites()["sites-atoms"], {}, []
    for cell in (one for one in suite.cells if one.algorithm == "cells"):
        ours, *others = (store.mean(suite.name, one) for one in suite.rivals(cell))
        was_run = not math.isnan(sum(others, ours))
        misses += [ours - min(others)] * was_run
        shown = f"**{ours:.3f}** / {min(others):.3f}" if was_run else ""
        lines.setdefault(tuple(cell.table.split(" rows at points of ")), []).append(shown)
    near = [sum(miss <= most for miss in misses) for most in (0.05, 0.1)]
    head = ["rows a point", "space", *(f"epsilon {e:g}, delta {delta:g}" for e in (1.0, 0.25) for delta in (0.0, 1e-6))]
    told = f"Above the better one by at most 0.05 in {near[0]} of {len(misses)} cells, and by at most 0.1 in {near[1]}."
    return f"{markdown(head, [[*name, *line] for name, line in lines.items()])}\n\n{told}"


def auto_k(store: Store) -> str:
    """Return how many clusters are found in named sets."""
    suite, rows = suites()["auto-k"], {}
    for cell in suite.cells:
        found = [value["found"] for value in store.values("auto-k", cell)]
        near = sum(abs(one - cell.k) <= 1 for one in found)
        rows.setdefault((cell.table, str(cell.k)), []).extend([f"{near} of {len(found)}", f"{min(found)} to {max(found)}"])
    head = ["data", "true number", *(f"epsilon {e:g}: {what}" for e in (1.0, 0.25) for what in ("within 1", "found"))]
    return markdown(head, [[*name, *line] for name, line in rows.items()])


def auto_k_shaped(store: Store) -> str:
    """Return in how many made-up tables the number is within one of the true one."""
    suite = suites()["auto-k-shaped"]
    values = [value for cell in suite.cells for value in store.values(suite.name, cell)]
    lines = []
    for shape, words in SHAPES.items():
        own = [[abs(v["found"] - v["true"]) for v in values if (v["shape"], v["apart"]) == (shape, gap)] for gap in GAPS]
        lines.append([words, *(f"{sum(error <= 1 for error in errors)} of {len(errors)}" for errors in own)])
    return markdown(["clusters", *(f"{gap:g} standard deviations apart" for gap in GAPS)], lines)


def together(values: list[dict[str, float]], name: str) -> float:
    """Return the mean of a share over all cases."""
    return float(np.average([value[name] for value in values], weights=[value["cases"] for value in values]))


def margins(store: Store) -> str:
    """Return how often margins of centers hold."""
    lines = []
    for cell in sorted(suites()["margins"].cells, key=lambda cell: (cell.table == "people", cell.algorithm, -cell.power)):
        values = store.values("margins", cell)
        title = cell.algorithm + (", people" if cell.table == "people" else "")
        shares = [f"{together(values, name):.1%}" for name in ("covers", "released")]
        means = f"{together(values, 'means'):.1%}" if cell.power == 2 else ""
        noise, fits = "Gaussian" if cell.delta else "Laplace", sum(int(value["fits"]) for value in values)
        lines.append([title, OBJECTIVES[cell.power], noise, str(fits), *shares, f"{together(values, 'width'):.3f}", means])
    return markdown(["algorithm", "objective", "noise", "fits", "covers", "released", "width", "means"], lines)


def described(store: Store) -> str:
    """Return how often margins of descriptions hold."""
    lines = []
    for cell in suites()["described"].cells:
        values = store.values("described", cell)
        cases = str(sum(value["cases"] for value in values))
        shares = [f"{together(values, name):.1%}" for name in ("covers", "quantiles", "range")]
        width = f"{together(values, 'width'):.3f}"
        lines.append([values[0]["noise"], cell.table.split()[0], cases, shares[0], width, *shares[1:]])
    head = ["noise of counts", "columns", "cases", "means covered", "width", "quantiles covered"]
    return markdown([*head, "range of quantiles, of the bounds"], lines)


def named(store: Store) -> str:
    """Return how good the columns are that descriptions name."""
    lines = []
    for cell in suites()["named"].cells:
        values = store.values("named", cell)
        least = [min(value[name] for value in values) for name in ("worst", "least")]
        shares = [together(values, "mean"), *least, together(values, "reach")]
        cases = str(sum(value["cases"] for value in values))
        title = cell.table.removeprefix("adult: ")
        lines.append([title, f"{cell.delta:g}", cases, *(f"{100 * share:.1f}%" for share in shares)])
    return markdown(["clustered", "delta", "clusters", "mean", "worst run", "least", "reach 95%"], lines)


def one_cluster(store: Store) -> str:
    """Return how large single balls are, and how many rows they hold."""
    lines = []
    for cell in suites()["one-cluster"].cells:
        values = store.values("one-cluster", cell)
        spans = [[value[name] for value in values] for name in ("radius", "rows")]
        shown = [f"{np.mean(one):.2f} ({min(one):.2f} to {max(one):.2f})" for one in spans]
        lines.append([cell.table.split()[1], f"{cell.k:,}", f"{cell.epsilon:g}", f"{values[0]['plain']:.3f}", *shown])
    return markdown(["columns", "t", "epsilon", "plain radius", "radius over plain", "rows inside over t"], lines)


def monotone(store: Store) -> str:
    """Return where more budget costs more: the largest rise of each table, in standard errors, and whether it breaks the bar."""
    found: dict[str, list[tuple[float, float, str]]] = {}
    cells = suites()["monotone"].cells
    for less, more in itertools.permutations(cells, 2):
        if less.table != more.table or (less.epsilon, less.delta) == (more.epsilon, more.delta):
            continue
        next_up = min((one.epsilon for one in cells if one.epsilon > less.epsilon), default=None)
        if (more.epsilon, more.delta) not in {(next_up, less.delta), (less.epsilon, 1e-6)}:
            continue
        costs = store.ratios("monotone", more), store.ratios("monotone", less)
        if min(map(len, costs)) > 1:
            rise, relative = quotient(*costs)
            found.setdefault(less.table, []).append(
                (rise - 1, (rise - 1) / (rise * relative), f"{budget(less)} to {budget(more)}")
            )
    lines = []
    for name, rises in found.items():
        rise, errors, where = max(rises)
        count = sum(one > RISE and many > RISE_ERRORS for one, many, _ in rises)
        lines.append([name, f"{rise:.1%}", f"{errors:.1f}", where, bold(str(count), count > 0)])
    return markdown(["table", "largest rise", "in standard errors", "where", "rises above the bar"], lines)


#: What is written, by the name between the markers.
TABLES: dict[str, Callable[[Store], str]] = {
    "utility": utility,
    "bar": bar_text,
    "methods": method_table,
    "winners": winners,
    "losses": loss_table,
    "lead": lead_table,
    "small": small,
    "small median": small_median,
    "baselines": baselines,
    "loose": loose,
    "stability": stability,
    "stability sets": stability_sets,
    "sample-aggregate": sample_aggregate,
    "one median": medians,
    "whole fits": median_fits,
    "local": local,
    "sites": sites,
    "atoms": atoms,
    "auto k": auto_k,
    "auto k families": auto_k_shaped,
    "margins": margins,
    "means": described,
    "named": named,
    "one cluster": one_cluster,
    "monotone": monotone,
}


def main(arguments: list[str] | None = None) -> None:
    """Write tables into the pages, or print them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks report", description=__doc__)
    parser.add_argument("name", nargs="*", help="tables to write, or suites to print; all tables if it is left out")
    parser.add_argument("--print", action="store_true", help="print tables, and write nothing")
    options = parser.parse_args(arguments)
    store = Store()
    for name in options.name or TABLES:
        if name in TABLES and not options.print:
            into_page(name, TABLES[name](store))
        elif name in TABLES or name in suites():
            print(TABLES[name](store) if name in TABLES else suite_table(store, suites()[name]))
        else:
            raise SystemExit(f"There is no table or suite {name!r}: {', '.join([*TABLES, *suites()])}.")


if __name__ == "__main__":
    main()
