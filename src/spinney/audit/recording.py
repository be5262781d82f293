"""Recording a fit of made-up rows: every question, every draw with its exact input, and all that can be seen from outside.

The observer is given to the fit here and nowhere else: an estimator has no parameter for it.
"""

from __future__ import annotations

import copy
import io
import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from typing import Any

from spinney.audit.sources import FrozenSource
from spinney.fits.run import run_with
from spinney.mechanisms import Drawn, NoiseSource, SecureSource, Watched
from spinney.mechanisms.drawing import Asked, Ended, Keyed, Observer
from spinney.questions.form import form


@dataclass(frozen=True, eq=False, repr=False)
class Transcript:
    """All that happened in one fit.

    Parameters
    ----------
    events : tuple of Asked, Drawn, Ended and Keyed
        In their order. Exact values are in them: for auditors only.
    seen : dict
        What can be seen from outside, in canonical form: result, error, warnings, logs, what was printed.
    release : object
        What was released, or None.
    """

    events: tuple[Asked | Drawn | Ended | Keyed, ...]
    seen: dict[str, Any]
    release: Any = None

    @cached_property
    def questions(self) -> tuple[Asked, ...]:
        """What was asked."""
        return tuple(event for event in self.events if isinstance(event, Asked))

    @cached_property
    def draws(self) -> tuple[Drawn, ...]:
        """What was drawn."""
        return tuple(event for event in self.events if isinstance(event, Drawn))

    @cached_property
    def keys(self) -> tuple[bytes, ...]:
        """The secrets that were drawn."""
        return tuple(event.key for event in self.events if isinstance(event, Keyed))

    @cached_property
    def ended(self) -> tuple[Ended, ...]:
        """What was answered."""
        return tuple(event for event in self.events if isinstance(event, Ended))

    @cached_property
    def answers(self) -> tuple[Any, ...]:
        """What was answered, in canonical form."""
        return tuple(form(event.answer) for event in self.ended)

    @cached_property
    def asked(self) -> tuple[Any, ...]:
        """What was asked, in canonical form."""
        return tuple(
            (one.number, one.name, *map(form, (one.ground, one.question, one.charge, one.unit))) for one in self.questions
        )

    def draws_of(self, question: Asked) -> tuple[Drawn, ...]:
        """Return the draws that one charge paid for together."""
        return tuple(event for event in self.draws if event.asked is question)

    def frozen(self) -> FrozenSource:
        """Return a source that gives these draws again."""
        return FrozenSource(self.draws, self.keys)


def observe(
    model: Any,
    data: Any,
    observer: Observer,
    *,
    groups: Any = None,
    source: NoiseSource | None = None,
    random_state: int = 0,
    factor: float | Mapping[str, float] = 1.0,
) -> Any:
    """Fit made-up rows under an observer's eyes; return the fitted copy of the model, or the release if it has no `fit`.

    NOT PRIVATE: the observer sees exact values.

    Parameters
    ----------
    model : estimator, or anything with `prepare`
        It is not changed.
    data, groups
        As `fit` takes them.
    observer : callable
        Is given every event: `Asked`, `Drawn` and `Ended`, and `Keyed` if rows have groups.
    source : NoiseSource, optional
        What draws; by default the secure source. `Transcript.frozen()` repeats the draws of another fit.
    random_state : int
        Seeds public randomness.
    factor : float, or dict
        Multiplies every scale of noise, or the scales of the questions that it names: to try whether an audit notices.
    """
    watched = Watched(SecureSource() if source is None else source, observer, factor)

    def run(fit: Any, rows: Any, ledger: Any = None) -> Any:
        return run_with(lambda: watched, replace(fit, random_state=random_state, noise_seed=None), rows)

    if not hasattr(model, "fit"):
        return run(*model.prepare(data, groups))
    fitted = copy.copy(model)
    fitted._run = run
    try:
        return fitted.fit(data, groups=groups) if groups is not None else fitted.fit(data)
    finally:
        del fitted._run


class _Logs(logging.Handler):
    """Remembers what was logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, line: logging.LogRecord) -> None:
        """Remember a line; not its time."""
        self.lines.append(f"{line.levelname} {line.getMessage()}")


@contextmanager
def looking(seen: dict[str, Any]) -> Iterator[None]:
    """Note warnings, logs, printed text and the error of the work inside."""
    logger, logs, printed = logging.getLogger("spinney"), _Logs(), io.StringIO()
    level = logger.level
    logger.addHandler(logs)
    logger.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as warned, redirect_stdout(printed), redirect_stderr(printed):
            warnings.simplefilter("always")
            try:
                yield
            except Exception as error:
                seen["error"] = [type(error).__qualname__, str(error), *getattr(error, "__notes__", ())]
    finally:
        logger.removeHandler(logs)
        logger.setLevel(level)
        seen["warnings"] = [f"{one.category.__qualname__}: {one.message}" for one in warned]
        seen["logs"], seen["printed"] = logs.lines, printed.getvalue()


def _visible(result: Any) -> Any:
    """Return all that a fitted estimator, or a release, holds, in canonical form; not when it was made."""
    if is_dataclass(result):
        return form(replace(result, made={}) if hasattr(result, "made") else result)  # type: ignore[type-var]
    own = {name: value for name, value in vars(result).items() if name not in ("algorithm", "space", "bounds")}
    return {name: _visible(value) if is_dataclass(value) else form(value) for name, value in sorted(own.items())}


def record(model: Any, data: Any, **options: Any) -> Transcript:
    """Fit made-up rows, and return all that happened; options as for `observe`.

    An error of the fit is part of it.
    """
    events: list[Any] = []
    seen: dict[str, Any] = {"result": None, "error": None}
    result: Any = None
    with looking(seen):
        result = observe(model, data, events.append, **options)
        seen["result"] = _visible(result)
    return Transcript(tuple(events), seen, getattr(result, "release_", result))
