import json
import warnings
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

import spinney
from covering import covering
from spinney import Ball, Box, BudgetError, DataError, ParameterError, PrivateKMeans, PrivateKMedian, verify
from spinney.audit import replay
from spinney.local import Refined, Session, StableLocal, device, policy_of, refined, respond
from spinney.local.device import read_question

CENTERS = np.array([[-0.6, -0.5], [0.6, 0.5], [-0.5, 0.6]])


def blobs(n, seed=0):
    rng = np.random.default_rng(seed)
    return CENTERS[rng.integers(0, 3, n)] + rng.normal(0, 0.05, (n, 2))


def local(k=3, estimator=PrivateKMeans, **changes):
    return estimator(k, **({"epsilon": 1.0, "bounds": (-1, 1), "adjacency": "replace", "model": "local"} | changes))


def distance(centers):
    return max(np.sqrt(((centers - center) ** 2).sum(axis=1)).min() for center in CENTERS)


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize(
    ("algorithm", "delta", "reach"), [("auto", 0.0, 0.05), ("stable", 1e-6, 0.45), (StableLocal(False), 1e-6, 0.45)]
)
@pytest.mark.matrix
def test_a_local_fit_finds_separated_clusters_and_its_release_verifies(estimator, algorithm, delta, reach, tmp_path):
    model = local(estimator=estimator, algorithm=algorithm, delta=delta, noise_seed=3).fit(blobs(200_000))
    assert distance(model.cluster_centers_) < reach
    assert np.abs(model.cluster_sizes_ - 66_667).max() < 5 * model.release_.sizes_margin
    path = tmp_path / "release.json"
    release = local(estimator=estimator, algorithm=algorithm, delta=delta).fit(blobs(2_000)).release_
    release.to_json(path)
    found = verify(path)
    assert all(finding.holds for finding in found.findings), found
    assert release.model.startswith("local, simulated: ")
    assert release.epsilon == release.promised_epsilon == 1.0
    again = estimator.from_release(path)
    assert (again.model, again.adjacency) == ("local", "replace")
    assert type(again.plan(2).algorithm) is type(model.plan(2).algorithm)


def test_what_the_local_model_has_not_is_refused_before_rows_are_read():
    wrong = {"adjacency": "add-remove", "epsilon": np.inf, "tighten": True, "algorithm": "tree", "model": "distant"}
    changes = [{name: value} for name, value in wrong.items()] + [{"algorithm": "refined", "model": "central"}]
    for change in changes:
        with pytest.raises(ParameterError, match=f"'{next(iter(change))}' parameter"):
            local(**change).fit(blobs(10))
    with pytest.raises(ParameterError, match="'delta' parameter"):
        local(algorithm="stable").fit(blobs(10))


@pytest.mark.parametrize(("algorithm", "delta"), [("refined", 0.0), ("stable", 1e-6)])
def test_any_number_of_users_is_answered(algorithm, delta):
    for n, (k, seed) in product([0, 1, 2, 7, 50], [(1, 0), (3, 1)]):
        fitted = local(k, algorithm=algorithm, delta=delta, noise_seed=seed).fit(blobs(50)[:n])
        assert np.isfinite(fitted.cluster_centers_).all()
        assert (np.abs(fitted.cluster_centers_) <= 1).all()


@pytest.mark.parametrize(
    ("algorithm", "delta", "estimator"),
    [("refined", 0.0, PrivateKMeans), ("stable", 1e-6, PrivateKMeans), ("stable", 1e-6, PrivateKMedian)],
)
def test_replay_of_a_neighbor_holds_and_sees_noise_that_is_too_small(algorithm, delta, estimator):
    rows = blobs(400)
    other = rows.copy()
    other[7] = [0.9, -0.9]
    model = local(algorithm=algorithm, delta=delta, estimator=estimator)
    assert not replay(model, rows, other).broken
    assert not replay(model, rows, np.vstack([rows[:399], [[np.nan, 0]]])).broken
    assert replay(model, rows, other, factor=0.5).broken


@pytest.mark.parametrize("n", [1, 2, 400])
def test_what_one_report_loses_is_audited_however_many_users_there_are(n):
    rows = blobs(n)
    other = rows.copy()
    other[0] = [0.9, -0.9]
    model = local(algorithm="stable", delta=1e-6)
    assert replay(model, rows, other).faults == ()
    halved = replay(model, rows, other, factor=0.5).faults
    assert any(fault.startswith("the noise of 'sums' is not what its record states") for fault in halved)


