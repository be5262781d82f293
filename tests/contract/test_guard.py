"""A sample of the guard, `tools.guard`: the same seeded fit has the same digest again, and wherever its rows are.

Digests are not stored: the last bits of a release differ between machines. ``python -m tools.guard --before COMMIT``
compares all releases of two commits on one machine.
"""

import re
from collections import defaultdict

import pytest

from tools import guard

#: Fields that say where rows were, or how they came.
ABOUT_ROWS = {"model"}
PLACES = re.compile(r" (memory|float32|parquet|csv|npy) ")


def digests(cases):
    return {
        name: {field: part for field, part in guard.parts_of(fit()).items() if field not in ABOUT_ROWS} for name, fit in cases
    }


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Every nth setting of points, in all the places that its rows may lie; of sites and covers, some."""
    points = list(guard.point_cases(tmp_path_factory.mktemp("guard"), None))
    settings = list(dict.fromkeys(PLACES.sub(" ", name) for name, _ in points))
    kept = set(settings[::19])
    return [case for case in points if PLACES.sub(" ", case[0]) in kept], [*guard.site_cases()][::29] + [*guard.cover_cases()][
        ::3
    ]


def test_a_release_has_the_same_digest_wherever_its_rows_are(sample):
    found = defaultdict(dict)
    for name, parts in digests(sample[0]).items():
        if " float32 " not in name:  # its rows are rounded
            found[PLACES.sub(" ", name)][PLACES.search(name).group(1)] = parts
    assert len(found) > 5
    for name, places in found.items():
        assert len(places) >= 3
        for place, parts in places.items():
            fields = {field for field in parts if parts[field] != places["memory"][field]}
            assert fields <= {"feature_names"}, (name, place, fields)


def test_a_seeded_fit_has_the_same_digest_again(sample):
    cases = [case for case in sample[0] if " memory " in case[0] or " float32 " in case[0]][::3] + sample[1]
    first, second = digests(cases), digests(cases)
    assert len(first) == len(cases)
    assert guard.differences(first, second) == []
    assert len({str(parts) for parts in first.values()}) == len(first)  # no two settings by mistake the same
