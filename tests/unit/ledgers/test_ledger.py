import errno
import json
import os
import pickle
import shutil
import threading
from fractions import Fraction

import pytest

from spinney import BudgetError, DataError, Ledger, ParameterError, UnfinishedError
from spinney.ledgers import journal
from spinney.privacy import Budget, Charge, Measure


def pure(amount):
    return [Charge("a", "counts", Measure.PURE, Fraction(amount))]


def rho(amount):
    return [Charge("b", "sums", Measure.ZCDP, Fraction(amount))]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger"


def test_releases_add_up_to_the_ceiling_exactly(path):
    ledger = Ledger(path, epsilon=1)
    for i in range(3):
        assert ledger.spent == pytest.approx(i / 3)
        ledger.spend(pure(Fraction(1, 3)), objective="kmeans", algorithm="tree")
    assert (ledger.spent, ledger.remaining) == (1.0, 0.0)
    with pytest.raises(BudgetError, match=r"bring the ledger to epsilon 1, and its ceiling is 1.\nHint: epsilon 0 is left"):
        ledger.spend(pure(Fraction(1, 10**20)))
    assert len(ledger.entries) == 3


def test_everything_is_read_again(path):
    ledger = Ledger(path, 2, 1e-5, adjacency="replace", max_rows_per_group=5)
    unit = {"adjacency": "replace", "max_rows_per_group": 4}
    name = ledger.spend(pure("1/7") + rho("1/1000"), **unit, promised=Budget.of(0.5, 1e-6), objective="kmedian", note="für März")
    again = Ledger(path)
    assert again.entries == ledger.entries
    (entry,) = again.entries
    assert (entry.id, entry.epsilon, entry.delta, entry.objective, entry.note) == (name, 0.5, 1e-6, "kmedian", "für März")
    assert (entry.charges, entry.max_rows_per_group, entry.way) == (tuple(pure("1/7") + rho("1/1000")), 4, "open")
    assert (again.spent, again.remaining, again.ceiling) == (ledger.spent, ledger.remaining, Budget.of(2, 1e-5))
    assert pickle.loads(pickle.dumps(again)).entries == ledger.entries
    assert str(again) == str(ledger)
    assert "1 releases" in repr(again)


def test_threads_share_a_ledger(path):
    ledger, refused = Ledger(path, 20), []

    def work():
        for _ in range(5):
            try:
                ledger.spend(pure(1))
            except BudgetError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(ledger.entries), ledger.spent, len(refused)) == (20, 20, 5)


def test_a_charge_is_found_again_until_its_questions_began(path):
    ledger, job = Ledger(path, 1), f"sha256:{'0' * 64}"
    asked = {"entry_id": "mine", "job": job}
    for again in (ledger, Ledger(path), ledger):
        assert again.spend(pure("1/4"), **asked) == "mine"
    for other in ({"charges": pure("1/5")}, {"job": f"sha256:{'1' * 64}"}):
        with pytest.raises(ParameterError, match="other parameters"):
            Ledger(path).spend(**{"charges": pure("1/4"), **asked, **other})
    with pytest.raises(ParameterError, match="not in the ledger yet"):
        ledger.spend(pure("1/4"), entry_id="mine")  # of no job
    Ledger(path).begin("mine")
    for act in (lambda: ledger.begin("mine"), lambda: ledger.spend(pure("1/4"), **asked), lambda: Ledger(path).begin("mine")):
        with pytest.raises(UnfinishedError, match="'mine' began already") as caught:
            act()
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert (len(ledger.entries), ledger.spent, ledger.began) == (1, 0.25, {"mine"})
    plain = ledger.spend(pure("1/4"), entry_id="plain")
    with pytest.raises(ParameterError, match="not in the ledger yet"):
        ledger.spend(pure("1/4"), entry_id="plain", job=job)  # of no job, so that it may have been asked for
    content = path.read_bytes()
    ledger.begin(plain)  # needs no mark
    assert path.read_bytes() == content
    for wrong in ({"entry_id": "new", "job": "canary"}, {"job": job}):
        with pytest.raises(ParameterError, match="'job' parameter"):
            ledger.spend(pure("1/4"), **wrong)


