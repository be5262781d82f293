"""Small faults to plant into the modules that privacy rests on, found in their syntax trees.

Four kinds: a sign is flipped, a noise is dropped, a scale is halved (or a price doubled), two charges are swapped (or one is
spent twice, or not at all). What only makes words is left out: annotations, decorators, defaults of parameters, what is raised,
asserts, texts, and the functions in `WORDS`; and so is half of what is only asked whether it is zero.

A mutant is named by the function it stands in and by a digest of that, not by its line: where lines, comments and docstrings
move, what is known of it holds.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["SOURCE", "Mutant", "digest", "listed"]

SOURCE = Path(__file__).resolve().parent.parent / "src"
PLACES = ("privacy/*.py", "mechanisms/*.py", "questions/*.py", "curators/gate.py", "curators/views.py")
#: Functions whose result is words for people, or the canonical form that audits compare.
WORDS = {"words", "__repr__", "__str__"}

SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
ORDERS = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
EXTREMES = {"min": "max", "maximum": "minimum", "fmin": "fmax"}
EXTREMES |= {other: one for one, other in EXTREMES.items()}
#: A call that draws, and what it returns without noise; ``{0}`` is its first argument.
DRAWS = {
    "privatize": "np.asarray({0})",
    "laplace": "np.asarray({0})",
    "gaussian": "np.asarray({0})",
    "select": "int(np.argmax({0}))",
    "choose": "int(np.argmax({0}))",
    "choose_cover": "int(np.argmax({0}))",
    "decide": "({0}) > self.threshold",
    "geometric": "np.zeros({1}, dtype=np.int64)",
    "gumbel": "np.zeros({2})",
    "token_bytes": "bytes({0})",
    "bytes": "bytes({0})",
}
#: Calls, names and attributes of which a scale is made: halved.
SCALES = {"round_up", "worst_loss", "cost_range", "swap_range", "_log_survival", "sqrt"}
NAMES = {"scale", "variance", "score_range", "span", "moved_rows", "max_rows", "families", "decay"}
NAMES |= {"sensitivity", "steps_per_row"}
#: What a charge buys: doubled.
PRICES = {"selection_epsilon", "step_epsilon", "_approximate_step", "zcdp_rho"}
CHARGES = {"count_price", "value_price", "tree_price", "_per_row"}
#: Two things that must not be taken for each other.
SWAPS = {"vectors": "weights", "planned": "_entries", "PURE": "ZCDP", "epsilon": "delta", "value_price": "count_price"}
SWAPS |= {other: one for one, other in SWAPS.items()} | {"amount": "delta", "tree_price": "count_price", "pop": "get"}
SWAPS |= {"l1": "l2", "l2": "l1", "l2_squared": "l1"}
PAIRS = {"StepPrice", "StepNoise", "SumAnswer", "_per_row", "Sensitivity"}
#: Statements by which a charge is paid or refused: left out, and where they are calls done twice.
PAID = {"spend", "append", "keep", "check", "__setattr__"}


@dataclass(frozen=True)
class Mutant:
    """One planted fault.

    Parameters
    ----------
    path : str
        Of the module, below ``src/spinney``.
    function : str
        Its name with that of its class; empty for what stands outside functions.
    first, last : int
        The lines of the innermost function around it.
    digest : str
        Of the outermost function around it.
    text : str
        The line, as it is.
    kind : {"sign", "noise", "scale", "charge"}
    change : str
        What is changed, and into what; of equal ones in a function, the second says that it comes again, and so on.
    place : int
        Of the changed node in the module's tree, in the order of `ast.walk`.
    other : ast.AST
        What stands there instead.
    """

    path: str
    function: str
    first: int
    last: int
    digest: str
    text: str
    kind: str
    change: str
    place: int
    other: ast.AST

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return f"{self.path} {self.function or 'module'} {self.digest} {self.kind}: {self.change}"

    def tree(self) -> ast.Module:
        """Return the whole module with the fault."""
        tree = ast.parse((SOURCE / "spinney" / self.path).read_text())
        target = next(node for i, node in enumerate(ast.walk(tree)) if i == self.place)
        for node in ast.walk(tree):
            for name, value in ast.iter_fields(node):
                if value is target:
                    setattr(node, name, self.other)
                elif isinstance(value, list) and any(entry is target for entry in value):
                    value[[entry is target for entry in value].index(True)] = self.other
        for node in ast.walk(self.other):  # all on one line, so that functions keep theirs
            node.lineno = node.end_lineno = target.lineno
            node.col_offset = node.end_col_offset = 0
        return ast.fix_missing_locations(tree)


def _called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "id", "") or getattr(node.func, "attr", "")


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _signs(node: Any) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in SIGNS:
        other = copy.deepcopy(node)
        other.op = SIGNS[type(node.op)]()
        yield other
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand
    elif isinstance(node, ast.Compare):
        for i, order in enumerate(node.ops):
            if type(order) in ORDERS:
                other = copy.deepcopy(node)
                other.ops[i] = ORDERS[type(order)]()
                yield other
    elif _called(node) in EXTREMES:
        other = copy.deepcopy(node)
        if isinstance(other.func, ast.Name):
            other.func.id = EXTREMES[other.func.id]
        else:
            other.func.attr = EXTREMES[other.func.attr]
        yield other


def _noises(node: Any) -> Iterator[ast.AST]:
    name = _called(node)
    if name == "drawn":
        values, draw = node.args[0], node.args[1]
        is_choice = isinstance(draw, ast.Call) and getattr(draw.args[0], "value", "") == "gumbel"
        yield _parsed(("int(np.argmax({}))" if is_choice else "np.asarray({})").format(ast.unparse(values)))
    elif name in DRAWS and len(node.args) > int(max(re.findall(r"{(\d)}", DRAWS[name]))):
        yield _parsed(DRAWS[name].format(*map(ast.unparse, node.args)))
    elif isinstance(node, ast.Call) and _called(node.func) == "_measurement":
        kind = node.func.args[0].value
        yield _parsed(("int(np.argmax({}))" if kind == "select" else "{}").format(ast.unparse(node.args[0])))


def _scales(node: Any) -> Iterator[ast.AST]:
    name = _called(node)
    if name in SCALES:
        yield _parsed(f"({ast.unparse(node)}) / 2")
    elif name in CHARGES:
        yield _parsed(f"({ast.unparse(node)}).part(2)")
    elif name in PRICES:
        yield _parsed(f"({ast.unparse(node)}) * 2")
    elif name == "part" and len(node.args) == 1:
        yield _parsed(f"{ast.unparse(node.func)}(({ast.unparse(node.args[0])}) * 2)")
    elif name == "Sensitivity":
        for i in range(2):
            other = copy.deepcopy(node)
            other.args[i] = _parsed(f"({ast.unparse(node.args[i])}) / 2")
            yield other
    elif isinstance(getattr(node, "ctx", None), ast.Load) and getattr(node, "id", getattr(node, "attr", "")) in NAMES:
        yield _parsed(f"({ast.unparse(node)}) / 2")


def _charges(node: Any) -> Iterator[ast.AST]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in SWAPS:
        other, owner = copy.deepcopy(node), ast.unparse(node.value)
        other.attr = SWAPS[node.attr]
        if node.attr == "delta" and "budget" not in owner:
            other.attr = "amount"  # of a charge
        elif node.attr == "l1" and owner.endswith(("sensitivity", "moves")):
            other.attr = "l2_squared"
        yield other
    elif _called(node) in PAIRS:
        first = 1 if _called(node) == "_per_row" else 0
        if ast.unparse(node.args[first]) != ast.unparse(node.args[first + 1]):
            other = copy.deepcopy(node)
            other.args[first : first + 2] = other.args[first : first + 2][::-1]
            yield other
    elif isinstance(node, ast.Assign | ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
        texts = ast.unparse(node)
        if "weight" in texts or "spent" in texts:
            other = copy.deepcopy(node)
            other.value.elts.reverse()
            yield other
    elif isinstance(node, ast.Expr) and _called(node.value) in PAID:
        yield ast.Pass()
        if _called(node.value) in ("spend", "append", "keep"):
            yield ast.If(ast.Constant(True), [copy.deepcopy(node), copy.deepcopy(node)], [])
    elif isinstance(node, ast.Raise) and node.exc is not None and "BudgetError" in ast.unparse(node.exc):
        yield ast.Pass()


KINDS = {"sign": _signs, "noise": _noises, "scale": _scales, "charge": _charges}


def digest(owner: ast.AST) -> str:
    """Return a digest of a function, or of a statement outside functions, whatever its lines, comments and docstrings are."""
    bare = copy.deepcopy(owner)
    for node in ast.walk(bare):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return hashlib.blake2b(ast.unparse(bare).encode(), digest_size=5).hexdigest()


def _visited(
    node: ast.AST, function: tuple[str, ...] = (), span: tuple[int, int] = (0, 0), owner: ast.AST | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield every node that may be changed, with its outermost function's name, the lines of its innermost one, and its owner.

    The owner is the outermost function, or the statement of a module or class.
    """
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "defaults", "kw_defaults"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Assert | ast.JoinedStr):
                continue
            own = child if owner is None else owner
            if isinstance(child, ast.FunctionDef):
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                inner = (*function, child.name) if not function or function[-1][0].isupper() else function
                if child.name not in WORDS:
                    yield from _visited(child, inner, (first, child.end_lineno or first), own)
            elif isinstance(child, ast.ClassDef):
                yield from _visited(child, (*function, child.name), span, owner)
            elif isinstance(child, ast.Raise):
                yield child, function, span, own
            else:
                yield child, function, span, own
                yield from _visited(child, function, span, own)


