"""What planners ask of sites, as options of ``spinney sites``."""

from __future__ import annotations

from typing import Any

import click

from spinney.cli.options import FILE
from spinney.exceptions import ParameterError

#: The options by which goals are typed.
GOAL_OPTIONS = (
    click.option("--max-k", "max_clusters", type=int, default=None, help="With --k auto: the most sites; 20 by default."),
    click.option("--limit", type=float, default=None, help="Rows that a site can serve at most."),
    click.option("--within", type=float, default=None, help="Serve as many rows as can be within this distance of a site."),
    click.option("--share", type=float, default=None, help="With --within and --k auto: fewest sites that serve this share."),
    click.option("--all-but", type=float, default=None, help="Make the longest distance short, but for this share of rows."),
    click.option("--opening-cost", type=float, default=None, help="With --k auto: what a site costs, in rows times distance."),
    click.option("--weights", type=FILE, default=None, help="How much a row at each point counts: columns name, weight."),
)


def goal_of(options: dict[str, Any]) -> Any:
    """Take the options that make a goal out of all options, and return it; None if there is none."""
    from spinney.solvers.goals import Capacities, Farthest, OpeningCosts, WithinReach

    typed = {name: options.pop(name) for name in ("limit", "within", "share", "all_but", "opening_cost")}
    given = {name: value for name, value in typed.items() if value is not None}
    if "share" in given and "within" not in given:
        raise ParameterError("--share needs --within.", "--within DISTANCE says how far a site reaches.")
    share = given.pop("share", None)
    if len(given) > 1:
        one, other, *_ = (f"--{name.replace('_', '-')}" for name in given)
        raise ParameterError(f"{one} and {other} are two goals.", "give one of them.")
    made = {
        "limit": Capacities, "within": lambda value: WithinReach(value, share), "all_but": Farthest, "opening_cost": OpeningCosts,
    }  # fmt: skip
    return next((made[name](value) for name, value in given.items()), None)
