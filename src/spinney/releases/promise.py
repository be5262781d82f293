"""What every release states, whatever was released: the promise, the charges behind it, and how it is written to a file."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spinney._shown import Showable, offered
from spinney.exceptions import ParameterError, ReleaseError, check_path
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.charges import Charge
from spinney.privacy.trust import Randomness, Trust
from spinney.verification.canonical import digest_of
from spinney.verification.keys import shared_signature, signature_by

#: Fields that releases of earlier versions do not have; such files stay readable for good.
LATER = frozenset(
    {
        "audit", "k", "k_costs", "k_source", "made", "mechanisms", "missing_values", "noise_seed", "parameters",
        "random_state", "signature", "supported_centers", "tightened", "versions",
    }
)  # fmt: skip
#: Fields that are written only if they say something.
STATED = frozenset(
    {"assignment", "center_margins", "goal", "n_guess", "row_times", "schema", "travel", "travel_margins", "unserved"}
)
#: Versions of the format that are read: the first is of 0.1.
VERSIONS = ("1", "2", "3")
#: What a whole number is, or nothing.
PLAIN = (int, type(None))


def _listed(values: np.ndarray[Any, Any]) -> Any:
    """Return an array as lists; JSON has no NaN, and null in its place."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        told = values.astype(object)
        told[np.isnan(values)] = None
        return told.tolist()
    return values.tolist()


def frozen_array(values: Any, kind: type = np.float64) -> NDArray[Any]:
    """Return an array that cannot be written to."""
    array: NDArray[Any] | None = None
    with suppress(Exception):  # whatever a table in its place raises; a message may quote its cells
        array = np.array(values, dtype=kind)
    if array is None:
        raise ParameterError.wrong("fields", "a release", "arrays of numbers", values, "as a fit makes them.")
    array.setflags(write=False)
    return array


def read_json(path: str | Path) -> dict[str, Any]:
    """Return the record in a file; an empty one if it holds anything else."""
    check_path(path, "from_json")
    content = Path(path).read_bytes()
    try:
        record = json.loads(content.decode("utf-8"))
        json.dumps(record, ensure_ascii=False).encode("utf-8")  # half a character, by its code, cannot be printed
    except (ValueError, RecursionError):  # no UTF-8, no JSON, a number too long, or too deep
        content = b""
    if not content:  # raised here, because those errors hold the file's content, which may be a table
        raise ReleaseError(f"{path} is not JSON.", "name a file that a fit wrote.")
    return record if isinstance(record, dict) else {}


