"""Arguments made of lists, dicts, tuples, named tuples and dataclasses: values, and derivatives of the same form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_package

random = np.random.default_rng(17)


class Layer(NamedTuple):
    w: Any
    b: Any


@dataclass
class Scaled:
    layer: Layer
    scale: float
    count: int


@pk.jit
def of_list(layers, x):
    for w, b in layers[:-1]:
        x = pk.tanh(x @ w + b)
    w, b = layers[-1]
    return ((x @ w + b) ** 2).sum()


@pk.jit
def of_dict(p, x):
    return (pk.tanh(x @ p["w.1"] + p["b"]) ** 2).sum() * p["w"]["1"]


@pk.jit
def of_structs(p, x):
    return p.scale * (pk.tanh(x @ p.layer.w + p.layer.b) ** 2).sum() * p.count


def layers():
    return [(random.standard_normal(s), random.standard_normal(s[1])) for s in ((3, 5), (5, 4), (4, 2))]


def by_differences(function, leaf, step=1e-6):
    """The gradient by an array that the function reads, entry by entry."""
    found = np.zeros_like(leaf)
    for at in np.ndindex(leaf.shape):
        kept = leaf[at]
        leaf[at] = kept + step
        above = function()
        leaf[at] = kept - step
        found[at] = (above - function()) / (2 * step)
        leaf[at] = kept
    return found


def test_lists_of_tuples():
    p, x = layers(), random.standard_normal((6, 3))

    def plain():
        y = x
        for w, b in p[:-1]:
            y = np.tanh(y @ w + b)
        return ((y @ p[-1][0] + p[-1][1]) ** 2).sum()

    for _ in range(3):  # also through what is kept for the next call
        np.testing.assert_allclose(of_list(p, x), plain(), rtol=1e-13)
        value, gradient = pk.value_and_grad(of_list)(p, x)
        np.testing.assert_allclose(value, plain(), rtol=1e-13)
        assert type(gradient) is list and all(type(g) is tuple for g in gradient)
        for given, found in zip(p, gradient, strict=True):
            for leaf, slope in zip(given, found, strict=True):
                np.testing.assert_allclose(slope, by_differences(plain, leaf), rtol=2e-6, atol=2e-7)
        p = [(w - 0.01 * dw, b - 0.01 * db) for (w, b), (dw, db) in zip(p, gradient, strict=True)]


def test_keys_that_read_like_paths():
    p = {"w": {"1": 2.5}, "w.1": random.standard_normal((3, 4)), "b": random.standard_normal(4)}
    x = random.standard_normal((6, 3))
    leaf = np.tanh(x @ p["w.1"] + p["b"])
    gradient = pk.grad(of_dict)(p, x)
    assert list(gradient) == list(p) and list(gradient["w"]) == ["1"]
    np.testing.assert_allclose(gradient["w"]["1"], (leaf**2).sum(), rtol=1e-13)
    np.testing.assert_allclose(gradient["w.1"], 5 * x.T @ (leaf * (1 - leaf**2)), rtol=1e-12)
    np.testing.assert_allclose(gradient["b"], 5 * (leaf * (1 - leaf**2)).sum(0), rtol=1e-12)


def test_structs_keep_their_fields_and_integers_have_no_derivative():
    p = Scaled(Layer(random.standard_normal((3, 4)), random.standard_normal(4)), 2.0, 3)
    x = random.standard_normal((6, 3))
    leaf = np.tanh(x @ p.layer.w + p.layer.b)
    value, gradient = pk.value_and_grad(of_structs)(p, x)
    np.testing.assert_allclose(value, 6 * (leaf**2).sum(), rtol=1e-13)
    np.testing.assert_allclose(gradient.layer.w, 12 * x.T @ (leaf * (1 - leaf**2)), rtol=1e-12)
    np.testing.assert_allclose(gradient.layer.b, 12 * (leaf * (1 - leaf**2)).sum(0), rtol=1e-12)
    np.testing.assert_allclose(gradient.scale, 3 * (leaf**2).sum(), rtol=1e-13)
    assert gradient.count is None
    (other, dx) = pk.vjp(of_structs, p, x)[1](1.0)  # a dataclass holds floats, too
    np.testing.assert_allclose(other.layer.w, gradient.layer.w, rtol=1e-13)
    np.testing.assert_allclose(dx, 12 * (leaf * (1 - leaf**2)) @ p.layer.w.T, rtol=1e-12)


def test_one_float_in_a_tuple_stays_in_a_tuple():
    @pk.jit
    def first(p):
        return (p[0] ** 2).sum()

    (gradient,) = pk.grad(first)((np.arange(3.0),))
    np.testing.assert_array_equal(gradient, [0, 2, 4])


def test_forward_mode_and_second_derivatives():
    p, x = {"w": random.standard_normal(3), "b": random.standard_normal()}, random.standard_normal((6, 3))
    v = {"w": random.standard_normal(3), "b": 0.5}

    @pk.jit
    def given(p, x):
        return ((x @ p["w"] + p["b"]) ** 4).sum()

    y, dy = x @ p["w"] + p["b"], x @ v["w"] + v["b"]
    np.testing.assert_allclose(pk.jvp(given, (p, x), (v, None))[1], (4 * y**3 * dy).sum(), rtol=1e-12)
    second = pk.jvp(pk.grad(given), (p, x), (v, None))[1]
    np.testing.assert_allclose(second["w"], x.T @ (12 * y**2 * dy), rtol=1e-11)
    np.testing.assert_allclose(second["b"], (12 * y**2 * dy).sum(), rtol=1e-11)


def test_a_returned_list_is_a_tuple_as_everywhere():
    @pk.jit
    def same(p):
        return p

    given = [np.arange(2.0), {"a": np.ones(3), "b": (np.zeros(1),)}]
    for _ in range(3):
        found = same(given)
        assert type(found) is tuple and type(found[1]) is dict and type(found[1]["b"]) is tuple
        np.testing.assert_array_equal(found[0], given[0])
        np.testing.assert_array_equal(found[1]["a"], np.ones(3))
    with pk.device("python"):
        assert type(same(given)) is tuple


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
def test_on_devices(device):
    p, x = layers(), random.standard_normal((6, 3))
    there = [tuple(pk.asarray(leaf, device=device) for leaf in pair) for pair in p]
    value, gradient = pk.value_and_grad(of_list)(there, pk.asarray(x, device=device))
    want, slopes = pk.value_and_grad(of_list)(p, x)
    np.testing.assert_allclose(np.asarray(value), want, rtol=1e-11)
    for have, slope in zip(gradient, slopes, strict=True):
        for a, b in zip(have, slope, strict=True):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-10, atol=1e-12)


def test_tensors_of_torch():
    torch = need_package("torch")
    x = torch.arange(4, dtype=torch.float64)

    @pk.jit
    def squares(x):
        return x * x

    value, pull = pk.vjp(squares, x)
    np.testing.assert_array_equal(value, [0, 1, 4, 9])
    np.testing.assert_array_equal(pull(torch.ones(4, dtype=torch.float64))[0], [0, 2, 4, 6])
    np.testing.assert_array_equal(pk.jvp(squares, (x,), (torch.ones(4),))[1], [0, 2, 4, 6])


def test_small_floats_are_floats():
    bf16 = pk.bf16.numpy
    x = np.arange(4).astype(bf16)

    @pk.jit
    def squares(x):
        return (x * x).sum()

    (gradient,) = pk.vjp(squares, x)[1](1.0)
    np.testing.assert_array_equal(gradient.astype(float), [0, 2, 4, 6])


@pk.jit
def over_keys(p):
    total = 0.0
    for key in p:
        total = total + (p[key] ** 2).sum()
    for key, value in p.items():
        total = total + (value * p[key]).sum()
    for key, value in zip(p.keys(), p.values(), strict=False):
        total = total + (value * p[key]).sum()
    return total * len(p)


def test_loops_over_dicts():
    p = {"a": random.random(3), "b": random.random((2, 4))}
    wanted = 6 * ((p["a"] ** 2).sum() + (p["b"] ** 2).sum())
    np.testing.assert_allclose(over_keys(p), wanted, rtol=1e-13)
    with pk.device("python"):
        np.testing.assert_allclose(over_keys(p), wanted, rtol=1e-13)
    gradient = pk.grad(over_keys)(p)
    np.testing.assert_allclose(gradient["b"], 12 * p["b"], rtol=1e-13)


def test_check_grads_moves_every_leaf():
    p, x = layers(), random.standard_normal((6, 3))
    assert 0 < pk.check_grads(of_list, (p, x)).difference < 1e-6
    structs = Scaled(Layer(random.standard_normal((3, 4)), random.standard_normal(4)), 2.0, 3)
    assert 0 < pk.check_grads(of_structs, (structs, x)).difference < 1e-6

    @pk.jit
    def total(p):  # its derivative leaves out what the compiler is told to
        x = p["a"]["b"]
        return (x * pk.stop_gradient(x)).sum() + p["c"].sum()

    with pytest.raises(AssertionError, match=r"the gradient by `p\.a\.b\[\d\]` is"):
        pk.check_grads(total, ({"a": {"b": random.random(3)}, "c": random.random(2)},))


def test_check_grads_of_nothing_is_refused():
    @pk.jit
    def count(n):
        return (n * 1.0).sum()

    with pytest.raises(pk.KernelTypeError, match="nothing to check"):
        pk.check_grads(count, (np.arange(3),))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1.0, 2.0], "`p` is a list"),
        ({1: np.ones(2)}, "`p` is a dict"),
        ({"a": np.ones(2), "b": {2.0}}, "`p.b` is a set"),
    ],
)
def test_what_is_refused(value, said):
    with pytest.raises(pk.KernelTypeError, match=said) as caught:
        pk.grad(of_dict)(value, np.ones((2, 3)))
    assert caught.value.hint


def test_kernels_take_no_lists_and_dicts():
    @pk.kernel
    def fill(out, p):
        i = pk.index()
        out[i] = 1

    for value in ([np.ones(2)], {"a": np.ones(2)}):
        with pytest.raises(pk.KernelTypeError, match="which a kernel cannot take"):
            fill(np.ones(2), value, ndrange=2)


def test_arguments_of_check_grads_are_a_tuple():
    with pytest.raises(pk.KernelTypeError, match="takes a tuple of arguments, not ndarray"):
        pk.check_grads(pk.jit(lambda x: (x * x).sum()), np.ones(3))
