"""How much memory there is: what a table may take of it is a share."""

from __future__ import annotations

import os
from pathlib import Path

#: Where a container says how much memory it may use.
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
#: What a system that does not say is taken to have.
USUAL_MEMORY = 2**33


def memory_bytes() -> int:
    """Return how much memory this machine, or this container, has."""
    try:
        sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, OSError, ValueError):
        sizes = [USUAL_MEMORY]
    for path in LIMITS:
        try:
            sizes.append(int(path.read_text()))
        except (OSError, ValueError):  # no container, or one without a limit
            continue
    return min(size for size in sizes if size > 0)
