"""Public points by longitude and latitude: great circles on a sphere, in meters.

Points are kept as vectors of the sphere's radius. The straight line between two of them says how long the arc is, without the
loss of the cosine formula for points close together; it is the haversine formula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.spaces.box import FloatArray
from spinney.spaces.distances import IntArray, wrong

#: The mean radius of the Earth in meters (IUGG).
RADIUS = 6_371_008.8
#: Largest longitude and latitude that are read; some tables count longitudes to 360.
LARGEST = 360.0, 90.0


def are_positions(degrees: FloatArray) -> NDArray[np.bool_]:
    """Return which rows are a longitude and a latitude on the globe."""
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(degrees) <= LARGEST).all(axis=1))


def on_globe(name: str, degrees: FloatArray) -> FloatArray:
    """Return public longitudes and latitudes after a check."""
    if degrees.shape[1] != 2 or not are_positions(degrees).all():
        raise wrong(name, "longitudes and latitudes", degrees, "degrees, longitude before latitude.")
    return degrees


def on_sphere(degrees: FloatArray) -> FloatArray:
    """Return longitudes and latitudes as vectors from the middle of the Earth, in meters."""
    out = np.empty((len(degrees), 3))
    _turn(np.ascontiguousarray(degrees, dtype=np.float64), out)
    return out


@compiled
def _turn(degrees, out):  # type: ignore[no-untyped-def]
    for i in range(degrees.shape[0]):  # one by one, so that no position has another last bit beside others
        longitude, latitude = degrees[i, 0] * np.pi / 180, degrees[i, 1] * np.pi / 180
        out[i, 0] = RADIUS * np.cos(latitude) * np.cos(longitude)
        out[i, 1] = RADIUS * np.cos(latitude) * np.sin(longitude)
        out[i, 2] = RADIUS * np.sin(latitude)


def chord(meters: float) -> float:
    """Return how long the straight line under an arc is; no arc is longer than half a great circle."""
    return float(2 * RADIUS * np.sin(min(meters / (2 * RADIUS), np.pi / 2)))


@compiled
def to_arcs(lines):  # type: ignore[no-untyped-def]
    """Replace the lengths of straight lines by those of the arcs above them, one by one."""
    for i in range(lines.shape[0]):
        for j in range(lines.shape[1]):
            lines[i, j] = 2 * RADIUS * np.arcsin(min(1.0, lines[i, j] / (2 * RADIUS)))


@dataclass(frozen=True, eq=False)
class Sphere:
    """Points on the globe, as vectors in meters."""

    points: FloatArray

    def fill(self, sources: IntArray, targets: IntArray, out: FloatArray) -> None:
        """Write the distances from sources to targets."""
        from spinney.spaces.pairwise import pairwise

        pairwise(self.points, sources, targets, False, out)
        to_arcs(out)
