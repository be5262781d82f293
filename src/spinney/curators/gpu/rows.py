"""Rows that are worked on by a device: an array that lies there, or rows that are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from spinney.curators.files import FileRows
from spinney.curators.gpu.backend import CudaBackend
from spinney.curators.gpu.chunks import SHARE, HostBatches, Resident, Sent, chunk_bytes
from spinney.curators.gpu.device import Device, opened_device
from spinney.curators.gpu.slab import Slab
from spinney.curators.memory import ArrayRows
from spinney.curators.rows import Rows
from spinney.exceptions import ParameterError
from spinney.privacy import Unit
from spinney.questions.ground import Ground
from spinney.tables.arrow_streams import is_a
from spinney.tables.cells import check_groups
from spinney.tables.streams import Batches

#: Kinds of numbers that rows on a device may have.
KINDS = "fiub"


@dataclass(frozen=True, eq=False, repr=False)
class CudaRows(Rows):
    """Rows that a device works on. The batches are the same rows in host memory; an array of the device is not copied there."""

    device: Device
    nonprivate_batches: Batches
    columns: tuple[str, ...] | None = None
    is_resident: bool = False

    place = "cuda"

    def __post_init__(self) -> None:
        for name in ("n_features", "has_groups"):
            object.__setattr__(self, name, getattr(self.nonprivate_batches, name))
        if chunk_bytes(self.n_features) > self.device.memory:
            raise ParameterError("The device has too little memory for rows of this many columns.", "leave device out.")

    @contextmanager
    def opened(self, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> Iterator[CudaBackend]:
        batches = self.nonprivate_batches
        room = int(SHARE * (self.device.memory - chunk_bytes(self.n_features)))
        if self.is_resident and isinstance(batches, HostBatches):
            chunks: Resident | Sent = Resident(self.device, batches.nonprivate_array)
        else:
            chunks = Sent(self.device, batches, room)
        slab = Slab(self.device, self.n_features)
        try:
            yield CudaBackend(self.device, slab, chunks, batches, ground, unit, key)
        finally:
            chunks.drop()
            slab.drop()
            self.device.free()


def is_of_device(kind: type) -> bool:
    """Whether this is the class of CuPy's arrays; if that was never imported, nothing is."""
    return is_a(kind, "cupy", "ndarray")


def array_rows(array: Any, columns: tuple[str, ...] | None = None, groups: Any = None) -> CudaRows:
    """Return the rows of an array of a device; it has no names of columns."""
    if columns is not None:
        raise ParameterError("Bounds name columns, and X has no names of columns.", "give bounds=(lower, upper).")
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in KINDS:
        raise ParameterError("An array on a device must be a table of numbers.", "of two dimensions and real numbers.")
    groups = groups.get() if isinstance(groups, type(array)) else groups
    check_groups(groups, len(array))
    return CudaRows(opened_device(), HostBatches(array, groups), None, True)


def on_device(rows: Rows) -> CudaRows:
    """Return rows in host memory, in a file or a stream as rows that are sent to the device."""
    if isinstance(rows, CudaRows):
        return rows
    if isinstance(rows, ArrayRows):
        return CudaRows(opened_device(), HostBatches(rows.nonprivate_array, rows.nonprivate_groups), rows.columns)
    if isinstance(rows, FileRows):
        return CudaRows(opened_device(), rows.nonprivate_batches, rows.columns)
    raise ParameterError(f"Rows of the kind {rows.place!r} cannot be sent to a device.", "leave device out.")