def test_a_ledger_is_charged_once_for_each_user(tmp_path):
    ledger = spinney.Ledger(tmp_path / "ledger.jsonl", epsilon=1.5, adjacency="replace")
    local().fit(blobs(100), ledger=ledger)
    assert ledger.spent == 1.0
    with pytest.raises(BudgetError):
        local().fit(blobs(100), ledger=ledger)


def test_a_plan_says_what_each_user_loses():
    text = str(local(algorithm="stable", delta=1e-6).plan(2, n_guess=1000))
    assert "each user adds +-" in text
    assert "Total: epsilon 1 of 1" in text
    assert sum(charge.delta for charge in StableLocal().plan(local(delta=1e-6).plan(2).problem)) == pytest.approx(1e-6)


def answered(session, rows, states):
    policy = policy_of(session)
    return [respond(row, session.question, policy, state) for row, state in zip(rows, states, strict=True)]


@pytest.mark.parametrize("objective", ["kmeans", "kmedian"])
@pytest.mark.parametrize(("algorithm", "delta"), [("refined", 0.0), ("stable", 1e-3)])
def test_a_session_asks_devices_to_its_end_and_can_be_kept_between_questions(objective, algorithm, delta, tmp_path):
    parameters = {"n_clusters": 2, "epsilon": 4.0, "delta": delta, "bounds": [-1, 1], "algorithm": algorithm}
    session, rows = Session(parameters, 2, 7, objective), blobs(60).tolist()
    states = [{} for _ in rows]
    while session.question is not None:
        with pytest.raises(ParameterError, match="not at its end"):
            _ = session.release
        session = Session.from_json(session.heard([*answered(session, rows, states), "noise"]).to_json())
    release = session.release
    release.to_json(tmp_path / "release.json")
    assert all(finding.holds for finding in verify(tmp_path / "release.json").findings)
    assert release.model.startswith("local: ")
    assert release.noise == "secure"
    with pytest.raises(ParameterError, match="has ended"):
        session.heard([])
    spent = [sum(spinney.local.device.read_amount(one["epsilon"]) for one in state["reports"].values()) for state in states]
    assert max(spent) <= 4


@pytest.mark.parametrize(
    ("changes", "columns", "name"),
    [
        ({}, 1025, "n_features"),
        ({"algorithm": "stable", "delta": 1e-31}, 2, "delta"),
        ({"algorithm": "stable", "delta": 1e-6, "epsilon": 2e-9}, 2, "epsilon"),
        ({"algorithm": "stable", "delta": 1e-6, "epsilon": 1e-5}, 2, "epsilon"),
        ({"k": 9000}, 40, "n_clusters"),
    ],
)
def test_what_no_device_answers_is_refused_before_anything_is_charged(changes, columns, name, tmp_path):
    ledger = spinney.Ledger(tmp_path / "ledger.jsonl", epsilon=9, delta=0.1, adjacency="replace")
    model = local(**changes)
    with pytest.raises(ParameterError, match=f"'{name}' parameter of the") as error:
        model.fit(np.zeros((3, columns)), ledger=ledger)
    assert not ledger.entries
    if name in ("epsilon", "delta"):
        assert f"Got {getattr(model, name)!r} instead" in str(error.value), "what was typed, not a share of it"


@covering("objective, protocol, shape", ["kmeans", "kmedian"], [("refined", 0.0), ("stable", 1e-3)], [(1, 1), (3, 2), (130, 3)])
def test_a_policy_allows_what_a_session_asks_and_no_other_kind(objective, protocol, shape):
    (algorithm, delta), (k, d) = protocol, shape
    parameters = {"n_clusters": k, "epsilon": 6.0, "delta": delta, "bounds": [-1, 1], "algorithm": algorithm}
    session = Session(parameters, d, 7, objective)
    policy, kinds, slots = policy_of(session), set(), [0]
    while session.question is not None:
        asked = read_question(session.question)
        device._check_policy(asked, policy, {})
        kinds.add(asked["kind"])
        slots.append(max(device.slots_of(asked), *(len(asked.get(name, ())) for name in ("centers", "first"))))
        session = session.heard([respond([0] * d, session.question, policy, {}) for _ in range(3)])
    assert kinds == set(policy["kinds"])
    assert max(slots) <= policy["most_slots"] <= max(max(slots) * 3, 1024)


BOUNDS = [(-1, 1), [(-1, 1), (0.5, 2)], Box(-1, [1, 2]), (np.array([-1, 0.5]), np.array([1, 2])), {"age": (0, 9), "stay": (0, 6)}]


