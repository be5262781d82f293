"""Noise that was used twice: within a question, between questions, or between fits.

What was drawn less what it hides is the noise. Where slots are independent, a run of m slots equals another one with a
probability of at most p^m, with p the probability of the likeliest value of a slot. Runs are taken so long that chance repeats
none of all that are compared. One seed for two scales gives the same noise but for its size: first slots are compared in standard
scales too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spinney.audit.laws import cube_law, noise_law
from spinney.audit.recording import Transcript
from spinney.mechanisms.drawing import Drawn

#: For each law, and for each fit: a repetition is reported if its chance is below this.
CHANCE = 1e-12
#: Slots of a draw that are compared with all others and, in standard scales, draws of a fit.
MOST_SLOTS, FIRST_SLOTS, MOST_DRAWS = 2048, 32, 48

#: Distribution, scale, and columns of a slot.
Law = tuple[str, float, int]
Noise = NDArray[np.int64]


def _noise(event: Drawn) -> tuple[Law, Noise] | None:
    """Return the law and the noise of a draw, one row a slot; None if it does not follow from what left."""
    name = event.draw.distribution
    if name not in ("laplace", "gaussian", "cube", "ball") or not event.exact.size or not event.draw.scale:
        return None
    columns = event.exact.shape[1] if name in ("cube", "ball") else 1
    noise: Noise = (np.asarray(event.answer) - event.exact).reshape(-1, columns)[:MOST_SLOTS]
    return (name, event.draw.scale, columns), noise


def _log_likeliest(law: Law) -> float:
    """Return the logarithm of the probability of the likeliest value of a slot, or a little more."""
    name, scale, columns = law
    if name == "ball":  # the density in the middle; one of an even number of columns may be left out
        even = columns + columns % 2
        surface = math.log(2) + even / 2 * math.log(math.pi) + math.lgamma(even) - math.lgamma(even / 2)
        return min(0.0, (columns % 2) * math.log(2) - columns * math.log(scale) - surface)
    if scale > 1e4:  # sums over whole numbers are those over reals
        return {"laplace": -math.log(2 * scale), "gaussian": -math.log(2.5 * scale)}.get(name, -columns * math.log(2 * scale))
    return math.log(float(cube_law(scale, np.zeros(columns)) if name == "cube" else noise_law(name, scale, 0)))


def _repeats(law: Law, noises: Sequence[tuple[int, Drawn, Noise]]) -> Iterator[tuple[int, Drawn, int, Drawn]]:
    """Yield fits and draws whose noise of one law holds a long run of the noise of others, or of its own."""
    slots, each = sum(len(noise) for _, _, noise in noises), -_log_likeliest(law)
    run = math.ceil((2 * math.log(slots) - math.log(CHANCE)) / each) if each > 1e-3 else MOST_SLOTS + 1
    seen: dict[bytes, tuple[int, Drawn, int]] = {}
    for fit, event, noise in noises:
        if len(noise) > run and (noise == noise[0]).all():  # one number in every slot
            yield fit, event, fit, event
        for start in range(len(noise) - run + 1):
            one, other, before = seen.setdefault(noise[start : start + run].tobytes(), (fit, event, start))
            if other is not event or start - before >= run:
                yield one, other, fit, event
                break


def _is_scaled(first: tuple[Law, Noise], second: tuple[Law, Noise], compared: int) -> bool:
    """Whether the first slots of two draws are the same in standard scales, or mirrored, and not by chance."""
    ((_, scale, columns), narrow), ((_, wide_scale, _), wide) = sorted((first, second), key=lambda one: one[0][1])
    slots = min(len(narrow), len(wide), FIRST_SLOTS)
    each = _log_likeliest(first[0] if first[0][1] == scale else second[0]) + columns * math.log(5)
    if slots * each > math.log(CHANCE / (2 * compared)):
        return False
    there = wide[:slots] * (scale / wide_scale)  # both were rounded: two steps apart at most
    return any(np.abs(narrow[:slots] - sign * there).max() <= 2 for sign in (1, -1))


def _named(one: Drawn, other: Drawn, where: str) -> str:
    names = [repr(event.asked.charge.name) if event.asked else "nothing" for event in (one, other)]
    return f"the noise of {names[0]} is used again for {names[1]}{where}"


def repeated_noise(transcripts: Iterable[Transcript]) -> list[str]:
    """Return where noise is used twice, of fits that each drew noise of their own: none with a frozen source."""
    by_law, faults = defaultdict[Law, list[tuple[int, Drawn, Noise]]](list), dict[str, None]()
    for fit, transcript in enumerate(transcripts):
        found = [(event, *told) for event in transcript.draws if (told := _noise(event)) is not None]
        for event, law, noise in found:
            by_law[law].append((fit, event, noise))
        pairs = list(combinations(found[:MOST_DRAWS], 2))
        for (one, law, noise), (other, other_law, other_noise) in pairs:
            alike = (law[0], law[2]) == (other_law[0], other_law[2]) and law[1] != other_law[1]
            if alike and _is_scaled((law, noise), (other_law, other_noise), len(pairs)):
                faults[_named(one, other, ", in other scales")] = None
    for law, noises in by_law.items():
        for fit, one, other_fit, other in _repeats(law, noises):
            faults[_named(one, other, "" if fit == other_fit else ", in another fit")] = None
    return list(faults)
