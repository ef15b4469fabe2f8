"""The compiled entry of array programs: what it takes without Python, what it hands on, and what it leaves behind."""

from __future__ import annotations

import sys
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelError, KernelTypeError, LaunchError
from pykern.program import entry as program_entry
from pykern.runtime.launchable import SUPPORTED
from tests.programs.entry_calls import error, random, through_python, warm

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="there are no compiled entries on this Python")
SCALE = 2.0


@pk.jit
def add(a, b):
    """The sum."""
    return a + b


@pk.jit
def several(a, n):
    return {"twice": a * 2, "pair": (a + n, None)}, a.sum(), (a[0, 0] > 0.5, n + 1, 3), a


@pk.jit
def scaled(a):
    return a * SCALE


@pk.jit
def increase(a, b):
    a += b
    return a.sum()


def equal(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    elif isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            equal(one, other)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            equal(found[key], expected[key])
    else:
        assert found == expected


# -- what it takes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 5), (2, 0, 3), (2, 1, 3, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_shapes(shape, dtype):
    a, b = random(*shape, dtype=dtype), random(*shape, dtype=dtype)
    first = add(a, b)
    found = warm(add, a, b)
    assert type(found) is type(first) and found.shape == shape and found.dtype == dtype
    np.testing.assert_array_equal(found, a + b)
    if shape:
        out = np.zeros_like(a)
        assert warm(add, a, b, out=out) is out
        np.testing.assert_array_equal(out, a + b)
        assert found.flags.owndata and found.flags.writeable and found.base is None


@pytest.mark.parametrize("name", ["bool", "int8", "uint16", "uint64", "float16", "float64", "bfloat16"])
def test_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)

    @pk.jit
    def larger(a):
        return np.maximum(a, a[::-1]), a[0]

    a = np.array([3, 1, 0, 2]).astype(dtype)
    found, first = warm(larger, a)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.maximum(a, a[::-1]))
    equal(first, larger.__wrapped__(a)[1])


def test_values_of_every_form():
    a = random(3, 3)
    for n in (2, -7, 2**40):
        (forms, total, (more, following, three), same) = warm(several, a, n)
        equal(forms, {"twice": a * 2, "pair": (a + n, None)})
        assert type(total) is np.float32 and np.isclose(total, a.sum())
        assert bool(more) == bool(a[0, 0] > 0.5) and type(more) is type(several.__wrapped__(a, n)[2][0])
        assert (type(following), following, three) == (int, n + 1, 3)
        equal(same, a)


def test_tuples_of_arguments():
    Pair = namedtuple("Pair", "left right")

    @pk.jit
    def both(pair, c):
        return Pair(pair[0] + c, pair[1] - c), pair[0]

    pairs = [(random(4), random(4)), Pair(random(4), random(4))]
    for pair in pairs:
        for _ in range(3):
            (left, right), again = both(pair, 1.5)
            np.testing.assert_array_equal(left, pair[0] + np.float32(1.5))
            np.testing.assert_array_equal(right, pair[1] - np.float32(1.5))
            np.testing.assert_array_equal(again, pair[0])
    assert not through_python(lambda: both(pairs[0], 1.5))
    found, _ = both(pairs[0], 2.5)
    assert found._fields == ("left", "right")
    with pytest.raises(KernelError):
        both((random(4), "three"), 1.5)


def test_numbers_are_taken_by_value():
    @pk.jit
    def numbers(x, n, flag, z):
        return x * 2, n + 1, (1 if flag else 0) + n, z * 2

    for n in (0, 5, -3, 2**62, -(2**63) + 1):
        for x in (0.5, -1e300, float("inf")):
            for flag in (True, False):
                for z in (np.float32(1.5), np.int8(-3), np.uint64(2**63 + 1)):
                    found = numbers(x, n, flag, z)
                    wrapped = np.uint64((int(z) * 2) % 2**64) if type(z) is np.uint64 else z * type(z)(2)
                    assert found == (x * 2, n + 1, int(flag) + n, wrapped)
                    assert type(found[3]) is type(z)
    assert not through_python(lambda: numbers(1.5, 3, True, np.uint64(3)))
    for _ in range(2):
        with pytest.raises(LaunchError, match="64 bits"):
            numbers(1.5, 2**80, True, np.uint64(3))
    assert numbers(1.5, -1, True, np.uint64(3))[1] == 0  # no error is left behind


