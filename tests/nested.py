"""Records of JSON: the ways to all that is inside, and copies that are changed in one place."""

import copy


def places(record, path=()):
    """Yield the way to every value inside."""
    inside = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    for name, part in inside:
        yield (*path, name)
        yield from places(part, (*path, name))


def value_at(record, path):
    for name in path:
        record = record[name]
    return record


def leaves(record):
    """Return the ways to all that is no list and no object, with what is there."""
    every = ((path, value_at(record, path)) for path in places(record))
    return [(path, value) for path, value in every if not isinstance(value, dict | list)]


def edited(record, path, *value):
    """Return a copy with another value in one place, or with none."""
    other = copy.deepcopy(record)
    inner = value_at(other, path[:-1])
    if value:
        (inner[path[-1]],) = value
    else:
        del inner[path[-1]]
    return other
