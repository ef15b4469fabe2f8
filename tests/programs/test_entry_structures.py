"""Lists, dicts and dataclasses of arrays as arguments: what the compiled entry takes of them, and what it leaves."""

from __future__ import annotations

import gc
import sys
import threading
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelError, LaunchError
from pykern.program.kinds import kind_of, leaf_values
from pykern.runtime.launchable import SUPPORTED
from tests.programs.entry_calls import random, through_python, warm

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="there are no compiled entries on this Python")
Pair = namedtuple("Pair", "left right")


@dataclass
class Layer:
    weights: object
    bias: object = 0.5


@dataclass(slots=True, frozen=True)
class Slots:
    weights: object
    bias: object


@pk.jit
def affine(layer, x):
    return x @ layer.weights + layer.bias


@pk.jit
def network(p, x):
    for layer in p["layers"]:
        x = x @ layer["w"] + layer["b"]
    return {"scaled": x * p["scale"], "pair": (p["layers"][0]["w"], p["scale"])}


def parameters():
    return {"layers": [{"w": random(3, 3), "b": random(3)}, {"w": random(3, 2), "b": 2.5}], "scale": 3.0}


def expected(p, x):
    for layer in p["layers"]:
        x = x @ layer["w"] + np.float32(layer["b"])
    return x * np.float32(p["scale"])


def test_dicts_and_lists():
    p, x = parameters(), random(4, 3)
    found = warm(network, p, x)
    np.testing.assert_allclose(found["scaled"], expected(p, x), rtol=1e-5)
    np.testing.assert_array_equal(found["pair"][0], p["layers"][0]["w"])
    assert found["pair"][1] == 3.0
    p["scale"], p["layers"][1]["b"] = -1.0, 0.0  # values are read at each call
    p["layers"][0] = {"".join(["w"]): random(3, 3), "".join("b"): random(3)}  # keys that are other objects
    found = network(p, x)
    np.testing.assert_allclose(found["scaled"], expected(p, x), rtol=1e-5)
    assert not through_python(lambda: network(p, x))


def test_other_structures_go_another_way():
    x = random(4, 3)
    warm(network, parameters(), x)
    for change in (
        lambda p: p["layers"].append({"w": random(2, 2), "b": 1.0}),
        lambda p: p["layers"].pop(),
        lambda p: p.update(more=1.0),
        lambda p: p.update(scale=np.float32(2)),
        lambda p: p["layers"][1].update(b=random(2)),
        lambda p: p.update(layers=tuple(p["layers"])),
        lambda p: p["layers"][0].update(w=random(6, 6)[::2, ::2]),
    ):
        p = parameters()
        change(p)
        np.testing.assert_allclose(network(p, x)["scaled"], expected(p, x), rtol=1e-5)
    for wrong in ({"layers": []}, {"layers": parameters()["layers"], 3: 1.0}, [1.0], None):
        with pytest.raises(KernelError):
            network(wrong, x)
    p = parameters()
    del p["scale"]
    with pytest.raises(KernelError, match="scale"):
        network(p, x)


def test_the_order_of_keys_is_part_of_the_structure():
    @pk.jit
    def in_order(d):
        first, second = d.values()
        return first * 2, second * 2

    a, b = random(3), random(3)
    first, second = warm(in_order, {"a": a, "b": b})
    np.testing.assert_array_equal(first, 2 * a)
    np.testing.assert_array_equal(second, 2 * b)
    first, second = in_order({"b": b, "a": a})
    np.testing.assert_array_equal(first, 2 * b)
    np.testing.assert_array_equal(second, 2 * a)


@pytest.mark.parametrize("kind", [Layer, Slots, namedtuple("Third", "weights bias")])
def test_dataclasses(kind):
    x = random(4, 3)
    layer = kind(random(3, 2), random(2))
    for _ in range(2):
        np.testing.assert_allclose(warm(affine, layer, x), x @ layer.weights + layer.bias, rtol=1e-5)
        layer = kind(random(3, 2) + 1, random(2))


def test_fields_that_are_missing_or_the_class_has():
    x = random(4, 3)
    default = Layer(random(3, 2))
    np.testing.assert_allclose(warm(affine, default, x), x @ default.weights + np.float32(0.5), rtol=1e-5)
    del default.bias  # the class has one
    np.testing.assert_allclose(affine(default, x), x @ default.weights + np.float32(0.5), rtol=1e-5)
    del default.weights
    with pytest.raises(AttributeError):
        affine(default, x)


