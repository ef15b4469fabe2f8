"""Rules of the lesser and the greater of floats, of two or three."""

from __future__ import annotations

from pykern.runtime.emulator.amd.floats import each, held, kind_of
from pykern.runtime.emulator.amd.values import Values


def extreme(t: Values, kind: str, how: str, x: str, y: str) -> str:
    """The lesser or the greater one; the number where one is NaN. -0 is less than 0."""
    held_kind = held(kind)
    found = t.intrinsic("minimum" if how == "min" else "maximum", held_kind, x, y)
    found = t.select(t.compare("uno", held_kind, y, y), held_kind, x, found)
    found = t.select(t.compare("uno", held_kind, x, x), held_kind, y, found)
    return t.op("fmul", held_kind, found, 1.0)  # makes a signalling NaN a quiet one


@each("min max")
def min_max(t: Values, name: str) -> None:
    kind = kind_of(name)
    t.result(extreme(t, kind, name.split("_")[1], t.source(1, kind), t.source(2, kind)), kind)


@each("minimum maximum")
def ieee_min_max(t: Values, name: str) -> None:
    """NaN where one is NaN."""
    kind = kind_of(name)
    x, y = t.source(1, kind), t.source(2, kind)
    t.result(t.intrinsic(name.split("_")[1], held(kind), x, y), kind)


@each("min3 max3 minmax maxmin med3", ("f16", "f32"))
def of_three(t: Values, name: str) -> None:
    kind, how = kind_of(name), name.split("_")[1]
    x, y, z = (t.source(n, kind) for n in (1, 2, 3))
    if how == "med3":
        t.result(_median(t, kind, x, y, z), kind)
        return
    first, second = (how[:3], how[3:]) if how in ("minmax", "maxmin") else (how[:3], how[:3])
    t.result(extreme(t, kind, second, extreme(t, kind, first, x, y), z), kind)


def _median(t: Values, kind: str, x: str, y: str, z: str) -> str:
    """Where one is NaN, the least of the three."""
    k = held(kind)
    low, high = extreme(t, kind, "min", x, y), extreme(t, kind, "max", x, y)
    middle = extreme(t, kind, "max", low, extreme(t, kind, "min", high, z))
    least = extreme(t, kind, "min", low, z)
    nan = t.op("or", "i1", t.compare("uno", k, x, y), t.compare("uno", k, z, z))
    return t.select(nan, k, least, middle)


@each("minimum3 maximum3", ("f16", "f32"))
def ieee_of_three(t: Values, name: str) -> None:
    kind, how = kind_of(name), name.split("_")[1].removesuffix("3")
    x, y, z = (t.source(n, kind) for n in (1, 2, 3))
    t.result(t.intrinsic(how, held(kind), t.intrinsic(how, held(kind), x, y), z), kind)
