"""May this release be published: every fault that is planted makes its own line say no, and nothing else does."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from spinney import Ledger, PrivateKMeans, read_release
from spinney.cli.main import main
from spinney.report import html_page
from spinney.report.approval.comparing import differing
from spinney.report.approval.policy import KEYS

SCHEMA = '[age]\nbounds = [0, {age}]\nunit = 10\n{source}\n[ward]\ncategories = ["a", "b"{more}]\nsource = "the wards"\n'
SOURCE = 'source = "life tables"'
POLICY = {
    "epsilon": 1, "delta": 0, "total_epsilon": 2, "unit": "row", "adjacency": "add-remove", "schema": "approved.toml",
    "sources": True, "signature": True, "plan": True, "page": True,
}  # fmt: skip
FILES = {"ledger": "stays.ledger", "key": "secret", "plan": "plan.txt", "page": "page.html"}


def run(*arguments):
    result = CliRunner().invoke(main, list(map(str, arguments)), catch_exceptions=False)
    return result.exit_code, result.output


def write_policy(folder, **changes):
    asked = {key: value for key, value in (POLICY | changes).items() if value is not None}
    (folder / "policy.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in asked.items()))


def check(folder, *more, **files):
    named = [part for name, file in (FILES | files).items() if file for part in (f"--{name}", folder / file)]
    return run("check", folder / "release.json", "--policy", folder / "policy.toml", *named, *more)


def refused(text):
    return re.findall(r"^([A-Z][a-z ]+): NO\. ", text, re.MULTILINE)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    rows = zip(rng.uniform(0, 80, 900), rng.choice(["a", "b"], 900), strict=True)
    (folder / "stays.csv").write_text("age,ward\n" + "".join(f"{age:.1f},{ward}\n" for age, ward in rows))
    (folder / "schema.toml").write_text(SCHEMA.format(age=110, source=SOURCE, more=""))
    (folder / "secret").write_bytes(bytes(range(32)))
    shared = ("--k", 3, "--epsilon", 1, "--schema", folder / "schema.toml")
    assert run("ledger", "open", folder / "stays.ledger", "--epsilon", 2)[0] == 0
    (folder / "plan.txt").write_text(run("plan", *shared)[1])
    told = run("fit", folder / "stays.csv", *shared, "--ledger", folder / "stays.ledger", "--out", folder / "release.json")
    assert told[0] == 0, told
    assert run("sign", folder / "release.json", "--key", folder / "secret")[0] == 0
    page = ("report", folder / "release.json", "--ledger", folder / "stays.ledger", "--name", 0, "the <old>", "--title", "Stays")
    assert run(*page, "--out", folder / "page.html")[0] == 0
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(made, tmp_path):
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "approved.toml").write_text(SCHEMA.format(age=120, source="", more=', "c"'))
    write_policy(tmp_path)
    return tmp_path


def test_a_release_that_keeps_to_its_policy_may_be_published(folder):
    code, text = check(folder)
    assert (code, refused(text)) == (0, []), text
    assert text.startswith("YES: release.json under policy.toml\n")
    assert "Promised: Yes. Epsilon 1 of at most 1; delta 0 of at most 0." in text
    for kind in (".html", ".md", ".txt"):
        assert check(folder, "--out", folder / f"answer{kind}")[0] == 0
        assert "YES" in (folder / f"answer{kind}").read_text()
    assert check(folder, "--out", folder / "answer.pdf")[0] == 2


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("epsilon", 0.9, ["Promised", "Spent"]), ("total_epsilon", 1.5, ["All releases together"]),
        ("unit", "group", ["Unit of privacy"]), ("adjacency", "replace", ["Unit of privacy"]), ("audit", True, ["Audit"]),
    ],
)  # fmt: skip
def test_a_policy_that_asks_for_more_says_no_in_its_line(folder, key, value, line):
    write_policy(folder, **{key: value})
    code, text = check(folder)
    assert (code, refused(text)) == (1, line), text
    assert text.startswith("NO: release.json")


@pytest.mark.parametrize(
    ("file", "line"), [("ledger", ["Ledger"]), ("key", ["Signature"]), ("plan", ["Plan"]), ("page", ["Page"])]
)
def test_what_is_asked_for_and_not_named_is_a_no(folder, file, line):
    assert refused(check(folder, **{file: None})[1]) == line
    write_policy(folder, **{{"ledger": "total_epsilon", "key": "signature"}.get(file, file): None})
    assert check(folder, **{file: None})[0] == 0


def edit(folder, name, before, after):
    text = (folder / name).read_text()
    assert before in text
    (folder / name).write_text(text.replace(before, after, 1))


@pytest.mark.parametrize(
    ("name", "before", "after", "line"),
    [
        ("approved.toml", "120", "100", "Bounds"), ("approved.toml", '"b", "c"', '"c"', "Bounds"),
        ("approved.toml", "[ward]", "[wards]", "Bounds"), ("plan.txt", "epsilon 1,", "epsilon 0.5,", "Plan"),
        ("plan.txt", "leaves", "others", "Plan"), ("plan.txt", "one row", "one group of at most 2 counted rows", "Plan"),
        ("plan.txt", "Promise", "Promised", "Plan"), ("plan.txt", "epsilon 1,", "epsilon 1.2.3,", "Plan"),
        ("page.html", "Someone", "Nobody", "Page"),
        ("page.html", "<main>", "<main>\n<p>All is well.</p>", "Page"), ("page.html", "<h2", "<h2 style='display:none'", "Page"),
        ("page.html", "</h1>", "</h1><script>1</script>", "Page"), ("page.html", "<main>", "<main>yes", "Page"),
        ("page.html", "<section", '<section class="hidden"', "Page"), ("page.html", 'data-h="age"', 'data-h="wage"', "Page"),
        ("page.html", "How to check it</h2>", "How to check it</h2>\n<p>Checked by all.</p>", "Page"),
        ("page.html", "Someone", 'Nobody <span class="name">or someone</span>', "Page"),
        ("page.html", "1 in 10 (10%)", '1 in 10 <span class="name">(9%)</span>', "Page"),
        ("page.html", "sha256:", "sha256:0", "Page"),
        ("page.html", "--ink:", "--ink:red;--i:", "Page"), ("page.html", "Promised: epsilon 1", "Promised: epsilon 0", "Page"),
        ("release.json", '"audit": "none"', '"audit": "all found well"', "Ledger; Signature; Page"),
        ("release.json", '"source": "life tables"', '"source": ""', "Ledger; Sources of the bounds; Signature; Page"),
        ("secret", "\x01", "\x02", "Signature"),
    ],
)  # fmt: skip
def test_each_planted_fault_makes_its_line_say_no(folder, name, before, after, line):
    edit(folder, name, before, after)
    code, text = check(folder)
    assert (code, "; ".join(refused(text))) == (1, line), text


def test_a_charge_that_was_edited_is_no_plan_and_no_arithmetic(folder):
    record = json.loads((folder / "release.json").read_text())
    record["charges"][0]["amount"] = "1/2"
    (folder / "release.json").write_text(json.dumps(record))
    assert {"Arithmetic", "Ledger", "Signature", "Plan", "Page"} <= set(refused(check(folder)[1]))


@pytest.mark.parametrize("name", ["ledger", "signature"])
def test_a_charge_is_not_taken_for_a_ledger_or_a_signature(folder, name):
    text = (folder / "release.json").read_text()
    (folder / "release.json").write_text(text.replace('"name": "sizes"', f'"name": "{name}"'))
    refusals = set(refused(check(folder, ledger=None, key=None)[1]))
    assert {"Arithmetic", "Ledger", "Signature", "Plan", "Page"} == refusals
    (folder / "release.json").write_text(
        text.replace('"name": "sizes"', f'"name": "{name}"').replace('"amount": "', '"amount": "1', 1)
    )
    assert "Arithmetic" in refused(check(folder, ledger=None, key=None)[1])


def test_an_audit_that_was_recorded_is_a_yes(folder):
    release = replace(read_release(folder / "release.json"), audit="replay: nothing found")
    release.to_json(folder / "release.json")
    write_policy(folder, audit=True, page=None, signature=None, total_epsilon=None)
    assert check(folder, ledger=None, key=None, page=None)[0] == 0


def test_groups_and_noise_without_secrecy_are_seen(folder):
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), max_rows_per_group=3)
    rows = np.random.default_rng(0).uniform(0, 1, (90, 2))
    model.fit(rows, groups=np.arange(90) // 2).release_.to_json(folder / "release.json")
    for most, code in ((3, 0), (2, 1)):
        (folder / "policy.toml").write_text(f'unit = "group"\nmax_rows_per_group = {most}\n')
        assert run("check", folder / "release.json", "--policy", folder / "policy.toml")[0] == code
    PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=1).fit(rows).release_.to_json(folder / "release.json")
    (folder / "policy.toml").write_text("epsilon = 1\n")
    code, text = run("check", folder / "release.json", "--policy", folder / "policy.toml")
    assert (code, refused(text)) == (1, ["Arithmetic", "Promised"]), text


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_validated_and_nothing_of_a_value_is_quoted(folder, key):
    write_policy(folder, **{key: ["private"]})
    code, text = check(folder)
    assert code == 3
    assert f"policy.toml: {key} must be " in text
    assert "private" not in text


def test_what_is_no_policy_is_said_plainly(folder):
    for content in ("", "age,ward\nprivate,b\n", "privately = 1\n", 'unit = "row"\nmax_rows_per_group = 2\n'):
        (folder / "policy.toml").write_text(content)
        code, text = check(folder)
        assert code == 3
        assert text.startswith("error: ")
        assert "private" not in text


def test_pages_of_all_kinds_are_those_of_their_releases(folder):
    release = read_release(folder / "release.json")
    names = {0: "<b>young</b>", 2: "old and far away, and very many"}
    for shown in ({}, {"title": "A & B"}, {"names": names}, {"ledger": Ledger(folder / "stays.ledger"), "names": names}):
        assert differing(html_page(release, **shown), release) == []
        parts = html_page(release, **shown).split("<section")
        for cut in range(1, len(parts)):  # a part that is taken out is missed
            assert differing("<section".join(parts[:cut] + parts[cut + 1 :]), release) != []
    assert differing("", release) == ["its frame"]
    other = replace(release, sizes=release.sizes + 1)
    assert differing(html_page(other), release) != []