@covering("bounds, algorithm", BOUNDS, ["auto", Refined(rounds=1, coarse=200)])
def test_a_session_is_kept_whatever_its_bounds_and_protocol(bounds, algorithm):
    session = Session({"n_clusters": 2, "epsilon": 1, "bounds": bounds, "algorithm": algorithm}, 2, 5)
    session = session.heard([respond([0, 1], session.question, policy_of(session), {}) for _ in range(40)])
    again = Session.from_json(session.to_json())
    assert again.question == session.question
    assert again.to_json() == session.to_json()
    assert policy_of(again) == policy_of(session)


def test_a_session_takes_boxes_and_known_parameters_alone():
    good = {"n_clusters": 2, "epsilon": 1.0, "bounds": (-1, 1)}
    for wrong in ({"bounds": Ball(1.0)}, {"adjacency": "replace"}, {"noise_seed": 1}, {7: 1}):
        with pytest.raises(ParameterError, match=r"parameter of spinney\.local\.Session"):
            Session(good | wrong, 2, 1)
    with pytest.raises(ParameterError, match="objective"):
        Session(good, 2, 1, "kmodes")


def test_a_session_file_with_other_fields_is_refused():
    session = Session({"n_clusters": 2, "epsilon": 1.0, "bounds": [-1, 1]}, 2, 1).heard([])
    record = json.loads(session.to_json())
    assert Session.from_json(json.dumps(record)).question == session.question
    for text in ("", "{}", "[]", "null", '{"format": "spinney-session/1"}', "[" * 5000):
        with pytest.raises(DataError, match="no whole session"):
            Session.from_json(text)
    for change in (
        {"more": 1}, {"format": "spinney-session/2"}, {"parameters": record["parameters"] | {"more": 1}},
        {"parameters": {}}, {"protocol": {}}, {"protocol": record["protocol"] | {"rounds": 99}},
        {"tallies": [record["tallies"][0] | {"more": 1}]}, {"tallies": [record["tallies"][0] | {"users": [-1]}]},
        {"tallies": [record["tallies"][0] | {"totals": [[1, 2]]}]},
    ):  # fmt: skip
        with pytest.raises(DataError, match="no whole session"):
            Session.from_json(json.dumps(record | change))


def test_a_tally_of_another_question_is_refused():
    session, other = (Session({"n_clusters": 2, "epsilon": 1.0, "bounds": [-1, 1]}, 2, seed) for seed in (1, 2))
    for foreign in (other.heard([]).tallies, session.heard([]).tallies * 2):
        with pytest.raises(DataError, match="not of the question"):
            _ = replace(session, tallies=foreign).question


def test_a_release_that_names_another_model_is_refused(tmp_path):
    path = tmp_path / "release.json"
    record = json.loads(local().fit(blobs(2_000)).release_.to_json())
    for model in ("central: trusted", "", "locality: none"):
        path.write_text(json.dumps(record | {"model": model}))
        assert [finding.subject for finding in verify(path).findings if not finding.holds] == ["model"]
    central = local(model="central").fit(blobs(2_000)).release_
    path.write_text(json.dumps(central.to_dict() | {"model": "local: devices"}))
    assert not verify(path).holds


def test_one_user_answers_one_question_of_the_refined_protocol():
    session, state = Session({"n_clusters": 2, "epsilon": 1.0, "bounds": [-1, 1]}, 2, 7), {}
    policy = policy_of(session)
    assert (policy["epsilon"], policy["most_questions"]) == ("1", 1)
    while session.question is not None:
        session = session.heard([respond([0, 0], session.question, policy, state)])
    assert len(state["reports"]) == 1
    assert sum(tally.total_users for tally in session.tallies) == 1


class Watched(StableLocal):
    """The published protocol; it keeps what LDP-AVG was given and what it made of it."""

    seen: list = []  # noqa: RUF012

    def _average(self, problem, asking, centers, counts, epsilon, delta):
        means = yield from super()._average(problem, asking, centers, counts, epsilon, delta)
        self.seen.append((centers, counts, means))
        return means