def test_annotated_and_static_numbers():
    @pk.jit
    def power(a, s: pk.f32, n: pk.static, how=None):
        return a**n * s if how is None else a

    a = random(5)
    np.testing.assert_allclose(warm(power, a, 0.1, 2, None), a**2 * np.float32(0.1), rtol=1e-6)
    np.testing.assert_allclose(power(a, 0.1, 3, None), a**3 * np.float32(0.1), rtol=1e-6)
    np.testing.assert_allclose(power(a, np.float32(0.1), 2, None), a**2 * np.float32(0.1), rtol=1e-6)
    np.testing.assert_allclose(power(a, 0.1, True, None), a * np.float32(0.1), rtol=1e-6)
    np.testing.assert_array_equal(power(a, 0.1, 2, "as it is"), a)
    np.testing.assert_allclose(power(a, 0.1, 2, None), a**2 * np.float32(0.1), rtol=1e-6)


def test_keywords_and_defaults():
    @pk.jit
    def affine(a, scale=2.0, n=3, flag=True, how=None, *, offset: pk.f32 = 0.5):
        return a * scale + n + offset if flag else a

    a, out = random(5), np.zeros(5, np.float32)
    plain = affine.__wrapped__
    calls = [
        ((a,), {}),
        ((a, 1.5), {}),
        ((a,), {"scale": 1.5}),
        ((a,), {"n": 7, "scale": 1.5}),
        ((a,), {"scale": 1.5, "n": 7}),
        ((), {"a": a, "offset": 0.25}),
        ((a, 2.0), {"flag": False, "offset": -1.0}),
    ]
    for args, keywords in calls:
        expected = plain(*args, **keywords).astype(np.float32)
        np.testing.assert_allclose(warm(affine, *args, **keywords), expected, rtol=1e-6)
        out[:] = 0
        assert warm(affine, *args, out=out, **keywords) is out
        np.testing.assert_allclose(out, expected, rtol=1e-6)
        assert warm(affine, *args, **keywords, out=out) is out
    np.testing.assert_allclose(affine(a, scale=3.5, n=-1), a * 3.5 - 1 + 0.5, rtol=1e-6)
    assert not through_python(lambda: affine(a, scale=3.5, n=-1))
    for args, keywords in [
        ((a, 1.0), {"scale": 2.0}),
        ((a,), {"size": 3}),
        ((), {}),
        ((a,), {"device": "nowhere"}),
    ]:
        with pytest.raises(KernelError):
            affine(*args, **keywords)
    name = "".join(["sc", "ale"])  # a string that is equal, but another one
    np.testing.assert_allclose(affine(a, **{name: 1.5}), plain(a, 1.5), rtol=1e-6)


def test_arrays_of_the_cpu():
    a, b = random(3, 4), random(3, 4)
    x = pk.asarray(a, device="cpu")
    for _ in range(4):
        found = add(x, b)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, a + b)
    assert not through_python(lambda: add(x, b))
    x.free()
    with pytest.raises(KernelError, match="freed"):
        add(x, b)


def test_gradients():
    @pk.jit
    def loss(w, x, y):
        return ((x @ w - y) ** 2).sum()

    w, x, y = random(4), random(6, 4), random(6)
    value, gradient = warm(pk.value_and_grad(loss), w, x, y)
    assert type(value) is np.float32
    np.testing.assert_allclose(value, ((x @ w - y) ** 2).sum(), rtol=1e-5)
    np.testing.assert_allclose(gradient, 2 * x.T @ (x @ w - y), rtol=1e-4)
    np.testing.assert_array_equal(warm(pk.grad(loss), w, x, y), gradient)
    value, (by_w, by_y) = warm(pk.value_and_grad(loss, argnums=(0, 2)), w, x, y)
    np.testing.assert_array_equal(by_w, gradient)
    np.testing.assert_allclose(by_y, -2 * (x @ w - y), rtol=1e-5)


# -- what it hands on ------------------------------------------------------------------------------