def test_a_repeated_id_is_not_acknowledged(path):
    """A second release under the id of the first would draw new noise, and be free."""
    ledger = Ledger(path, 1)
    assert ledger.spend(pure("1/4"), entry_id="mine") == "mine"
    content = path.read_bytes()
    for again in (ledger, Ledger(path)):
        for amount in ("1/4", "1/8"):
            with pytest.raises(ParameterError, match=r"one that is not in the ledger yet\. Got 'mine'"):
                again.spend(pure(amount), entry_id="mine")
    assert path.read_bytes() == content
    assert [entry.id for entry in ledger.entries] == ["mine"]  # so a program that crashed can see what was charged
    assert ledger.spent == 0.25
    with pytest.raises(ParameterError, match="entry_id"):
        ledger.spend(pure("1/4"), entry_id=" ")


@pytest.mark.parametrize(
    ("charges", "way"),
    [(rho("2755/100000"), "gaussian"), ([Charge("c", "choose", Measure.ZCDP, Fraction(2435, 100000))], "21.9")],
)
def test_a_release_of_the_whole_ceiling_is_accepted_and_read_again(path, charges, way):
    ledger = Ledger(path, 1, 1e-6)
    ledger.spend(charges)
    assert ledger.entries[0].way.startswith(way)
    assert 0.99 < ledger.spent <= 1
    again = Ledger(path)
    assert (again.spent, again.remaining) == (ledger.spent, ledger.remaining)
    with pytest.raises(BudgetError):
        again.spend(rho("1/10000"))


def test_a_ledger_without_delta_refuses_gaussian_charges(path):
    ledger = Ledger(path, 1)
    with pytest.raises(BudgetError, match=r"needs a delta.*\nHint: with delta=0"):
        ledger.spend(rho("1/1000"))
    assert ledger.entries == ()


def test_another_unit_is_refused(path, tmp_path):
    ledger, persons = Ledger(path, 1), Ledger(tmp_path / "persons", 1, max_rows_per_group=5)
    for unit in ({"adjacency": "replace"}, {"max_rows_per_group": 1}, {"adjacency": "replace", "max_rows_per_group": 2}):
        with pytest.raises(ParameterError, match="one ledger has one unit"):
            ledger.spend(pure("1/10"), **unit)
    for cap in (None, 6):
        with pytest.raises(ParameterError, match="one group of at most 5 counted rows, and this release about"):
            persons.spend(pure("1/10"), max_rows_per_group=cap)
    for cap in (1, 5):
        persons.spend(pure("1/10"), max_rows_per_group=cap)


def test_charges_must_be_exact_and_positive(path):
    ledger = Ledger(path, 1)
    for charges in ([], ["a"], {"a": pure("1/10")}, "a", [Charge("a", "counts", Measure.PURE, float("inf"))]):
        with pytest.raises(ParameterError, match="charges"):
            ledger.spend(charges)
    assert ledger.entries == ()


