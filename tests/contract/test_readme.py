import re

import pytest

from contract.test_docs import ROOT, run_page


def test_readme_examples_run(tmp_path, monkeypatch):
    blocks = re.findall(r"^```python\n.*?^```$", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert blocks
    monkeypatch.chdir(tmp_path)
    run_page("\n".join(blocks), "README.md")


@pytest.mark.parametrize(("page", "most"), [("README.md", 900), ("ARCHITECTURE.md", 2_500)])
def test_the_first_pages_are_short(page, most):
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= most


def test_each_version_in_the_changelog_is_short():
    versions = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert max(len(version.split()) for version in versions) <= 1_200
