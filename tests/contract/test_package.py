"""What packages Spinney says the same as its metadata: conda recipe, workflow, image."""

import re
import tomllib
from pathlib import Path

import spinney

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_recipe_needs_what_the_metadata_needs():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{spinney.__version__}"' in recipe
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    needed = {line.strip("- ").replace(" ", "") for line in run.splitlines()}
    own = {one for one in PROJECT["dependencies"] if not one.startswith("opendp")}
    assert needed == own | {f"python{PROJECT['requires-python']}"}
    (opendp,) = (one for one in PROJECT["dependencies"] if one.startswith("opendp"))
    assert opendp in recipe  # as a command for pip: it is not on conda-forge


def test_the_workflow_tries_every_declared_python_on_every_system():
    workflow = (ROOT / ".github" / "workflows" / "package.yml").read_text(encoding="utf-8")
    declared = set(re.findall(r"Python :: (3\.\d+)", str(PROJECT["classifiers"])))
    for tried in re.findall(r"python: \[(.*)\]", workflow):
        assert declared <= set(re.findall(r"3\.\d+", tried))
    for systems in re.findall(r"os: \[(.*)\]", workflow):
        assert systems == "ubuntu-latest, macos-latest, windows-latest"


def test_the_distribution_has_a_name_of_its_own_and_types():
    assert PROJECT["name"] == "spinney-dp"
    assert (Path(spinney.__file__).parent / "py.typed").is_file()
    extras = {one for needs in PROJECT["optional-dependencies"].values() for one in needs if one.startswith("spinney")}
    assert all(one.startswith("spinney-dp[") for one in extras)