def test_references_are_given_back():
    p, x = parameters(), random(4, 3)
    layer, w = Layer(random(3, 2), random(2)), p["layers"][0]["w"]
    warm(network, p, x)
    warm(affine, layer, x)
    watched = [w, p, p["layers"], layer, layer.weights, x, Layer, "layers", "weights"]
    before = _counts(watched)
    for _ in range(200):
        network(p, x)
        affine(layer, x)
    assert all(abs(a - b) < 50 for a, b in zip(before, _counts(watched), strict=True))


def _counts(objects):
    gc.collect()
    return [sys.getrefcount(o) for o in objects]


def test_arrays_are_held_while_they_are_read():
    @pk.jit
    def long(p):
        total = p[0]
        for _ in pk.range(20):
            total = pk.sin(total) + p[0]
        return total

    shape, sizes = (1 << 19,), []
    values = np.linspace(0, 1, *shape)
    want = warm(long, [values.copy()])
    for _ in range(5):
        held = [values.copy()]
        thread = threading.Thread(target=lambda held=held: sizes.append(long(held)))
        thread.start()
        held.clear()  # a call that has begun has its own reference
        np.full(shape, np.nan)
        thread.join()
    for found in sizes:
        np.testing.assert_array_equal(found, want)


def test_writes_and_overlaps_are_seen_inside():
    @pk.jit
    def add(p, x):
        p[0] += x
        return p[0].sum()

    a, x = random(6), random(6)
    p = [a.copy()]
    warm(add, [a.copy()], x)
    np.testing.assert_allclose(add(p, x), (a + x).sum(), rtol=1e-6)
    np.testing.assert_allclose(p[0], a + x, rtol=1e-6)
    with pytest.raises(LaunchError, match="overlaps"):
        add([a], a)
    a.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        add([a], x)


def test_kinds_tell_structures_apart():
    a, b = np.ones(3), np.ones(3, np.float32)
    values = [
        a, b, [a], (a,), Pair(a, a), (a, a), {"x": a}, {"y": a}, {"x": [a]}, {"x": 1.0}, {"x": 1}, {"x": True},
        Layer(a, a), Slots(a, a), Layer(a, b), {"x": a, "y": b}, {"y": b, "x": a}, [[a], a], [[a, a]], [a, [a]],
    ]  # fmt: skip
    kinds = [kind_of(v) for v in values]
    assert None not in kinds and len(set(kinds)) == len(kinds)
    assert kind_of([a, "text"]) is None and kind_of({"x": None}) is None and kind_of(np.float32(1)) is None
    assert [type(v) for v in leaf_values([{"x": [a, 2], "y": Layer(True, b)}, 0.0])] == [
        np.ndarray, int, int, np.ndarray, int,
    ]  # fmt: skip


def test_deep_models():
    @pk.jit
    def total(layers):
        s = 0.0
        for layer in layers:
            s = s + layer["w"].sum() * layer["b"].sum()
        return s

    layers = [{"w": random(2, 2), "b": random(2)} for _ in range(60)]
    want = sum(float(layer["w"].sum()) * float(layer["b"].sum()) for layer in layers)
    assert warm(total, layers) == pytest.approx(want, rel=1e-4)


def test_kinds_are_told_inside():
    @pk.jit
    def total(x):
        if isinstance(x, dict):
            return total_of(x["w"])
        return total_of(x)

    def total_of(x):
        if isinstance(x, tuple):
            return x[0].sum() + 10
        return x[0].sum() + 20 if isinstance(x, list) else x.sum()

    @pk.jit
    def is_number(x):
        return isinstance(x, int)

    x = np.ones(3)
    assert [total(v) for v in (x, (x,), [x], {"w": (x,)})] == [3, 13, 23, 13]
    with pytest.raises(pk.errors.KernelError, match="asks for tuple, list or dict"):
        is_number(x)


def test_what_is_known_is_told_inside():
    def told(x, n):
        known = 10 if isinstance(n, pk.static) else 20
        kinds = 0
        if isinstance(n, pk.static):
            kinds = 1 * isinstance(n, int) + 2 * isinstance(n, float) + 4 * isinstance(n, bool)
        return x + known + kinds

    program = pk.jit(lambda x, n: (told(x, n), told(x, 3), told(x, 2.5), told(x, True), told(x, (n, 1))))
    assert [float(v[0]) for v in program(np.zeros(1), 3)] == [20, 11, 12, 15, 20]
    with pk.device("python"):  # where all numbers are known
        assert [float(v[0]) for v in program(np.zeros(1), 3)] == [11, 11, 12, 15, 10]
