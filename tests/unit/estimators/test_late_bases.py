import importlib
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedoids
from spinney.estimators import clusterer, display, estimator, late_bases
from spinney.estimators.late_bases import LateBases
from spinney.fits.parameters import parameters_of

HOME = """
import os
if "FAILS" in os.environ:
    raise ImportError("not now")

class Mixin:
    pass

class BaseEstimator:
    told = []

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        BaseEstimator.told.append(cls.__name__)
        cls.is_told = True
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The name of a module that plays scikit-learn's."""
    (tmp_path / "home_of_bases.py").write_text(HOME)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(late_bases, "HOME", "home_of_bases")
    monkeypatch.setattr(sys, "meta_path", [one for one in sys.meta_path if type(one).__name__ != "_Watch"])
    yield "home_of_bases"
    sys.modules.pop("home_of_bases", None)


def family():
    class First(LateBases, bases=("Mixin", "BaseEstimator")):
        def __init__(self, a=1):
            self.a = a

    class Left(First):
        pass

    class Right(First):
        pass

    class Last(Left, Right):
        pass

    return First, Left, Right, Last


def names(kind):
    return [base.__name__ for base in kind.__mro__]


def test_bases_come_with_their_module_and_know_every_class(home):
    classes = family()
    made = classes[-1](a=5)
    assert not hasattr(classes[0], "is_told")
    found = importlib.import_module(home)
    assert found.BaseEstimator.told == ["First", "Left", "Right", "Last"]
    assert names(classes[0]) == ["First", "Mixin", "BaseEstimator", "object"]
    assert names(classes[-1]) == ["Last", "Left", "Right", "First", "Mixin", "BaseEstimator", "object"]
    assert isinstance(made, found.BaseEstimator)
    assert (made.a, classes[-1](7).a) == (5, 7)
    assert not any(type(finder).__name__ == "_Watch" for finder in sys.meta_path)


def test_bases_that_are_there_already_come_at_once(home):
    importlib.import_module(home)
    before = list(sys.meta_path)
    first, *_ = family()
    assert names(first) == ["First", "Mixin", "BaseEstimator", "object"]
    assert importlib.import_module(home).BaseEstimator.told == ["First", "Left", "Right", "Last"]
    assert sys.meta_path == before


def test_an_import_that_fails_may_be_tried_again(home, monkeypatch):
    first, *_ = family()
    monkeypatch.setenv("FAILS", "1")
    with pytest.raises(ImportError, match="not now"):
        importlib.import_module(home)
    assert LateBases in first.__mro__
    monkeypatch.delenv("FAILS")
    importlib.import_module(home)
    assert LateBases not in first.__mro__


def test_looking_for_the_module_loads_nothing(home):
    first, *_ = family()
    assert importlib.util.find_spec(home).name == home
    assert LateBases in first.__mro__
    importlib.import_module(home)
    assert LateBases not in first.__mro__


def test_threads_that_walk_along_the_finders_miss_none(home):
    family()
    walk = iter(sys.meta_path)
    passed = [next(walk), next(walk)]
    importlib.import_module(home)
    assert len([*passed, *walk]) == 1 + len(sys.meta_path)


def test_the_module_is_looked_for_by_many_threads(home):
    first, *_ = family()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: importlib.util.find_spec(home), range(200)))
    assert all(spec is not None for spec in found)
    assert LateBases in first.__mro__


def test_many_classes_wait_at_one_place(home):
    classes = [family()[0] for _ in range(3)]
    assert sum(type(finder).__name__ == "_Watch" for finder in sys.meta_path) == 1
    importlib.import_module(home)
    assert all(names(first)[1:] == ["Mixin", "BaseEstimator", "object"] for first in classes)


def test_classes_with_keywords_are_made_once_whatever_comes_first(home):
    def made():
        first, *_ = family()
        told = []

        class Flagged(first):
            def __init_subclass__(cls, flag, **options):
                super().__init_subclass__(**options)
                told.append((cls.__name__, flag))

        class Behind:
            def __init_subclass__(cls, name=None, **options):
                super().__init_subclass__(**options)
                told.append((cls.__name__, name))

        class One(Flagged, flag=1):
            pass

        class Two(One, flag=2):
            pass

        class Three(first, Behind, name="three"):
            pass

        return told, [One, Two, Three]

    late_told, late = made()
    assert home in sys.modules  # somebody's keyword had to be handed on to the bases
    found = importlib.import_module(home)
    early_told, early = made()
    assert late_told == early_told == [("One", 1), ("Two", 2), ("Three", "three")]
    assert [names(one) for one in late] == [names(one) for one in early]
    assert sorted(found.BaseEstimator.told) == sorted(["First", "Left", "Right", "Last", "Flagged", "One", "Two", "Three"] * 2)


def test_a_class_that_needs_keywords_does_not_end_the_import(home):
    first, *_ = family()

    class Flagged(first):
        def __init_subclass__(cls, flag, **options):
            super().__init_subclass__(**options)
            cls.flag = flag

    class Own(Flagged, flag=3):
        pass

    assert home not in sys.modules
    found = importlib.import_module(home)
    assert issubclass(Own, found.BaseEstimator)
    assert (Own.flag, Own.is_told) == (3, True)


def test_a_keyword_that_nobody_takes_is_refused(home):
    first, *_ = family()
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        type("Own", (first,), {}, nothing=1)
    assert not late_bases.MADE
    assert issubclass(first, sys.modules[home].BaseEstimator), "the bases came all the same"


class AskedError(Exception):
    pass


@pytest.mark.parametrize(
    "use",
    [
        repr, PrivateKMeans.__sklearn_tags__, PrivateKMeans.get_feature_names_out, PrivateKMeans.set_output,
        lambda _: PrivateKMedoids(2).__sklearn_tags__(), LateBases.get_params, LateBases.set_params,
        LateBases.get_metadata_routing, LateBases._repr_html_.fget, LateBases._repr_mimebundle_,
    ],
)  # fmt: skip
def test_what_scikit_learn_does_waits_for_it(use, monkeypatch):
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit([[0.5, 0.5]])

    def inherit():
        raise AskedError

    for module in (clusterer, display, estimator, late_bases):
        monkeypatch.setattr(module, "inherit", inherit)
    with pytest.raises(AskedError):
        use(model)


def test_what_stands_in_for_scikit_learn_does_the_same():
    space = FiniteMetric.from_points([[0.0], [1.0]])
    for model in (PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)), PrivateKMedoids(1, epsilon=1.0, space=space)):
        assert LateBases.get_params(model) == model.get_params() == parameters_of(model)
        assert list(parameters_of(model)) == list(model.get_params(deep=False))
        assert LateBases.set_params(model, epsilon=2.0) is model
        assert model.epsilon == 2.0
        assert str(LateBases.get_metadata_routing(model)) == str(model.get_metadata_routing())
        assert LateBases._repr_mimebundle_(model)["text/plain"] == repr(model)
        assert "sk-top-container" in LateBases._repr_html_.fget(model)()
