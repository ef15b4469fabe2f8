"""Records are frozen dataclasses: what `dataclass` makes of the same class does the same."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from pykern.data.records import record


def made(decorate):
    @decorate
    class Point:
        x: float
        y: float = 0.0
        tags: tuple = ()

    @decorate
    class Hidden:
        shown: int
        quiet: int = field(default=1, repr=False)
        loose: list = field(default_factory=list, compare=False)
        unhashed: int = field(default=2, hash=False)

    @decorate
    class Single:
        value: object

    @decorate
    class Empty:
        pass

    @decorate
    class Named:
        name: str

        def __eq__(self, other):
            return isinstance(other, Named)

        def __repr__(self):
            return f"<{self.name}>"

    @decorate
    class Hashed:
        name: str

        def __hash__(self):
            return 7

    @decorate
    class Deeper(Point):
        z: float = 3.0

    return SimpleNamespace(**locals())


nan = math.nan
CASES = [
    lambda k: (k.Point(1.0), k.Point(1.0)),
    lambda k: (k.Point(1.0, 2.0, (1,)), k.Point(1.0, 2.0, (1, 2))),
    lambda k: (k.Point(nan), k.Point(nan)),
    lambda k: (k.Point(1.0), (1.0, 0.0, ())),
    lambda k: (k.Point(1.0), k.Deeper(1.0)),
    lambda k: (k.Deeper(1.0, z=4.0), k.Deeper(1.0, z=4.0)),
    lambda k: (k.Hidden(1, 2, [3], 4), k.Hidden(1, 2, [5], 4)),
    lambda k: (k.Hidden(1, 2), k.Hidden(1, 3)),
    lambda k: (k.Hidden(1, 2, [], 5), k.Hidden(1, 2, [], 6)),
    lambda k: (k.Single(nan), k.Single(nan)),
    lambda k: (k.Single((1, 2)), k.Single([1, 2])),
    lambda k: (k.Single([1, 2]), k.Single([1, 2])),
    lambda k: (k.Empty(), k.Empty()),
    lambda k: (k.Named("a"), k.Named("b")),
    lambda k: (k.Hashed("a"), k.Hashed("b")),
]


def facts(first, second):
    def hashed(value):
        try:
            return hash(value)
        except TypeError:
            return "unhashable"

    same = hashed(first) == hashed(second)
    return (
        *map(repr, (first, second)),
        first == second, first != second, same, hashed(first) == "unhashable", dataclasses.asdict(first),
    )  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_like_a_dataclass(case):
    ours, theirs = (facts(*case(made(kind))) for kind in (record, dataclass(frozen=True)))
    assert repr(ours) == repr(theirs)  # nan among the facts


def test_nothing_changes_it():
    kinds = made(record)
    point = kinds.Point(1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.other = 2.0
    assert dataclasses.replace(point, y=5.0) == kinds.Point(1.0, 5.0)
    with pytest.raises(TypeError):
        kinds.Point()


def test_one_that_holds_itself_is_shown():
    inner: list = []
    loop = made(record).Single(inner)
    inner.append(loop)
    assert repr(loop).endswith("Single(value=[...])")


@record
class Kept:
    a: int
    b: tuple = ()


def test_copies_are_equal():
    kept = Kept(1, (2, "three"))
    for other in (pickle.loads(pickle.dumps(kept)), copy.copy(kept), copy.deepcopy(kept)):
        assert other == kept and hash(other) == hash(kept) and repr(other) == "Kept(a=1, b=(2, 'three'))"
