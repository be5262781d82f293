"""Reports: nothing of a release becomes markup, nothing comes from outside, and limits are told to the safe side."""

import itertools
import json
import os
import re
from dataclasses import replace
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import DataError, FiniteMetric, Ledger, ParameterError, PrivateKMeans, PrivateKMedoids, read_release, verify
from spinney.cli.main import main
from spinney.report import cost_curve, html_page, markdown_page, write_report
from spinney.report.publication.document import LETTERS, clean
from spinney.report.publication.odds import GUESSES, chance_words, percent_words
from spinney.report.publication.printing import print_pdf
from spinney.report.publication.scales import across, upward, wide
from spinney.spaces.column import Column
from tests.unit.report.drawn import Reader
from tools.page import HOSTILE, largest

STORED = sorted(path for path in (Path(__file__).parents[2] / "stored").glob("*/*.json") if path.stem != "expected")
ROWS = np.random.default_rng(0).uniform(0, 1, (400, 3))
STYLE = Path(html_page.__code__.co_filename).with_name("style.css").read_text(encoding="utf-8")


def check(page):
    """Check what holds for every page, and return it as read."""
    read = Reader(page)
    assert not {"script", "iframe", "object", "embed", "img", "form", "base", "a", "image", "use"} & set(read.tags)
    for tag, name, value in read.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "srcset", "xlink:href", "action", "background"), (tag, name)
        assert name != "href" or value == "data:,"
        assert "url(" not in (value or "")
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    levels = [int(tag[1]) for tag in read.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
    assert ("html", "lang", "en") in read.attributes
    assert sum(name == "scope" for _, name, _ in read.attributes) == read.tags.count("th")
    drawn = {("svg", "role", "img"), ("svg", "aria-hidden", "true")}
    assert sum(one in drawn for one in read.attributes) == read.tags.count("svg")
    identities = [value for _, name, value in read.attributes if name == "id"]
    assert len(identities) == len(set(identities))
    named = [one for _, name, value in read.attributes if name == "aria-labelledby" for one in value.split()]
    assert set(named) <= set(identities)
    return read


@pytest.fixture(scope="module")
def release():
    return PrivateKMeans(3, epsilon=1.0, bounds=(0, 1), random_state=0).fit(np.repeat(ROWS, 5, axis=0)).release_


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
@pytest.mark.matrix
def test_every_stored_release_has_a_page(path):
    release = read_release(path)
    page = html_page(release, verification=verify(path))
    check(page)
    assert ("NOT PRIVATE" in page) == (not release.is_private)
    assert ("NOT PRIVATE" in markdown_page(release)) == (not release.is_private)
    assert release.statement in page or not release.is_private
    assert page == html_page(read_release(path), verification=verify(path))
    assert "CHECK FAILED" not in page


def test_a_release_of_this_version_has_all_sections(release, tmp_path):
    page = html_page(release, curve=cost_curve(release, 4), ledger=Ledger(tmp_path / "other", epsilon=2))
    read = check(page)
    for title in ("What is promised", "What was found", "Pairs of columns", "How many clusters", "How to check it"):
        assert title in read.texts
    assert release.digest in read.texts
    assert "is at most 73.2% sure after reading this release" in page
    assert "Not in this ledger" in page
    assert read.tags.count("figure") == 4


@settings(max_examples=20, deadline=None)
@given(
    names=st.lists(
        st.one_of(st.text(max_size=60), st.sampled_from([HOSTILE, "]]>", "--><b>", "a|b", "\ud800", "&#x3c;b>"])),
        min_size=3,
        max_size=3,
    )
)
def test_names_stay_texts(release, names):
    plain, read = check(html_page(release)), check(html_page(replace(release, feature_names=tuple(names))))
    assert read.tags == plain.tags
    for name in names:
        assert (clean(name, LETTERS) or "(no name)") in read.texts
    told = markdown_page(replace(release, feature_names=tuple(names)))
    assert not re.search(r"(?<!\\)[<`]|(?<!\\)!\[", told)
    lines = [line for line in told.splitlines() if line.startswith("| ")]
    assert len(lines) == len([line for line in markdown_page(release).splitlines() if line.startswith("| ")])


def test_texts_of_every_field_are_escaped(release):
    harm = replace(
        release, algorithm=HOSTILE, objective=HOSTILE, version=HOSTILE, model=f"{HOSTILE}: {HOSTILE}",
        preprocessing=HOSTILE, audit=HOSTILE, k_source=HOSTILE,
        made=dict.fromkeys(("date", "ledger", "entry"), HOSTILE), format=HOSTILE,
        charges=tuple(replace(charge, name=f"{HOSTILE}{i}", question=HOSTILE) for i, charge in enumerate(release.charges)),
    )  # fmt: skip
    assert check(html_page(harm, title=HOSTILE[:-1])).tags.count("h2") == 8
    with pytest.raises(ValueError, match="must be a Randomness"):
        replace(harm, noise=HOSTILE)
    space = FiniteMetric.from_points(ROWS[:9, :2], candidates=[1, 2])
    sites = PrivateKMedoids(2, epsilon=1.0, space=space, algorithm="hst").fit(np.arange(9)).release_
    named = replace(sites, names=(HOSTILE, "b"), space={**sites.space, "kind": HOSTILE})
    assert clean(HOSTILE, LETTERS) in check(html_page(named)).texts
    assert "\u202e" not in html_page(named)


def test_the_largest_release_stays_small(release, tmp_path):
    big = largest(release, np.random.default_rng(0), 20)
    page = html_page(big)
    check(page)
    assert len(page.encode()) < 1_000_000
    assert "960 more centers are in the release file and not shown here." in page
    assert "Of 20 columns these are the 8 along which the centers differ most." in page
    assert "7 of 1,000 centers rest on a private step of their own" in page
    assert len(markdown_page(big).encode()) < 100_000


@settings(max_examples=120, deadline=None)
@given(epsilon=st.floats(1e-9, 40.0))
def test_limits_are_told_to_the_safe_side(epsilon):
    with localcontext() as context:
        context.prec = 60
        factor = Decimal(epsilon).exp()
        for guess, _ in GUESSES:
            odds = Decimal(str(guess)) / (1 - Decimal(str(guess)))
            for way in (1, -1):
                exact = 100 * odds * factor**way / (1 + odds * factor**way)
                words = percent_words(guess, way * epsilon)
                if words.startswith("nearly"):
                    assert min(exact, 100 - exact) < Decimal("1.1e-6")
                    continue
                shown = Decimal(words[:-1])
                assert 0 < shown < 100
                assert abs(shown - exact) <= Decimal("0.11")
                assert way * (shown - exact) >= Decimal("-1e-9")


@given(delta=st.floats(1e-14, 0.5))
def test_chances_are_rounded_up(delta):
    assert 1 / int(chance_words(delta)[5:].replace(",", "")) >= delta * (1 - 1e-9)


def test_a_ledger_says_what_is_left_and_whether_it_paid(tmp_path):
    ledger = Ledger(tmp_path / "stays", epsilon=3)
    release = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit(ROWS, ledger=ledger).release_
    page = html_page(release, ledger=ledger)
    assert "Left: epsilon 2." in page
    assert "(this release)" in page
    assert "notice" not in Reader(page).tags
    assert page == html_page(release, ledger=tmp_path / "stays")
    assert "This is not the release that its entry in the ledger paid for." in html_page(
        replace(release, algorithm="hst"), ledger=ledger
    )
    assert "what is left there is not shown here" in html_page(release)


def test_other_units_are_told():
    model = PrivateKMeans(2, epsilon=0.5, delta=1e-6, bounds=(0, 1), max_rows_per_group=3, adjacency="replace", algorithm="lloyd")
    page = html_page(model.fit(ROWS, groups=np.arange(400) // 2).release_)
    assert "At most 3 rows of a group were counted." in page
    assert "1 in 1,000,000 (delta)" in page
    assert "says one thing or another" in page
    assert "the number of rows or groups" in page
    assert "known to be in the table" not in page


@pytest.fixture
def file(release, tmp_path):
    release.to_json(tmp_path / "release.json")
    return tmp_path / "release.json"


def run(*arguments):
    result = CliRunner().invoke(main, ["report", *map(str, arguments)], catch_exceptions=False)
    return result.exit_code, result.output


def test_the_command_writes_pages(file, release, tmp_path):
    out = tmp_path / "report.html"
    assert run(file, "--out", out, "--curve", "--max-k", 3) == (0, f"Wrote {out}: {release.statement}.\n")
    assert "The arithmetic holds" in out.read_text(encoding="utf-8")
    assert "How many clusters" in out.read_text(encoding="utf-8")
    assert run(file, "--out", tmp_path / "report.md", "--title", "Stays")[0] == 0
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# Stays\n")
    assert run(file, "--out", tmp_path / "report.txt")[0] == 2
    assert run(tmp_path / "none.json", "--out", out)[0] == 3
    with pytest.raises(ParameterError, match=r"ends in \.html, \.md, \.pdf"):
        write_report(release, tmp_path / "report.txt")


def test_a_release_that_does_not_hold_together_says_so(file, tmp_path):
    record = json.loads(file.read_text())
    record["charges"][0]["amount"] = "9"
    file.write_text(json.dumps(record))
    code, text = run(file, "--out", tmp_path / "report.html")
    assert code == 0
    assert "REFUSED" in text
    assert "CHECK FAILED" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_pdf_is_printed_by_whatever_browser_is_found(file, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("spinney.report.publication.printing.PLACES", ())
    code, text = run(file, "--out", tmp_path / "report.pdf")
    assert code == 3
    assert text == (
        "error: No browser was found that prints a PDF: Chromium, Chrome or Edge. "
        "Hint: write a report that ends in .html, and print it from any browser.\n"
    )
    browser = tmp_path / "chromium"
    browser.write_text('#!/bin/sh\nfor one in "$@"; do case "$one" in --print-to-pdf=*) echo %PDF > "${one#*=}";; esac; done\n')
    browser.chmod(0o700)
    assert run(file, "--out", tmp_path / "report.pdf")[0] == 0
    assert (tmp_path / "report.pdf").read_text() == "%PDF\n"
    browser.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(DataError, match="printed no PDF"):
        print_pdf("", tmp_path / "other.pdf")
    assert not [name for name in os.listdir(tmp_path) if name.startswith("other")]


@given(st.sampled_from(["number", "date", "share"]), st.floats(-1e9, 1e9), st.floats(1e-3, 1e6), st.floats(60, 400))
def test_axes_have_a_few_round_values_that_do_not_touch(kind, low, width, room):
    fact, high = Column(None, kind), low + width
    for ticks in (across(fact, low, high, room), upward(fact, low, high, room)):
        places, texts = [place for place, _ in ticks], [text for _, text in ticks]
        assert len(ticks) != 1
        assert len(ticks) <= 6
        assert len(set(texts)) == len(texts)
        assert all(-1e-6 <= place <= 1 + 1e-6 for place in places)
        assert places == sorted(places)
    told = across(fact, low, high, room)
    for (before, one), (after, other) in itertools.pairwise(told):
        assert (after - before) * room >= (wide(one) + wide(other)) / 2


def test_axes_are_told_in_the_units_of_their_columns():
    assert [text for _, text in across(Column(None, "number"), 0, 150_000, 300)] == ["0", "50,000", "100,000", "150,000"]
    assert [text for _, text in across(Column("a", "date"), 18628, 20453, 300)] == ["2021", "2022", "2023", "2024", "2025"]
    assert [text for _, text in upward(Column("a", "category"), 0, 1, 300)] == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert across(Column(None, "number"), -1e308, 1e308, 300) == []
    assert [text for _, text in across(Column("a", "date"), -1e9, 1e9, 400)] != []


def test_tables_become_cards_before_they_are_wider_than_the_page(release):
    page = html_page(release)
    kinds = set(re.findall(r'class="scroll((?: [cn]\d+)*)"', page))
    assert any("c" in kind for kind in kinds)
    for kind in kinds:
        for one in kind.split():
            assert f"@container (max-width:{one[1:]}rem){{.{one} " in page
    assert len(re.findall(" data-h=", page)) == sum(tag in ("td", "th") for tag in re.findall("<(t[dh])[^>]* data-h=", page))


def test_long_names_keep_their_ends():
    assert clean("Proportion of reimbursements 12", 24) == "Proportion of r…ments 12"
    assert len(clean("x" * 99, LETTERS)) == LETTERS
