"""What errors say on the command line: options, where Python has parameters."""

from __future__ import annotations

import re

__all__ = ["in_options"]

#: What a parameter is called here.
OPTIONS = {
    "adjacency": "--adjacency",
    "algorithm": "--algorithm",
    "bins": "--bins",
    "bounds": "--bounds",
    "columns": "--columns",
    "delta": "--delta",
    "epsilon": "--epsilon",
    "existing_sites": "--existing",
    "groups": "--groups",
    "lower": "--bounds",
    "max_clusters": "--max-k",
    "max_rows_per_group": "--max-rows-per-group",
    "model": "--model",
    "n_clusters": "--k",
    "n_features": "--n-features",
    "n_guess": "--n-guess",
    "power": "--power",
    "scale": "--scale",
    "title": "--title",
    "upper": "--bounds",
}
#: What must be, in words that mean nothing here.
EXPECTED = (
    ("an int in [1, inf) if fit gets groups, and None if it gets none", "an int in [1, inf)"),
    ("None or an int", "an int"),
    ("None if n_clusters is not 'auto'", "left out unless --k is auto"),
    (", or an algorithm", ""),
)
#: Hints that are only for Python, and what to do here.
HINTS = (
    ("max_rows_per_group=10 with fit(X, groups=table['person'])", "--groups person --max-rows-per-group 10"),
    (
        "columns=['income', 'region'], bounds={'income': (0, 200_000), 'region': ['north', 'south']}",
        '--schema FILE with {"income": [0, 200000], "region": ["north", "south"]}',
    ),
    ("None protects single rows", "without it single rows are protected"),
    ("for example Box(-1, 1)", "for example --bounds -1 1"),
    ("Ledger(path, epsilon=...) or 'spinney ledger open' makes one", "'spinney ledger open' makes one"),
    ("give a finite epsilon, and leave noise_seed out", "give a finite --epsilon"),
    ("write it with release.to_json(path)", "name a file that 'spinney fit' or 'spinney sites' wrote"),
    ("largest_part=True", "--largest-part"),
    (
        "scale={'age': 10, 'income': 20_000}: ten years weigh as much as 20,000",
        'a schema file may say units: {"age": {"bounds": [0, 110], "unit": 10}}',
    ),
    ("columns=['age', ...] or bounds={'age': (0, 110), ...} names the others", "--columns names the others"),
    ("its first line must name its columns", "its first line must name its columns; see --demand-column and --groups"),
    (
        "give bounds=(low, high) for all columns, and no names of columns or groups",
        "give --bounds LO HI alone, without --bounds-file, --columns or --groups",
    ),
    (
        "tables are for PrivateKMeans, sites for PrivateKMedoids, users for model='local'",
        "'spinney fit' is for tables, 'spinney sites' for sites",
    ),
    ("give an array or a frame; spinney.local asks devices", "simulate fewer rows; 'spinney local' asks devices"),
    (
        "'spinney schema' writes one to fill in, from the names of a table's columns",
        "'spinney schema TABLE --out FILE' writes one to fill in",
    ),
    ("choose the sites in a space with coordinates", "choose the sites with --coordinates, or from --points"),
    ("write it again with to_json", "name a file that 'spinney fit' or 'spinney sites' wrote"),
)
_FORMULA = re.compile(r"^The '(\w+)' parameter of [\w. ]+? must be (.*)$", re.DOTALL)
_SETTING = re.compile(r"\b(\w+)=('[^']*'|[^\s;,']*[^\s;,.'])")


def _setting(found: re.Match[str]) -> str:
    option = OPTIONS.get(found[1])
    return found[0] if option is None else f"{option} {found[2].strip(chr(39))}"


def in_options(message: str) -> str:
    """Return an error's message with options for parameters; what a user typed, before the hint, stays as it is."""
    said, mark, hint = message.partition("\nHint: ")
    formula = _FORMULA.match(said)
    if formula is not None and formula[1] in OPTIONS:
        must = formula[2]
        for python, here in EXPECTED:
            must = must.replace(python, here, 1)
        said = f"{OPTIONS[formula[1]]} must be {must}"
    for python, here in HINTS:
        hint = hint.replace(python, here)
    return said + mark + _SETTING.sub(_setting, hint)
