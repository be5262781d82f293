"""What leaves: a release may be published, and everything on a fitted estimator comes from it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ReleaseError
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.charges import Charge

__all__ = ["Release"]

FORMAT = "spinney-release/1"


def _number(value: float) -> float | str:
    return "inf" if value == math.inf else value


def _array(values: Any) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Release:
    """The published result of one fit.

    Privacy
    -------
    Every field is either a public parameter or computed from noisy answers that the charges paid for.

    Parameters
    ----------
    objective : {"kmeans", "kmedian"}
    algorithm : str
    centers : array of shape (k, d)
    sizes : array of shape (k,)
        Noisy numbers of rows that each center serves.
    sizes_margin : float
        Each true size lies within this of the noisy one before it was cut off at zero, with probability 0.95.
    summary_points, summary_weights : arrays of shape (m, d) and (m,)
        A private weighted summary of the rows; empty if the algorithm makes none.
    epsilon : float
        What was really spent: a step that an answer made unnecessary stays unspent.
    promised_epsilon, delta : float
        What the algorithm promises for every outcome; delta is 0 if all noise was pure.
    adjacency : {"add-remove", "replace"}
    max_rows_per_group : int or None
        None: a row is the unit. Otherwise a group is, with this cap.
    noise : {"secure", "seeded: not private", "none: not private"}
    charges : tuple of Charge
    domain : dict
        Public bounds.
    tightened : dict or None
        The private box that rows were clipped to further, if one was asked for.
    feature_names : tuple of str or None
    preprocessing : str
        What was done to the rows before the questions.
    version : str
        Of the library.
    """

    objective: str
    algorithm: str
    centers: NDArray[np.float64]
    sizes: NDArray[np.float64]
    sizes_margin: float
    summary_points: NDArray[np.float64]
    summary_weights: NDArray[np.float64]
    epsilon: float
    promised_epsilon: float
    delta: float
    adjacency: str
    max_rows_per_group: int | None
    noise: str
    charges: tuple[Charge, ...]
    domain: dict[str, Any]
    feature_names: tuple[str, ...] | None
    version: str
    tightened: dict[str, Any] | None = None
    model: str = "central: the party that ran the fit held the rows and added the noise"
    preprocessing: str = (
        "values clipped to the declared bounds and read on a public grid; rows with a missing or infinite value dropped "
        "(add-remove) or read as the middle of the domain (replace)"
    )
    format: str = field(default=FORMAT)

    def __post_init__(self) -> None:
        for name in ("centers", "sizes", "summary_points", "summary_weights"):
            object.__setattr__(self, name, _array(getattr(self, name)))

    def __repr__(self) -> str:
        k, d = self.centers.shape
        return f"Release({self.objective}, {k} centers x {d} columns; {self.statement})"

    def _check_shapes(self, d: int) -> None:
        """Raise a ValueError unless the arrays fit together and are finite."""
        shapes = (self.centers.shape[1:], self.sizes.shape, self.summary_points.shape, len(self.domain["upper"]))
        if shapes != ((d,), self.centers.shape[:1], (self.summary_weights.size, d), d) or not len(self.centers):
            raise ValueError("shapes disagree")
        box = self.domain if self.tightened is None else self.tightened
        if (len(box["lower"]), len(box["upper"])) != (d, d):
            raise ValueError("shapes disagree")
        boxes = (self.domain["lower"], self.domain["upper"], box["lower"], box["upper"])
        bounds = (*boxes, [self.domain.get("radius", 1.0)])
        numbers = (self.centers, self.sizes, self.summary_points, self.summary_weights, *bounds, [self.sizes_margin])
        if not all(np.isfinite(values).all() for values in numbers):
            raise ValueError("a number is not finite")
        if not (0 <= self.epsilon <= self.promised_epsilon and 0 <= self.delta < 1):
            raise ValueError("the promise is not one")
        cap, names = self.max_rows_per_group, self.feature_names
        if not (cap is None or (isinstance(cap, int) and cap >= 1)) or not (names is None or len(names) == d):
            raise ValueError("the unit or the columns are not described")
        Adjacency(self.adjacency)
        if not all(isinstance(text, str) for text in (self.objective, self.algorithm, self.noise, self.model, self.version)):
            raise ValueError("a text is not one")

    @property
    def is_private(self) -> bool:
        """Whether the noise was secure."""
        return self.noise == "secure"

    @property
    def statement(self) -> str:
        """The promise in one sentence."""
        if not self.is_private:
            return self.noise
        unit = "row" if self.max_rows_per_group is None else f"group of at most {self.max_rows_per_group} counted rows"
        change = "adding or removing" if self.adjacency == "add-remove" else "replacing"
        return f"({self.promised_epsilon!r}, {self.delta!r})-differentially private for {change} one {unit}"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        record: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                value = value.tolist()
            elif name == "charges":
                value = [charge.to_dict() for charge in value]
            elif isinstance(value, float):
                value = _number(value)
            record[name] = value
        record["statement"] = self.statement
        return record

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the release as JSON, and write it to `path` if one is given."""
        text = json.dumps(self.to_dict(), indent=1, sort_keys=True, allow_nan=False) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Release:
        """Read what `to_dict` wrote."""
        if record.get("format") != FORMAT:
            raise ReleaseError(f"This is not a release of format {FORMAT}.\nHint: write it with release.to_json(path).")
        try:
            fields = {name: record[name] for name in cls.__dataclass_fields__ if name != "tightened"}
            fields["tightened"] = record.get("tightened")
            fields["charges"] = tuple(Charge.from_dict(charge) for charge in fields["charges"])
            for name in ("epsilon", "promised_epsilon", "delta", "sizes_margin"):
                fields[name] = float(fields[name])
            d = len(fields["domain"]["lower"])
            fields["summary_points"] = np.asarray(fields["summary_points"], dtype=np.float64).reshape(-1, d)
            if fields["feature_names"] is not None:
                fields["feature_names"] = tuple(fields["feature_names"])
            release = cls(**fields)
            release._check_shapes(d)
            return release
        except (KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
            raise ReleaseError("The release is incomplete or damaged.\nHint: write it again with to_json.") from error

    @classmethod
    def from_json(cls, path: str | Path) -> Release:
        """Read a release from a file."""
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ReleaseError(f"{path} is not JSON.\nHint: write it with release.to_json(path).") from error
        return cls.from_dict(record if isinstance(record, dict) else {})
