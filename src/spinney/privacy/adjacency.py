"""Which two data sets count as neighbors."""

from __future__ import annotations

from enum import StrEnum


class Adjacency(StrEnum):
    """The neighboring relation: add or remove one unit, or replace one unit."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"
