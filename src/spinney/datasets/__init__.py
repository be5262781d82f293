"""Made-up tables that come with the package, to try it on. Nobody is in them: ``tools/patients.py`` makes them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["patients", "patients_schema"]


def patients() -> Path:
    """Return the path of a CSV file of made-up stays in hospitals.

    Columns: ``person``, ``age``, ``income``, ``visits``, ``region``, ``admitted``, ``smoker`` and ``stay``. Some persons have
    several rows. As raw tables do, it has empty cells, words among numbers, impossible ages, and days in another order.

    Examples
    --------
    >>> from spinney.datasets import patients
    >>> patients().name
    'patients.csv'
    """
    return Path(__file__).with_name("patients.csv")


def patients_schema() -> Path:
    """Return the path of a public schema of `patients`, as `spinney.tables.schema_files.read_schema` reads it.

    Examples
    --------
    >>> from spinney.datasets import patients_schema
    >>> patients_schema().name
    'patients.toml'
    """
    return Path(__file__).with_name("patients.toml")
