"""Cells of text letter by letter: what most of them say, as numbers, by loops that are compiled, each cell alone.

A cell is decided here only if the patterns of `spinney.tables.notation` surely say the same of it. Others are left to them: rare
blanks and marks, exponents, numbers of many digits, letters beyond ASCII where case does not count. What is decided here is what
they would decide, which `tests/unit/tables/test_letters.py` searches for a text against.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.spaces.cell_facts import DATES, NUMBERS
from spinney.spaces.column import Column
from spinney.spaces.plain_values import EPOCH
from spinney.tables.notation import is_small, places_of

if TYPE_CHECKING:
    import polars as pl

Letters = NDArray[np.uint8]
Places = NDArray[np.int64]
#: Whole numbers of this many digits are floats, and so are powers of ten up to it: their quotient is rounded once.
DIGITS = 15
POWERS = 10.0 ** np.arange(DIGITS + 1)
ZERO, NINE, PLUS, MINUS, BLANK, UPPER_A, UPPER_Z, UPPER_T = b"09+- AZT"
#: From an upper to a lower letter.
TO_SMALL = 32
#: Which bytes are blanks, and which are no part of a number's ends; no sign has any of the others.
BLANKS = np.isin(np.arange(256), list(b"\t\n\v\f\r "))
BESIDE = ~np.isin(np.arange(256), list(b"0123456789+-,.'"))
MONTHS = np.array([int.from_bytes(name) for name in b"jan feb mar apr may jun jul aug sep oct nov dec".split()])
DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
PAST = np.array([*accumulate(DAYS.tolist(), initial=0)])
FEBRUARY = 2
#: Parts of dates, and their most letters.
PARTS, WIDTHS = ("YYYY", "YY", "MMM", "MM", "DD"), np.array([4, 2, 3, 2, 2])
YEAR, SHORT_YEAR, MONTH_NAME, MONTH, DAY = range(len(PARTS))
#: Short years from the second on are of the century before the first.
CENTURY, OLDEST_SHORT = 2000, 70
#: How a cell fits the notations so far.
FITS, FAILS, UNSURE = 1, 0, -1
#: Start and factor of a hash.
SEED, FACTOR = 1_469_598_103_934_665_603, 1_099_511_628_211


class NameTable(NamedTuple):
    """Public texts that are found by what they say: slots have their places in the list, or -1."""

    letters: Letters
    starts: Places
    slots: Places

    def places(self, letters: Letters, first: Places, last: Places, fold: bool = False) -> Places:
        """Return the place of each stretch among the names, one behind them all if it is blank, or less than 0."""
        found = np.empty(len(first), np.int64)
        find_names(letters, first, last, self, fold, found)
        return found


def decided(cells: pl.Series, column: Column) -> tuple[NDArray[np.float64], Places]:
    """Return cells of text, which may have blanks around them, as numbers, and the places of those that are left undecided."""
    letters, starts = _letters(cells)
    first, last, found = starts[:-1], starts[1:], np.full(len(cells), np.nan)
    if column.kind == "number":
        marks, signs = _facts(column)
        core = _without(letters, starts, BESIDE)
        sides = signs.places(letters, first, core[0]), signs.places(letters, core[1], last)
        fits = np.where((sides[0] < 0) | (sides[1] < 0), UNSURE, FAILS)
        for mark in marks:
            read_numbers(letters, *core, mark, found, fits)
        fits[(core[0] == core[1]) & (sides[0] == len(signs.starts) - 1)] = FITS
        return found, np.flatnonzero(fits != FITS)
    if column.kind == "date":
        core, fits = _without(letters, starts, BLANKS), np.full(len(cells), FAILS)
        for notation in _facts(column):
            read_days(letters, *core, notation, found, fits)
        fits[core[0] == core[1]] = FITS
        return found - (column.epoch or EPOCH).toordinal(), np.flatnonzero(fits != FITS)
    names, numbers = _facts(column)
    places = names.places(letters, first, last, is_small(column))
    return numbers[np.maximum(places, -1)], np.flatnonzero(places < 0)


def _letters(cells: pl.Series) -> tuple[Letters, Places]:
    """Return the bytes of cells, and where each begins and the last one ends; those without a text are empty."""
    import polars as pl

    column: Any = (cells.fill_null("") if cells.null_count() else cells).to_arrow(compat_level=pl.CompatLevel.oldest())
    _, places, letters = column.buffers()
    starts = np.frombuffer(places or bytes(8), np.int64)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(letters or b"", np.uint8), starts.copy()


def _without(letters: Letters, starts: Places, skipped: NDArray[np.bool_]) -> tuple[Places, Places]:
    """Return where cells begin and end if these bytes are skipped on both sides."""
    first, last = starts[:-1].copy(), starts[1:].copy()
    narrow(letters, first, last, skipped)
    return first, last


@lru_cache(maxsize=256)
def _facts(column: Column) -> Any:
    """Return what is public of a column as kernels take it."""
    if column.kind == "number":
        marks = [NUMBERS.fullmatch(notation) for notation in column.formats or ("1234.5",)]
        return [np.array([_code(one[1]), _code(one[2])]) for one in marks if one], _names(column.signs)
    if column.kind == "date":
        parts = [DATES.fullmatch(notation) for notation in column.formats]
        rows = [[_code(one[2]), 1 if one[2] else 2, *map(PARTS.index, one.group(1, 3, 4))] for one in parts if one]
        return [np.array(row) for row in [*rows, [MINUS, 2, YEAR, MONTH, DAY]]]
    places = places_of(column)
    return _names(places), np.array([*places.values(), np.nan])


def _code(mark: str) -> int:
    """Return the letter of a mark, or one that there is not."""
    return ord(mark) if mark else -1


def _names(texts: Iterable[str]) -> NameTable:
    words = [text.encode() for text in texts]
    starts = np.cumsum([0, *map(len, words)], dtype=np.int64)
    names = NameTable(np.frombuffer(b"".join(words), np.uint8), starts, np.full(1 << (2 * len(words)).bit_length(), -1))
    for word in range(len(words)):
        (free,) = names.places(names.letters, starts[word : word + 1], starts[word + 1 : word + 2])
        names.slots[-1 - free] = word
    return names


@compiled
def _is_digit(letter: int) -> bool:
    return ZERO <= letter <= NINE


@compiled
def _small(letter: int) -> int:
    return letter + TO_SMALL if UPPER_A <= letter <= UPPER_Z else letter


@compiled
def narrow(letters: Letters, first: Places, last: Places, skipped: Any) -> None:
    """Move where stretches begin and end inward over some bytes."""
    for row in range(len(first)):
        start, end = first[row], last[row]
        while start < end and skipped[letters[start]]:
            start += 1
        while start < end and skipped[letters[end - 1]]:
            end -= 1
        first[row], last[row] = start, end


@compiled
def find_names(letters: Letters, first: Places, last: Places, names: NameTable, fold: bool, found: Places) -> None:
    """Write the place of each stretch without blanks around it, or -1 less the slot that is free; upper letters are `fold`ed."""
    for row in range(len(found)):
        begin, end = first[row], last[row]
        while begin < end and BLANKS[letters[begin]]:
            begin += 1
        while begin < end and BLANKS[letters[end - 1]]:
            end -= 1
        if begin == end:
            found[row] = len(names.starts) - 1
            continue
        mark = SEED
        for place in range(begin, end):
            letter = _small(letters[place]) if fold else letters[place]
            mark = (mark ^ letter) * FACTOR
        slot = (mark ^ (mark >> 32)) & (len(names.slots) - 1)
        while names.slots[slot] >= 0:
            start = names.starts[names.slots[slot]]
            is_same = names.starts[names.slots[slot] + 1] - start == end - begin
            place = begin
            while is_same and place < end:
                letter = _small(letters[place]) if fold else letters[place]
                is_same = names.letters[start + place - begin] == letter
                place += 1
            if is_same:
                break
            slot = (slot + 1) & (len(names.slots) - 1)
        found[row] = names.slots[slot] if names.slots[slot] >= 0 else -1 - slot


@compiled
def read_numbers(letters: Letters, first: Places, last: Places, marks: Places, found: Any, fits: Any) -> None:
    """Write the numbers of stretches that fit a notation, and how they fit, where none before it did."""
    thousands, decimal = marks[0], marks[1]
    for row in range(len(found)):
        start, end = first[row], last[row]
        if fits[row] != FAILS or start == end:
            continue
        begin = start + 1 if letters[start] == MINUS or letters[start] == PLUS else start
        whole, groups, group, place, point = 0, 0, begin, begin, -1
        while place < end:
            letter = letters[place]
            if _is_digit(letter):
                whole = 10 * whole + (letter - ZERO)
            elif letter == decimal and point < 0:
                point = place
            elif letter == thousands and point < 0 and (place - group == 3 if groups else 1 <= place - group <= 3):
                groups += 1
                group = place + 1
            else:
                break
            place += 1
        stop = end if point < 0 else point
        if place < end or (groups and stop - group != 3):
            continue
        if stop == group or point == end - 1 or end - begin - groups - (point >= 0) > DIGITS:
            fits[row] = UNSURE
            continue
        number = whole / POWERS[end - 1 - point if point >= 0 else 0]
        found[row], fits[row] = -number if letters[start] == MINUS else number, FITS


@compiled
def _ordinal(year: int, month: int, day: int) -> Any:
    """Return the number of a day as dates of Python have it, or 0 if there is no such day."""
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= len(DAYS) or not 1 <= day <= DAYS[month - 1] + (is_leap and month == FEBRUARY):
        return 0
    before = year - 1
    return 365 * before + before // 4 - before // 100 + before // 400 + PAST[month - 1] + (is_leap and month > FEBRUARY) + day


@compiled
def read_days(letters: Letters, first: Places, last: Places, notation: Places, found: Any, fits: Any) -> None:
    """Write the days of stretches that fit a notation, as `read_numbers` does numbers."""
    mark, fewest = notation[0], notation[1]
    for row in range(len(found)):
        place, end = first[row], last[row]
        if fits[row] != FAILS:
            continue
        year, month, day, fit = 0, 0, 0, FITS
        for part in range(2, len(notation)):
            if part > 2 and mark >= 0:
                fit = fit if place < end and letters[place] == mark else FAILS
                place += 1
            kind = notation[part]
            number, begin, stop = 0, place, min(place + WIDTHS[kind], end)
            while place < stop and (_is_digit(letters[place]) != (kind == MONTH_NAME)):
                number = 256 * number + _small(letters[place]) if kind == MONTH_NAME else 10 * number + (letters[place] - ZERO)
                place += 1
            if fit == FAILS or place - begin < (fewest if kind in (MONTH, DAY) else WIDTHS[kind]):
                fit = FAILS
                break
            if kind == DAY:
                day = number
            elif kind == MONTH:
                month = number
            elif kind == MONTH_NAME:
                for name in range(len(MONTHS)):
                    month = name + 1 if MONTHS[name] == number else month
            else:
                year = number + (0 if kind == YEAR else CENTURY if number < OLDEST_SHORT else CENTURY - 100)
        if fit == FAILS or (place < end and letters[place] != BLANK and letters[place] != UPPER_T):
            continue
        for rest in range(place, end):
            fit = fit if letters[rest] >= BLANK else UNSURE
        ordinal = _ordinal(year, month, day)
        if fit == UNSURE or year == 0:
            fits[row] = UNSURE
        elif ordinal:
            found[row], fits[row] = ordinal, FITS
