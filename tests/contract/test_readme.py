import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def python_blocks(text):
    return re.findall(r"^```(?:python|py)\b[^\n]*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def run_blocks(blocks, title):
    """Run blocks one after the other in one namespace, as a reader would."""
    namespace = {"__name__": "__main__"}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"{title} block {number}", "exec"), namespace)
    return namespace


def test_blocks_are_found_and_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "# x\n```python\na = 1\n```\n```bash\nfalse\n```\n```py title\nb = a + 1\nopen('written', 'w').close()\n```\n"
    assert run_blocks(python_blocks(text), "sample")["b"] == 2
    assert (tmp_path / "written").exists()
    with pytest.raises(ZeroDivisionError):
        run_blocks(python_blocks("```python\n1 / 0\n```\n"), "sample")


def test_readme_examples_run(tmp_path, monkeypatch):
    blocks = python_blocks(README.read_text(encoding="utf-8"))
    if not blocks:
        pytest.skip("README.md has no Python blocks yet")
    monkeypatch.chdir(tmp_path)
    run_blocks(blocks, "README.md")


@pytest.mark.parametrize(("page", "most"), [("README.md", 900), ("ARCHITECTURE.md", 2_500)])
def test_the_first_pages_are_short(page, most):
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= most


def test_each_version_in_the_changelog_is_short():
    versions = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert max(len(version.split()) for version in versions) <= 1_200
