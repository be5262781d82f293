"""The names of all algorithms, by what they solve: those of the registry, and the baselines, which are entry points."""

from importlib.metadata import entry_points

from spinney.algorithms.registry import GROUP, HOMES

BASELINES = {point.name for point in entry_points(group=GROUP) if point.value.startswith("spinney.baselines.")}
assert BASELINES, "the installed package is older than its entry points: make setup"
REGISTERED = {solves: sorted({*homes, *(BASELINES if solves == "points" else ())}) for solves, homes in HOMES.items()}
