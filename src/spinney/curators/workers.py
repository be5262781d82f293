"""Whether the workers of a Spark cluster have this package: asked once, before anything is charged and without a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from spinney._version import __version__
from spinney.curators.spark import muted_loggers
from spinney.exceptions import ParameterError

#: Most tasks that look, on as many workers as they happen to reach.
MOST_TASKS = 64
#: Contexts whose workers were seen to have it.
_CHECKED: WeakSet[Any] = WeakSet()

_HINT = (
    "workers run the Python that PYSPARK_PYTHON names when the session starts: set it to the one with spinney (on this "
    "machine sys.executable). On a cluster install the same version of spinney on every executor, or ship an environment that "
    "has it with spark.archives."
)


def _probe() -> Callable[[Any], str]:
    """Return what a task does: say its version of this package, or nothing if it cannot be imported.

    It is a function in a function, which travels by value: by its name it would need the package to be found.
    """

    def version(_: Any) -> str:
        try:
            import spinney.curators.spark  # with all that it needs
            from spinney._version import __version__ as found
        except ImportError:
            return ""
        return str(found) if spinney else ""

    return version


def check_workers(context: Any) -> None:
    """Raise unless the workers of a SparkContext have this version of this package; asked once per context.

    Parameters
    ----------
    context : pyspark.SparkContext
    """
    if context in _CHECKED:
        return
    count = max(1, min(context.defaultParallelism, MOST_TASKS))
    found: set[str] | None = None
    try:
        with muted_loggers():
            found = set(context.parallelize(range(count), count).map(_probe()).collect())
    except Exception:
        pass  # Spark's log says why
    if found is None:
        raise ParameterError("Spark's Python workers do not start; its log says why. Nothing was charged.", _HINT)
    if "" in found:
        raise ParameterError("Spark's Python workers cannot import spinney. Nothing was charged.", _HINT)
    if found != {__version__}:
        raise ParameterError("Spark's Python workers have another version of spinney. Nothing was charged.", _HINT)
    _CHECKED.add(context)