@dataclass(frozen=True, eq=False, kw_only=True)
class Promise(Showable):
    """The part that all releases share.

    Parameters
    ----------
    epsilon : float
        What was really spent: a step that an answer made unnecessary stays unspent.
    promised_epsilon, delta : float
        What the algorithm promises for every outcome; delta is 0 if all noise was pure.
    adjacency : {"add-remove", "replace"}
    max_rows_per_group : int or None
        None: a row is the unit. Otherwise a group is, with this cap.
    noise : Randomness
        Or its text.
    charges : tuple of Charge
    version : str
        Of the library.
    model : str
        Who was trusted.
    preprocessing : str
        What was done to the rows before the questions.
    parameters : dict
        The parameters of the algorithm, by their names.
    random_state : int, str or None
        The seed of public randomness if it was a number, else what it was.
    noise_seed : int or None
        The seed of the noise, if there was one: the release is not private then.
    made : dict
        The ``date`` (UTC), and the name of the ``ledger`` that was charged with the ``entry``, if there is one. The only field
        that differs between two fits that repeat each other. Like the three above it is empty in files of earlier versions.
    mechanisms : tuple of dict
        For each charge, in order: sensitivity, price, mechanism and scale, exact (``docs/release-format.md``). This and the
        fields below are empty in files of format 1.
    k : int or None
        The number that was asked for, or found.
    k_source : str
        Where it came from.
    missing_values : str
        What was done with rows that have missing values.
    versions : dict
        Of spinney, opendp, numpy and python.
    audit : str
        What audits of this promise found, in one line (`with_audit`), or ``none``.
    signature : str or None
        Of all other fields, under a key (`signed`).
    format : str
    """

    #: The fields that are arrays of numbers, and of whole ones; and those that are tuples. No annotation: they are no fields.
    _floats, _wholes = tuple[str, ...](), tuple[str, ...]()
    _tuples = tuple[str, ...](("charges", "mechanisms"))

    epsilon: float
    promised_epsilon: float
    delta: float
    adjacency: str
    max_rows_per_group: int | None
    noise: Randomness
    charges: tuple[Charge, ...]
    version: str
    model: str = ""
    preprocessing: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    random_state: int | str | None = None
    noise_seed: int | None = None
    made: dict[str, str | None] = field(default_factory=dict)
    mechanisms: tuple[dict[str, Any], ...] = ()
    k: int | None = None
    k_source: str = ""
    missing_values: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    audit: str = "none"
    signature: str | None = None
    format: str = ""

    def __post_init__(self) -> None:
        if not (isinstance(self.noise, str) and self.noise in tuple(Randomness)):  # an enum's own error would quote a table
            raise ParameterError.wrong("noise", "a release", "a Randomness, or its text", self.noise, "as a fit makes it.")
        object.__setattr__(self, "noise", Randomness(self.noise))
        for names, kind in ((self._floats, np.float64), (self._wholes, np.int64)):
            for name in names:
                if getattr(self, name) is not None:
                    object.__setattr__(self, name, frozen_array(getattr(self, name), kind))

    @property
    def trust(self) -> Trust:
        """Who was trusted: the model, read."""
        return Trust.of(self.model)

    @property
    def is_private(self) -> bool:
        """Whether the noise was secure."""
        return self.noise is Randomness.SECURE

    @property
    def statement(self) -> str:
        """The promise in one sentence."""
        if not self.is_private:
            return self.noise
        unit = "row" if self.max_rows_per_group is None else f"group of at most {self.max_rows_per_group} counted rows"
        change = "adding or removing" if self.adjacency == "add-remove" else "replacing"
        floats = ", proved over the reals only" if any(charge.question == "minimize" for charge in self.charges) else ""
        return f"({self.promised_epsilon!r}, {self.delta!r})-differentially private for {change} one {unit}{floats}"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        record: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is None and name in STATED:
                continue
            if isinstance(value, np.ndarray):
                value = _listed(value)
            elif name == "charges":
                value = [charge.to_dict() for charge in value]
            elif name == "mechanisms":
                value = list(value)
            elif isinstance(value, float) and value == math.inf:
                value = "inf"
            record[name] = value
        record["statement"] = self.statement
        return record

    @property
    def digest(self) -> str:
        """SHA-256 of the release, its signature left out: what a ledger keeps of it, and a key signs."""
        return digest_of(json.loads(self.to_json()))

    def signed(self, key: bytes | None = None, *, private_key: str | Path | None = None) -> Self:
        """Return the release with a signature, which `spinney.verify` checks.

        Parameters
        ----------
        key : bytes, optional
            A shared secret of at least 16 bytes. Whoever holds it can check and could have signed.
        private_key : str or Path, optional
            In its place: the file of a private key (`spinney.verification.make_keys`). Whoever has the public key can check, and
            nobody else can sign. Needs the extra ``sign``.
        """
        if (key is None) == (private_key is None):
            hint = "signed(secrets.token_bytes(32)), or signed(private_key='release.key')."
            raise ParameterError("A release is signed with one key.", hint)
        record = json.loads(self.to_json())
        signature = shared_signature(record, key) if key is not None else signature_by(record, str(private_key))
        return replace(self, signature=signature)

    def with_audit(self, findings: Any) -> Self:
        """Return the release with what audits of its promise found, in one line; a signature, of the one before, goes.

        The digest changes too, so that a ledger knows the release without it alone: sign the one with it.

        Parameters
        ----------
        findings : spinney.audit.Findings
            Of the same promise, such as ``Findings.of([replay_pairs(model, pairs)])``.
        """
        each, summary = list(findings) if hasattr(findings, "summary") else [], str(getattr(findings, "summary", ""))
        promised = {(getattr(one, "promised_epsilon", None), getattr(one, "promised_delta", None)) for one in each}
        if not self.is_private or promised != {(self.promised_epsilon, self.delta)}:
            hint = "audit a model with the epsilon and delta of the release."
            raise ParameterError.wrong("findings", "with_audit", "findings about the promise of this release", findings, hint)
        return replace(self, audit=summary, signature=None)

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return the clusters, sites or choices as a frame, in the order of the release.

        Privacy
        -------
        Post-processing of a release: free.

        Parameters
        ----------
        kind : {"pandas", "polars"}
        """
        return offered("frame")(self, kind)

    def plot(self, columns: tuple[int, ...] | None = None) -> Any:
        """Draw the release with matplotlib and return the axes, several as an array; notebooks show them.

        Privacy
        -------
        Post-processing of a release: free.

        Parameters
        ----------
        columns : tuple of int, optional
            Of centers: which to show, as for `spinney.report.draw`.
        """
        return offered("plot")(self, columns)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the release as JSON, and write it to `path` if one is given."""
        text = json.dumps(self.to_dict(), indent=1, sort_keys=True, allow_nan=False) + "\n"
        if path is not None:
            check_path(path, "to_json")
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        if not isinstance(record, dict):
            raise ParameterError.wrong("record", "from_dict", "a dict", record, "as release.to_dict() gives it.")
        if not cls.reads(record.get("format")):
            raise ReleaseError(f"This is not a release of format {cls.format}.", "name a file that a fit wrote.")
        try:
            fields = cls._read_fields(record)
            fields["charges"] = tuple(Charge.from_dict(charge) for charge in fields["charges"])
            for name in ("epsilon", "promised_epsilon", "delta"):
                fields[name] = float(fields[name])
            release = cls(**fields)
            if release._holds():
                return release
        except (KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError, OverflowError):
            pass
        # Not above: the error may quote what was in the record, and would become the context of this one.
        raise ReleaseError("The release is incomplete or damaged.", "restore it from a copy.")

    @classmethod
    def from_json(cls, path: str | Path) -> Self:
        """Read a release from a file."""
        return cls.from_dict(read_json(path))

    @classmethod
    def reads(cls, name: object) -> bool:
        """Whether a format, by its name, is one of this kind of release."""
        family = cls.format.rpartition("/")[0]
        return name in [f"{family}/{version}" for version in VERSIONS]

    @classmethod
    def _read_fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a record, before charges and amounts are read."""
        optional = STATED | (LATER if record["format"].endswith("/1") else set())
        fields = {name: record[name] for name in cls.__dataclass_fields__ if name in record or name not in optional}
        return fields | {name: tuple(fields[name]) for name in cls._tuples if fields.get(name) is not None}

    def _holds(self) -> bool:
        """Whether all fields fit together; the promise is one, and what repeats the release is plain."""
        _ = [float(charge.amount) for charge in self.charges]  # an OverflowError if one is beyond all that can be shown
        _ = Adjacency(self.adjacency)
        cap, words = self.max_rows_per_group, (self.k_source, self.missing_values, self.audit, self.signature or "")
        return (
            0 <= self.epsilon <= self.promised_epsilon
            and 0 <= self.delta < 1
            and (cap is None or (isinstance(cap, int) and cap >= 1))
            and all(isinstance(text, str) for text in (self.model, self.version, self.preprocessing, *words))
            and all(isinstance(text, str) for text in self.versions.values())
            and all(isinstance(value, str | int | float | None) for value in self.parameters.values())
            and all(isinstance(text, str | None) for text in self.made.values())
            and (type(self.k) in PLAIN and type(self.noise_seed) in PLAIN and type(self.random_state) in (str, *PLAIN))
            and all(isinstance(record, dict) and isinstance(record.get("mechanism"), str) for record in self.mechanisms)
        )
