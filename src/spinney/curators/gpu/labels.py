"""Nearest centers of points that lie on a device and are not private: free post-processing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.entrance import RAW
from spinney.curators.gpu.chunks import Resident
from spinney.curators.gpu.device import opened_device
from spinney.curators.gpu.rows import array_rows
from spinney.curators.gpu.slab import Search, Slab
from spinney.spaces import Domain, FloatArray, door, scale_centers
from spinney.spaces.nearest import far_ends


def nearest_on_device(points: Any, centers: FloatArray, domain: Domain) -> NDArray[np.int32]:
    """Return the index of each point's nearest center; one with a missing or infinite value lies in the middle of the domain."""
    array_rows(points)  # checks
    device, d, entrance = opened_device(), domain.n_features, door(domain, nan_to_center=True)
    slab, search = Slab(device, d), Search(device, scale_centers(centers), far_ends(d))
    found = np.empty(len(points), np.int32)
    for start, rows in Resident(device, points):
        slab.load(rows)
        slab.enter(entrance, RAW, None)
        slab.find(search, slab.labels)
        found[start : start + len(rows)] = device.get(slab.labels[: len(rows)])
    slab.drop()
    device.free()
    return found
