"""Mutants that no test can find, or need to, each with the reason: what they change is no promise."""

from __future__ import annotations

from tools.mutations import Mutant

__all__ = ["ALIKE", "reason"]

#: Path, a part of the line, a part of the change, and the reason.
ALIKE: list[tuple[str, str, str, str]] = [
    ("mechanisms/splitting.py", "levels = np.arange(", "", "looks at more levels, or at fewer whose losses lie below the margin"),
    (
        "mechanisms/splitting.py",
        "(levels * decay - decay)",
        "+ decay",
        "leaves out levels below the clamp; brute force finds the same",
    ),
    ("mechanisms/splitting.py", "math.exp(-43)", "", "a tail below 1e-18, which the margin of 1e-9 covers"),
    ("mechanisms/splitting.py", "* MARGIN + 1e-13", "1e-13 ->", "a margin for rounding, smaller than any test sees"),
    ("mechanisms/splitting.py", "high *= 2", "", "never entered: the first scale tried is wide enough at every price"),
    ("mechanisms/coverage.py", "together, low, high = 0.0, 0.0, total / m", "", "the bracket of a search that checks every step"),
    (
        "mechanisms/cubes.py",
        "reach = 40 * scale",
        "scale / 2",
        "leaves out radii beyond 20 scales a column, of no weight in a float",
    ),
    ("mechanisms/cubes.py", "scale**2 - 0.25", "+ 0.25", "an integral for a sum, promised up to one part in a million"),
    ("mechanisms/source.py", "draws = self.laplace(np.zeros(2 *", "count + len", "more numbers are drawn, and the same are used"),
    ("mechanisms/source.py", "width = np.floor(scale) + 1.0", "", "rejection gives the same law from any width"),
    ("mechanisms/source.py", "values.ravel() + noise", "", "the noise is symmetric"),
    ("privacy/composition.py", "max(best, 0.0) * (1 + 1e-12)", "1e-12", "a margin for rounding, smaller than any test sees"),
    ("privacy/composition.py", "(1 + 2**-52)", "2 ** (-52)", "half a rounding, which the margin of 1e-12 covers"),
    ("privacy/composition.py", "(1 - 2**-50)", "2 ** (-50)) ->", "a rounding: a plan above its budget is not lawful"),
    ("privacy/composition.py", "(1 - 2**-50)", "1 - 2 ** (-50) ->", "a rounding: a plan above its budget is not lawful"),
    ("privacy/composition.py", "center = math.log(", "", "the middle of a grid of orders, each of which gives a valid bound"),
    (
        "privacy/composition.py",
        "near = min(range(-ORDERS",
        "ORDERS - 1",
        "leaves out the grid's last order; each gives a valid bound",
    ),
    ("privacy/composition.py", "best = min(map(bound", "-> min(near - STRIDE", "more orders tried; each gives a valid bound"),
    ("privacy/composition.py", "best = min(map(bound", "-> max(near + STRIDE", "more orders tried; each gives a valid bound"),
    ("privacy/composition.py", "best = min(map(bound", "ORDERS) - 1", "leaves out two of 41 orders; each gives a valid bound"),
    ("privacy/composition.py", "order = 1 + math.exp(", "center - step", "the same orders, in the other direction"),
    ("privacy/composition.py", "families = sorted(", "p.l2 -> p.l1 (again)", "more ways tried, each taken only if it is lawful"),
    (
        "privacy/composition.py",
        "self.l1 / math.sqrt(2 * amount)",
        "math.sqrt(2) /",
        "ranks lawful plans by a noise that is off by a factor",
    ),
    ("privacy/composition.py", "ways.append(", "if True", "the same way tried twice"),
    ("privacy/charges.py", 'amount = "inf" if', "self.amount -> self.delta", "the text of an infinite float is inf too"),
    (
        "mechanisms/splitting.py",
        "if offsets.size <= decay",
        "decay / 2",
        "the worst path begins at the clamp, which every grid holds",
    ),
    ("questions/form.py", "array.size <= LONGEST", "", "an array and its digest both tell questions apart"),
    ("questions/blocks.py", "2 * amount)) * ROUNDED)", "/ ROUNDED", "a rounding that ROUNDED**2 in the next line covers"),
    ("questions/cost.py", "// MOST_NUMBERS))]", "", "into how many pieces an array is cut, each worked out for itself"),
    ("questions/partitions.py", "rest = np.where(used < WORD", "WORD - 1 ->", "a shift by a whole word, which is not taken"),
    ("questions/levels.py", "rows.exact(cells, depth - level)", "depth", "what a backend may read ahead, no part of an answer"),
    (
        "questions/grow.py",
        "rows.exact(cells, splits.depth - depth)",
        "splits.depth",
        "what a backend may read ahead, no part of an answer",
    ),
    ("privacy/pricing.py", "price = self.count_price(charge)", "value_price", "pure prices of counts and values are the same"),
    (
        "mechanisms/perturbation.py",
        "ROUNDED",
        "ROUNDED ->",
        "a margin for rounding, smaller than any test sees; the sum is checked",
    ),
    (
        "mechanisms/perturbation.py",
        "found.check(unit)",
        "pass",
        "every charge buys lawful constants; where minima are made they are checked",
    ),
    (
        "mechanisms/perturbation.py",
        "Sensitivity(moves, moves**2)",
        "moves ** 2 / 2",
        "laplace noise has no use for squared lengths",
    ),
    (
        "mechanisms/perturbation.py",
        "shorter = is_open",
        "",
        "Weiszfeld steps alone: the answer is within the tolerance all the same",
    ),
    (
        "mechanisms/perturbation.py",
        "safe = ahead -",
        "weights - found.pull",
        "another careful step: cells stop by their own gradients all the same",
    ),
    (
        "mechanisms/perturbation.py",
        "newton = ahead -",
        "",
        "after a step that shortens no gradient comes a Weiszfeld step: the answer is within the tolerance all the same",
    ),
    ("questions/totals.py", "return self.columns / math.sqrt(6)", "", "ranks lawful plans by a noise that is off by a factor"),
    ("privacy/fit_ledger.py", 'raise BudgetError("The plan spends', "", "the sum of the plan refuses it with the same words"),
    ("privacy/fit_ledger.py", "charge.amount == math.inf for charge", "", "the sum of the plan refuses it with the same words"),
]


def reason(mutant: Mutant) -> str:
    """Return why a survivor is no gap, or an empty text: it is one."""
    for path, line, change, why in ALIKE:
        if mutant.path == path and line in mutant.text and change in mutant.change:
            return why
    return ""