def test_other_arrays_go_the_long_way():
    a, b = random(3, 4), random(3, 4)
    warm(add, a, b)
    wide = random(4, 6)
    others = [
        a.T.copy().T,  # of another order
        wide[:3, :4],
        wide[::-1][:3, :4],
        np.asarray(a, np.float64),
        a.astype(np.int32),
        a.view(type("Own", (np.ndarray,), {})),
        np.broadcast_to(a[0], (3, 4)),
    ]
    for other in others:
        for _ in range(3):
            np.testing.assert_array_equal(add(other, b), np.asarray(other) + b)
    readonly = a.copy()
    readonly.flags.writeable = False
    np.testing.assert_array_equal(add(readonly, b), a + b)
    assert not through_python(lambda: add(readonly, b))
    unaligned = np.frombuffer(bytes(1) + a.tobytes(), np.float32, 12, 1).reshape(3, 4)
    np.testing.assert_array_equal(add(unaligned, b), a + b)
    for wrong in (a.astype(">f4"), a.astype(object), None, [1, 2]):
        with pytest.raises(KernelError):
            add(wrong, b)
    for wrong in ((), (a,), (a, b, a)):
        with pytest.raises(KernelTypeError):
            add(*wrong)
    with pytest.raises(KernelTypeError):
        add(a, c=b)
    np.testing.assert_array_equal(add(a, b[:1]), a + b[:1])


def test_out_is_checked():
    a, b, out = random(3, 4), random(3, 4), np.zeros((3, 4), np.float32)
    readonly = np.zeros_like(out)
    readonly.flags.writeable = False
    refused = [out[:2], out.astype(np.float64), out.T, readonly, (out, out), [], "text", 3]
    fresh = pk.jit(add.__wrapped__)
    before = [error(fresh, a, b, out=wrong) for wrong in refused]
    assert warm(add, a, b, out=out) is out
    assert [error(add, a, b, out=wrong) for wrong in refused] == before
    equal(add(a, b, out=None), a + b)
    assert not through_python(lambda: add(a, b, out=None))
    for taken in (np.zeros((4, 3), np.float32).T, np.zeros((3, 8), np.float32)[:, ::2], [out], (out,)):
        found = add(a, b, out=taken)
        np.testing.assert_array_equal(found, a + b)
    assert through_python(lambda: add(a, b, donate=(0,)))


def test_out_that_overlaps_is_written_through_a_copy():
    @pk.jit
    def turned(a, b):
        return a[::-1] + b

    memory = np.zeros(30, np.float32)
    a, out = memory[:20], np.zeros(20, np.float32)
    b = random(20)
    a[:] = random(20)
    expected = a[::-1] + b
    np.testing.assert_array_equal(warm(turned, a, b, out=out), expected)
    found = turned(a, b, out=memory[10:])  # overlaps in part
    np.testing.assert_array_equal(found, expected)
    a[:] = random(20)
    np.testing.assert_array_equal(turned(a, b, out=a), random(20)[::-1] + b)
    empty = np.zeros((0,), np.float32)
    assert warm(turned, empty, empty, out=empty) is empty


def test_out_of_several_results():
    @pk.jit
    def both(a):
        return a + 1, a.sum()

    a, one, total = random(7), np.zeros(7, np.float32), np.zeros((), np.float32)
    found, number = warm(both, a, out=(one, total))
    assert found is one and type(number) is np.float32
    np.testing.assert_array_equal(one, a + 1)
    assert number == total
    assert warm(both, a, out=[one, total])[0] is one
    for wrong in ((one,), (one, total, total), (one, one), one):
        with pytest.raises(LaunchError):
            both(a, out=wrong)
    with_hole = both(a, out=(one, np.zeros((), np.float32)))
    assert with_hole[0] is one


def test_arguments_that_are_written():
    a, b = np.ones(6, np.float32), np.full(6, 2, np.float32)
    for n in range(4):
        assert increase(a, b) == 18 + 12 * n
    np.testing.assert_array_equal(a, 9)
    assert not through_python(lambda: increase(a, b))
    memory = np.ones(8, np.float32)
    readonly = np.ones(6, np.float32)
    readonly.flags.writeable = False
    for wrong in ((memory[:6], memory[2:]), (a, a), (readonly, b)):
        with pytest.raises(LaunchError):
            increase(*wrong)
    assert not through_python(lambda: increase(memory[:6], b))
    np.testing.assert_array_equal(memory, [3] * 6 + [1] * 2)


def test_donation():
    @pk.jit(donate_argnums=0)
    def step(a, b):
        return a + b

    a, b = np.ones(5, np.float32), np.ones(5, np.float32)
    for n in range(4):
        assert step(a, b) is a
        np.testing.assert_array_equal(a, n + 2)
    assert not through_python(lambda: step(a, b))
    out = np.zeros(5, np.float32)
    for _ in range(4):
        assert step(a, b, out=out) is out  # then nothing is donated
        np.testing.assert_array_equal(a, 6)
        np.testing.assert_array_equal(out, 7)
    with pytest.raises(LaunchError, match="overlaps"):
        step(a, a)