WRONG = {
    "epsilon": [0, float("inf"), float("nan"), "1", True, 10**400], "delta": [0.9, -1e-9, 1e-200], "adjacency": ["swap"],
    "max_rows_per_group": [0, 1.5, True], "path": [3],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_wrong_parameters_make_no_file(path, name, value):
    with pytest.raises(ParameterError, match=rf"'{name}' parameter of Ledger must be .*\nHint"):
        Ledger(**{"path": path, "epsilon": 1, name: value})
    assert not path.exists()


def test_another_ceiling_than_the_stored_one_is_refused(path):
    Ledger(path, 1, 1e-6)
    for other in ({"epsilon": 2}, {"epsilon": 1, "delta": 1e-5}, {"adjacency": "replace"}, {"max_rows_per_group": 3}):
        with pytest.raises(ParameterError, match="was opened with"):
            Ledger(path, **other)
    assert Ledger(path, 1).ceiling == Ledger(path, 1, 1e-6, adjacency="add-remove").ceiling == Budget.of(1, 1e-6)


def test_paths_that_cannot_be_ledgers(path, tmp_path):
    with pytest.raises(DataError, match=r"No such file.*\nHint: 'spinney ledger open' makes one"):
        Ledger(path)
    with pytest.raises(DataError, match=r"No such file.*\nHint: the path names a file in a folder that exists"):
        Ledger(tmp_path / "missing" / "ledger", 1)
    with pytest.raises(DataError, match="Is a directory"):
        Ledger(tmp_path, 1)
    with pytest.raises(DataError, match="Is a directory"):
        Ledger(tmp_path)
    for text in ("a,b\n1,2\n", "hello", '{"format": "spinney-release/1"}\n', "\0" * 100_000):
        path.write_text(text)
        with pytest.raises(DataError, match="is not a ledger"):
            Ledger(path, 1)
        assert path.read_text() == text


def test_a_link_leads_to_the_same_ledger(path, tmp_path):
    Ledger(path, 1)
    link = tmp_path / "link"
    link.symlink_to(path)
    Ledger(link).spend(pure("1/2"))
    assert link.is_symlink()
    assert Ledger(path).spent == 0.5
    ledger = Ledger(path)
    shutil.copy(path, tmp_path / "copy")
    os.replace(tmp_path / "copy", path)  # and a copy that took the file's place goes on
    ledger.spend(pure("1/2"))
    assert Ledger(path).remaining == 0


def spent_twice(path):
    ledger = Ledger(path, 1)
    ledger.spend(pure("1/4"))
    before = path.read_bytes()
    ledger.spend(pure("1/4"))
    return before, path.read_bytes()


def test_a_crash_at_any_byte_of_an_entry_loses_nothing(path):
    before, after = spent_twice(path)
    for cut in range(len(before), len(after)):
        path.write_bytes(after[:cut])
        assert Ledger(path).spent == 0.25
        assert path.read_bytes() == after[:cut]  # reading changes nothing
        if cut % 20 == 0:
            Ledger(path).spend(pure("1/2"))
            assert Ledger(path).spent == 0.75
    path.write_bytes(after[: len(after) - 5] + bytes(300) + b"\n")
    with pytest.raises(DataError, match="does not check"):
        Ledger(path)
    path.write_bytes(before + bytes(300))
    Ledger(path).spend(pure("1/2"))
    assert Ledger(path).spent == 0.75


def test_a_crash_at_any_byte_of_the_first_line_leaves_nothing(path):
    Ledger(path, 1, 1e-6)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 29):
        for zeros in (b"", bytes(9)):
            path.write_bytes(whole[:cut] + zeros)
            with pytest.raises(DataError, match="is not opened yet"):
                Ledger(path)
            assert Ledger(path, 1, 1e-6).entries == ()
            assert path.read_bytes() == whole


def test_any_change_by_hand_is_noticed(path):
    _, content = spent_twice(path)
    for i in range(0, len(content), 5):
        path.write_bytes(content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :])
        try:
            ledger = Ledger(path)
        except DataError as error:
            assert "damaged" in str(error) or "is not a ledger" in str(error)  # noqa: PT017  (some change the last newline)
        else:
            assert i == len(content) - 1
            assert ledger.spent == 0.25
    lines = content.splitlines(keepends=True)
    for wrong in ([lines[0], lines[2]], [lines[0], lines[2], lines[1]], [*lines, lines[2]], lines[1:]):
        path.write_bytes(b"".join(wrong))
        with pytest.raises(DataError, match=r"damaged|is not a ledger"):
            Ledger(path)
    assert path.read_bytes() == b"".join(lines[1:])  # and is left as it is


NEGATIVE = {"charges": [{"name": "a", "question": "b", "measure": "epsilon", "amount": "-1"}]}