@pytest.mark.parametrize("anchored", [True, False])
def test_means_of_the_published_protocol_are_those_of_numpy_where_noise_is_small(anchored):
    """LDP-AVG: users within a third of the distance to the next center report themselves, and their sum is divided by a count."""
    rng = np.random.default_rng(0)
    offsets = np.minimum(rng.exponential(0.08, (20_000, 2)), 0.15)
    offsets[rng.random(20_000) < 0.1] = -0.3  # beyond a third of the way; nobody is near the edge, for devices round
    rows = CENTERS[rng.integers(0, 3, 20_000)] + offsets
    Watched.seen.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        local(algorithm=Watched(anchored), epsilon=1e5, delta=1e-6).fit(rows)
    ((centers, counts, means),) = Watched.seen
    gaps = np.sqrt(((rows[:, None] - centers) ** 2).sum(axis=2))
    apart = np.sqrt(((centers[:, None] - centers) ** 2).sum(axis=2)) + np.diag([np.inf] * 3)
    near = gaps.min(axis=1) <= apart.min(axis=1)[gaps.argmin(axis=1)] / 3
    for i in range(3):
        own = rows[near & (gaps.argmin(axis=1) == i)]
        assert 0 < len(own) < (gaps.argmin(axis=1) == i).sum()
        assert abs(counts[i] - len(own)) < 5 * len(own) ** 0.5  # a user's own bit is set by a fair coin, however large epsilon is
        start = centers[i] if anchored else np.zeros(2)
        np.testing.assert_allclose(means[i], start + (own - start).sum(axis=0) / counts[i], atol=0.006)
        assert np.abs(centers[i] - own.mean(axis=0)).max() > 0.01  # the means are not where they began


def test_few_users_are_never_served_worse_than_by_one_center():
    """Clusters near the middle of the box, which cells cut; noise is seeded, so nothing here is chance."""
    costs = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.uniform(-0.4, 0.4, (5, 16))[rng.integers(5, size=5_000)] + rng.normal(0, 0.1, (5_000, 16))
        for k in (5, 1):
            costs.append(-local(k, random_state=seed, noise_seed=seed).fit(rows).score(rows))
        costs.append(((rows - rows.mean(axis=0)) ** 2).sum())
    assert sum(costs[::3]) < 1.05 * sum(costs[1::3])
    assert sum(costs[1::3]) < 2.0 * sum(costs[2::3])  # and one center is near the mean, which it was not


def test_a_center_that_starts_in_the_middle_finds_the_mean_where_noise_is_small(monkeypatch):
    """Whatever cells say: it reaches everywhere, so nothing is clipped."""
    monkeypatch.setattr(refined, "MOST_USERS", 2.0)
    rows = blobs(100_000)
    model = local(1, epsilon=1e5).fit(rows)
    np.testing.assert_allclose(model.cluster_centers_[0], rows.mean(axis=0), atol=0.03)
    assert model.release_.sizes[0] == pytest.approx(100_000, rel=0.02)


def test_clear_clusters_are_known_and_those_of_a_hundred_users_are_not(monkeypatch):
    seen, judged = [], refined._known

    def watched(*arguments):
        seen.append(judged(*arguments))
        return seen[-1]

    monkeypatch.setattr(refined, "_known", watched)
    for users in (200_000, 100):
        local(algorithm=Refined(spare=1.0), noise_seed=0).fit(blobs(users))
    assert [known.all() for known in seen] == [True, False]


@pytest.mark.parametrize(("noise", "gains"), [(1e-6, False), (0.3, True)])
def test_what_all_centers_have_in_common_is_told_by_all_reports(noise, gains):
    """Users are on the inner side of their cells; where reports are exact each center follows its own, to the same place."""
    rng, errors = np.random.default_rng(0), []
    for _ in range(200):
        centers = rng.uniform(-1, 1, (5, 8))
        true = centers - rng.uniform(0, 0.8) * (centers - centers.mean(axis=0))
        told = true - centers + rng.normal(0, noise, centers.shape)
        step, variance = SimpleNamespace(precision=np.full(5, noise**-2.0), clipped=told), np.full(5, 0.08)
        pull = refined._pull(centers, variance, step, np.ones(5, dtype=bool))
        errors.append([((refined._moved(centers, variance, step, one)[0] - true) ** 2).sum() for one in (0.0, pull)])
        assert not refined._pull(centers, variance, step, np.arange(5) < 1).any()  # of a single center nothing is common
        kept = refined._pull(centers, variance, step, np.arange(5) < 4)
        assert not kept[4].any()
        assert kept[:4].any()
    alone, together = np.mean(errors, axis=0)
    assert together < 0.7 * alone if gains else max(alone, together) < 1e-9


def test_tight_clusters_near_the_middle_are_reached():
    """Cells are coarser than all clusters together, and yet some stand out; noise is seeded, so nothing here is chance."""
    costs = []
    for seed in (1004, 1007, 1035, 1051, 1065):
        rng = np.random.default_rng([20_000, 8, seed])
        rows = rng.uniform(-0.2, 0.2, (5, 8))[rng.integers(5, size=20_000)] + rng.normal(0, 0.04, (20_000, 8))
        model = local(5, random_state=seed, noise_seed=seed).fit(rows)
        costs.append(-model.score(rows) / ((rows - rows.mean(axis=0)) ** 2).sum())
    assert np.mean(costs) < 1.6  # 4.8 where a center could not leave its cell
