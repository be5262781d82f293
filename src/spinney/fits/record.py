"""What a release records beside its answers: the promise, what was spent of it, and what repeats it."""

from __future__ import annotations

import math
import platform
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

from spinney._version import __version__
from spinney.algorithms.algorithm import Around
from spinney.algorithms.problem import Problem
from spinney.algorithms.registry import Adapted, find, solves_of
from spinney.exceptions import BudgetError, ParameterError
from spinney.mechanisms.drawing import NoiseSource
from spinney.privacy.budget import round_up
from spinney.privacy.charges import Measure
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.trust import Randomness

#: What a release says instead of the seed of a generator, which has none.
GENERATOR = "a generator"
#: Where k came from: nothing here chooses one.
GIVEN = "given by the caller"


@lru_cache
def versions() -> dict[str, str]:
    """Return the versions of what draws noise and computes."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    found = {"spinney": __version__}
    for name in ("opendp", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # installed without its metadata; nothing may fail after the charge
            found[name] = "unknown"
    return {**found, "python": platform.python_version()}


def _plain(value: Any) -> Any:
    """Return a plain number or name as JSON has it, and of anything else its type alone: it may hold rows."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else repr(number)
    return f"a {type(value).__name__}"


def plain_parameters(algorithm: object) -> dict[str, Any]:
    """Return the parameters of an algorithm, the fields of its dataclass; of one around another those of the one inside.

    Of an algorithm among them its name is recorded, and its own parameters behind a dot: ``base`` and ``base.alpha``.
    """
    if isinstance(algorithm, Around | Adapted):
        return plain_parameters(algorithm.inner)
    found: dict[str, Any] = {}
    for one in fields(algorithm) if is_dataclass(algorithm) else ():
        name, value = one.name, getattr(algorithm, one.name)
        if one.metadata.get("later") and value == one.default:  # a choice that earlier releases did not have
            continue
        if solves_of(value) is None:
            found[name] = _plain(value)
        else:
            found |= {name: value.name} | {f"{name}.{inner}": one for inner, one in plain_parameters(value).items()}
    return found


def algorithm_of(name: str, parameters: dict[str, Any], solves: str) -> Any:
    """Return what to ask for to get the algorithm of a release again: its name, or the algorithm if its parameters are others."""
    chosen = find(name, solves)
    if chosen is None or not parameters or parameters == plain_parameters(chosen):
        return name
    given = {key: value for key, value in parameters.items() if "." not in key}
    for key in {key.split(".")[0] for key in parameters if "." in key}:
        inside = {inner.removeprefix(f"{key}."): one for inner, one in parameters.items() if inner.startswith(f"{key}.")}
        given[key] = algorithm_of(str(given.get(key)), inside, solves)
    try:
        return replace(chosen, **given)
    except (ParameterError, TypeError):  # someone's own algorithm of the same name
        return name


def repeat_fields(algorithm: object, random_state: Any, noise_seed: Any, made: dict[str, str | None]) -> dict[str, Any]:
    """Return the fields that repeat a release: of the algorithm that ran, the seeds as given, and what was charged when."""
    seed = random_state if random_state is None or isinstance(random_state, Integral) else GENERATOR
    return {
        "parameters": plain_parameters(algorithm),
        "random_state": _plain(seed),
        "noise_seed": _plain(noise_seed),
        "made": made,
    }


def promise_fields(problem: Problem, ledger: FitLedger, source: NoiseSource, cap: int | None, model: str) -> dict[str, Any]:
    """Return the fields that every release has, from the plan and from what was spent of it."""
    budget, unit = problem.budget, problem.unit
    uses_delta = any(charge.measure is Measure.ZCDP or charge.delta for charge in ledger.planned)
    noise = Randomness.NONE if budget.is_infinite else Randomness(source.statement)
    if ledger.epsilon > budget.epsilon:
        raise BudgetError("More was spent than the budget: nothing is released.")
    return {
        "epsilon": min(round_up(ledger.epsilon), float(budget.epsilon)),
        "promised_epsilon": float(budget.epsilon),
        "delta": float(budget.delta) if uses_delta else 0.0,
        "adjacency": unit.adjacency.value,
        "max_rows_per_group": cap,
        "noise": noise,
        "charges": ledger.entries,
        "version": __version__,
        "model": model.replace("{added}", noise.added),
        "mechanisms": ledger.records,
        "k": problem.k,
        "k_source": GIVEN,
        "versions": dict(versions()),
    }