@pytest.mark.parametrize("record", [{}, [], {"id": "a"}, {"charges": [{"amount": "1/0"}]}, NEGATIVE], ids=str)
def test_lines_that_hold_no_entry_are_refused_again_and_again(path, record):
    ledger = Ledger(path, 1)
    entry = {"id": "x", "when": "", "objective": "", "algorithm": "", "note": "", "epsilon": 1.0, "delta": 0.0}
    whole = {**entry, "max_rows_per_group": None, "way": "open", **record} if len(record) == 1 and "charges" in record else record
    with ledger._journal.open(write=True) as file:
        file.append(json.dumps(whole))
    for _ in range(2):
        with pytest.raises(DataError, match="holds no entry"):
            ledger.spend(pure("1/2"))
    with pytest.raises(DataError, match="holds no entry"):
        Ledger(path)


def test_lines_that_vanish_are_noticed(path):
    before, _ = spent_twice(path)
    ledger = Ledger(path)
    path.write_bytes(before)
    with pytest.raises(DataError, match="are gone"):
        ledger.spend(pure("1/4"))


class Failing:
    """The functions of `os`, of which some fail."""

    def __init__(self, **failing):
        self._failing = failing

    def __getattr__(self, name):
        return self._failing.get(name, getattr(os, name))


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def half(file, data, offset):
    if len(data) < 50:
        full()
    return os.pwrite(file, data[: len(data) // 2], offset)


@pytest.mark.parametrize("failing", [{"pwrite": full}, {"pwrite": half}, {"fsync": full}], ids=["none", "half", "sync"])
def test_a_full_disk_charges_nothing(path, monkeypatch, failing):
    ledger = Ledger(path, 1)
    ledger.spend(pure("1/4"))
    content = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(journal, "os", Failing(**failing))
        with pytest.raises(DataError, match="cannot be written: No space left on device"):
            ledger.spend(pure("1/4"), entry_id="again")
        patch.setattr(journal, "os", Failing(**failing, ftruncate=full))
        with pytest.raises(DataError, match="No space left"):
            ledger.spend(pure("1/4"), entry_id="again")
    assert path.read_bytes().startswith(content)
    if "again" not in [entry.id for entry in ledger.entries]:  # the line may be whole: then it stands
        ledger.spend(pure("1/4"), entry_id="again")
    assert [entry.id for entry in Ledger(path).entries][1:] == ["again"]
    assert ledger.spent == Ledger(path).spent == 0.5


def test_an_interrupt_after_the_charge_does_not_forget_it(path, monkeypatch):
    ledger = Ledger(path, 1)
    real = ledger._enter

    def interrupted(entries):
        raise KeyboardInterrupt

    monkeypatch.setattr(ledger, "_enter", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ledger.spend(pure("3/4"))
    monkeypatch.setattr(ledger, "_enter", real)
    assert ledger.spent == 0.75
    with pytest.raises(BudgetError):
        ledger.spend(pure("1/2"))


def test_the_table_shows_the_last_releases_and_the_running_total(path):
    ledger = Ledger(path, 3)
    assert str(ledger) == ("Ceiling: epsilon 3, delta 0; adding or removing one row\n\nSpent: epsilon 0; left: epsilon 3")
    for i in range(3):
        ledger.spend(pure("1/2"), objective="kmeans", algorithm="tree", note=f"ward {i}")
    lines = ledger.table(2).splitlines()
    assert lines[2] == "(1 earlier releases)"
    assert lines[3].split() == ["#", "when", "(UTC)", "what", "promise", "total", "epsilon"]
    assert lines[5].startswith("3  ")
    assert lines[5].endswith("kmeans, tree, ward 2  epsilon 0.5  1.5")
    assert lines[-1] == "Spent: epsilon 1.5; left: epsilon 1.5"


def test_a_last_line_that_lost_only_its_end_still_counts(path):
    spent_twice(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BudgetError):
        Ledger(path).spend(pure("3/4"))
    Ledger(path).spend(pure("1/2"))
    assert Ledger(path).spent == 1
    assert len(Ledger(path).entries) == 3
