"""The ways of rows, paths, demand and epsilon through the house are as short as ARCHITECTURE.md says, and shorter than before."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_ways_of_values_are_those_of_the_architecture_page():
    done = subprocess.run([sys.executable, "-m", "tools.ways"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = {name.split()[0]: int(files) for name, files in re.findall(r"^(.+), now: (\d+) files", done.stdout, re.M)}
    rows = re.findall(
        r"^\| (`X` in memory|a Parquet path|demand|`epsilon`) \| (\d+) \| (\d+) \|", (ROOT / "ARCHITECTURE.md").read_text(), re.M
    )
    said = {name.strip("`").split("`")[0].split()[0]: (int(before), int(now)) for name, before, now in rows}
    assert {name: now for name, (_, now) in said.items()} == found
    assert all(now < before for before, now in said.values())
