"""Whether the workers of a Spark cluster have this package: asked once, before anything is charged and without a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from spinney._version import __version__
from spinney.curators.spark.session import answered
from spinney.exceptions import ParameterError

#: Most tasks that look, on as many workers as they happen to reach.
MOST_TASKS = 64
#: Sessions whose workers were seen to have it.
_CHECKED: WeakSet[Any] = WeakSet()

_HINT = (
    "workers run the Python that PYSPARK_PYTHON names when the session starts: set it to the one with spinney (on this "
    "machine sys.executable). On a cluster install the same version of spinney on every executor, or ship an environment that "
    "has it, and pyarrow, with spark.archives."
)


def _probe() -> Callable[[Any], Any]:
    """Return what a task does: say its version of this package, or nothing if it cannot be imported.

    It is a function in a function, which travels by value: by its name it would need the package to be found.
    """

    def version(batches: Any) -> Any:
        import pyarrow as pa

        for _ in batches:
            pass
        try:
            import spinney.curators.spark.backend  # noqa: F401  (with all that it needs)
            from spinney._version import __version__ as found
        except ImportError:
            found = ""
        yield pa.RecordBatch.from_pydict({"version": [found]})

    return version


def check_workers(session: Any) -> None:
    """Raise unless the workers of a session have this version of this package; asked once per session."""
    if session in _CHECKED:
        return
    dead = ParameterError("Spark's Python workers do not start; its log says why. Nothing was charged.", _HINT)
    tasks = session.range(MOST_TASKS).coalesce(MOST_TASKS)  # as many as run at a time, if they are no more
    found = {row[0] for row in answered(lambda: tasks.mapInArrow(_probe(), "version string").collect(), dead)}
    if "" in found:
        raise ParameterError("Spark's Python workers cannot import spinney. Nothing was charged.", _HINT)
    if found != {__version__}:
        raise ParameterError("Spark's Python workers have another version of spinney. Nothing was charged.", _HINT)
    _CHECKED.add(session)