def _only_zero(tree: ast.Module) -> set[int]:
    """Return which nodes are only asked whether they are zero."""
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.If | ast.IfExp)]
    tests += [node.operand for node in ast.walk(tree) if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)]
    pairs = [(node.left, node.comparators[0]) for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    return {id(node) for node in [*tests, *(left for left, right in pairs if getattr(right, "value", None) == 0)]}


def listed(source: Path = SOURCE) -> list[Mutant]:
    """Return all mutants, in the order of modules and lines."""
    found: dict[str, Mutant] = {}
    for place in PLACES:
        for path in sorted((source / "spinney").glob(place)):
            text = path.read_text()
            tree, lines, module = ast.parse(text), text.splitlines(), path.relative_to(source / "spinney").as_posix()
            zero, digests = _only_zero(tree), cache(digest)
            places = {id(node): i for i, node in enumerate(ast.walk(tree))}
            for node, function, (first, last), owner in _visited(tree):
                for kind, changes in KINDS.items():
                    for other in () if kind == "scale" and id(node) in zero else changes(node):
                        change = " -> ".join(" ".join(ast.unparse(part).split()) for part in (node, other))
                        head = (module, ".".join(function), first, last, digests(owner), lines[node.lineno - 1].strip(), kind)
                        mutant = Mutant(*head, change, places[id(node)], other)
                        while mutant.name in found:
                            mutant = replace(mutant, change=f"{mutant.change} (again)")
                        found[mutant.name] = mutant
    return list(found.values())
