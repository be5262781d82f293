"""Where privacy noise comes from.

The secure source is exact samplers over the operating system's entropy: our own of numbers, balls and cubes, each of whose bytes
the operating system delivers, and OpenDP's of the largest noisy score, from a generator inside of it (OpenSSL's) that the
operating system seeds. The seeded source exists for tests and demos; whoever knows the seed can subtract the noise.
"""

from __future__ import annotations

import secrets
import warnings
from typing import Any

import numpy as np

from spinney.exceptions import SeededNoiseWarning
from spinney.mechanisms.balls import add_balls
from spinney.mechanisms.cubes import add_cubes, wide_geometric
from spinney.mechanisms.drawing import Draw, NoiseSource
from spinney.mechanisms.exact import add_exact
from spinney.mechanisms.randomizers import Responses, responses
from spinney.privacy import Randomness, remembered
from spinney.spaces import IntArray


@remembered(256)
def _noisy_max(scale: float) -> Any:
    """Build an OpenDP measurement; its samplers are exact rational arithmetic, so `scale` is taken as it stands."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import zero_concentrated_divergence
    from opendp.metrics import linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    domain = vector_domain(atom_domain(T="i64"))
    return make_noisy_max(domain, linf_distance(T="i64"), zero_concentrated_divergence(), scale=scale)


class Sampler:
    """Has a method for each distribution."""

    def draw(self, values: IntArray, draw: Draw) -> Any:
        """Return values with noise, or the winner among scores."""
        name = {"gumbel": "select"}.get(draw.distribution, draw.distribution)
        return getattr(self, name)(values, draw.rule if name == "responses" else draw.scale)


class SecureSource(Sampler):
    """Exact noise from the operating system's entropy."""

    statement = Randomness.SECURE

    def laplace(self, values: IntArray, scale: float) -> IntArray:
        return add_exact(values, scale, False, secrets.token_bytes)

    def gaussian(self, values: IntArray, scale: float) -> IntArray:
        return add_exact(values, scale, True, secrets.token_bytes)

    def cube(self, values: IntArray, scale: float) -> IntArray:
        def geometric(narrow: float, count: int) -> list[int]:
            """Draw geometric numbers: discrete Laplace noise that is not negative."""
            found: list[int] = []
            while len(found) < count:
                draws = self.laplace(np.zeros(2 * (count - len(found)) + 8, dtype=np.int64), narrow)
                found += draws[draws >= 0].tolist()
            return found[:count]

        return add_cubes(values, lambda count: wide_geometric(scale, count, geometric, secrets.randbelow), secrets.randbelow)

    def ball(self, values: IntArray, scale: float) -> IntArray:
        return add_balls(values, scale, secrets.randbits)

    def select(self, scores: IntArray, scale: float) -> int:
        return int(_noisy_max(scale)(np.ascontiguousarray(scores)))

    def responses(self, values: IntArray, rule: Responses) -> IntArray:
        return responses(values, rule, secrets.token_bytes)

    def key(self) -> bytes:
        return secrets.token_bytes(16)


class SeededSource(Sampler):
    """Reproducible noise of the same distributions: not private."""

    statement = Randomness.SEEDED

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def laplace(self, values: IntArray, scale: float) -> IntArray:
        p = -np.expm1(-1.0 / scale)
        first, second = self._rng.geometric(p, (2, values.size))
        return np.asarray((values.ravel() + first - second).reshape(values.shape))

    def gaussian(self, values: IntArray, scale: float) -> IntArray:
        """Add discrete Gaussian noise of this standard parameter to every value, by rejection from discrete Laplace."""
        noise = np.zeros(values.size, dtype=np.int64)
        width = np.floor(scale) + 1.0
        missing = np.arange(values.size)
        while missing.size:
            draw = self.laplace(np.zeros(missing.size, dtype=np.int64), width)
            accept = np.exp(-((np.abs(draw) - scale**2 / width) ** 2) / (2 * scale**2))
            taken = self._rng.random(missing.size) < accept
            noise[missing[taken]] = draw[taken]
            missing = missing[~taken]
        return (values.ravel() + noise).reshape(values.shape)

    def cube(self, values: IntArray, scale: float) -> IntArray:
        return add_cubes(
            values,
            lambda count: [int(one) for one in self._rng.exponential(scale, count)],  # rounded down, it is geometric
            lambda bound: int.from_bytes(self._rng.bytes(16)) % bound,
        )

    def ball(self, values: IntArray, scale: float) -> IntArray:
        return add_balls(values, scale, lambda bits: int.from_bytes(self._rng.bytes(-(-bits // 8))) >> (-bits % 8))

    def select(self, scores: IntArray, scale: float) -> int:
        return int(np.argmax(scores + self._rng.gumbel(0.0, scale, scores.size)))

    def responses(self, values: IntArray, rule: Responses) -> IntArray:
        return responses(values, rule, self._rng.bytes)

    def key(self) -> bytes:
        return self._rng.bytes(16)


def noise_source(noise_seed: int | None) -> NoiseSource:
    """Return the secure source, or a seeded one with a warning."""
    if noise_seed is None:
        return SecureSource()
    warnings.warn(
        "noise_seed makes the privacy noise reproducible: the result is NOT private. Remove noise_seed for real data.",
        SeededNoiseWarning,
        stacklevel=2,
    )
    return SeededSource(noise_seed)