def test_captured_names_are_looked_at(monkeypatch):
    a = random(4)
    np.testing.assert_array_equal(warm(scaled, a), a * np.float32(2))
    for scale in (3.0, 2.0, 5.0):
        monkeypatch.setattr(sys.modules[__name__], "SCALE", scale)
        np.testing.assert_array_equal(warm(scaled, a), a * np.float32(scale))
    monkeypatch.delattr(sys.modules[__name__], "SCALE")
    with pytest.raises(KernelError, match="SCALE"):
        scaled(a)


def test_closures_are_looked_at():
    factor = 2.0

    @pk.jit
    def times(a):
        return a * factor

    a = random(4)
    np.testing.assert_array_equal(warm(times, a), a * np.float32(2))
    factor = 4.0
    np.testing.assert_array_equal(warm(times, a), a * np.float32(4))


def test_another_device_and_graphs():
    a, b = random(3), random(3)
    warm(add, a, b)
    with pk.device("python"):
        assert through_python(lambda: add(a, b))
    out = np.zeros(3, np.float32)
    with pk.graph() as graph:
        add(a, b, out=out)
    assert not out.any()
    graph.replay()
    np.testing.assert_array_equal(out, a + b)
    assert not through_python(lambda: add(a, b))


def test_more_kinds_than_room():
    program = pk.jit(scaled.__wrapped__)
    arrays = [random(n) for n in range(1, 13)]
    for _ in range(3):
        for a in arrays:
            np.testing.assert_array_equal(program(a), a * np.float32(SCALE))
    assert sum(through_python(lambda a=a: program(a)) for a in arrays) == 4
    first = next(a for a in arrays if through_python(lambda a=a: program(a)))
    for _ in range(40):
        program(first)
    assert not through_python(lambda: program(first))  # it came back


def test_calls_in_any_order():
    program = pk.jit(add.__wrapped__)
    choose = np.random.default_rng(7)

    def array(shape, dtype):
        whole = np.zeros(tuple(2 * n for n in shape), dtype)
        made = [
            np.zeros(shape, dtype),
            np.zeros(shape[::-1], dtype).T,
            whole[tuple(slice(None, None, 2) for _ in shape)],
        ]
        chosen = made[choose.choice(3, p=[0.8, 0.1, 0.1])]
        chosen[...] = choose.integers(0, 100, shape)
        return chosen

    kinds = [
        ((3,), np.float32),
        ((2, 3), np.float32),
        ((2, 3), np.int32),
        ((0, 3), np.float64),
        ((3, 2), np.int32),
    ]
    for _ in range(600):
        shape, dtype = kinds[choose.integers(len(kinds))]
        a, b = array(shape, dtype), array(shape, dtype)
        expected = a + b
        outs = [None, array(shape, dtype), a, b]
        out = outs[choose.integers(4)]
        if choose.integers(2):
            found = program(a, b, out=out)
        else:
            found = program(a, out=out, b=b) if choose.integers(2) else program(b=b, a=a, out=out)
        equal(found, expected)
        assert out is None or found is out


def test_what_has_no_entry_is_not_tried_again(monkeypatch):
    @dataclass
    class Pair:
        left: np.ndarray
        right: np.ndarray

        def __getattr__(self, name):
            raise AttributeError(name)

    @pk.jit
    def both(pair):
        return pair.left + pair.right

    tried = []
    made = program_entry.words_of
    monkeypatch.setattr(program_entry, "words_of", lambda *args: tried.append(args) or made(*args))
    pair = Pair(random(3), random(3))
    for _ in range(100):
        np.testing.assert_array_equal(both(pair), pair.left + pair.right)
    assert len(tried) == 1


def test_forgotten_plans():
    a, b = random(5), random(5)
    program = pk.jit(add.__wrapped__)
    warm(program, a, b)
    program.forget_plans()
    assert through_python(lambda: program(a, b))
    np.testing.assert_array_equal(warm(program, a, b), a + b)


def test_it_is_a_program_still():
    assert add.__doc__ == "The sum." and add.__name__ == "add" and callable(add)
    assert "whole arrays" in type(add).__doc__
    assert isinstance(pk.grad(scaled), type(add))
