"""Chains of elementwise operations: one loop, one pass over memory, results where they belong."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import LaunchError
from tests.cases.program_texts import TextProgram, elementwise, program


def chain(length: int) -> str:
    kind = f"tensor<{length}xf32>"
    two = f"{kind}, {kind}"
    body = "".join(
        [
            elementwise("%s0", "%x, %y", two, kind, "%r = arith.addf %a, %b : f32"),
            elementwise("%s1", "%s0, %x", two, kind, "%r = arith.mulf %a, %b : f32"),
            elementwise("%s2", "%s1, %y", two, kind, "%r = arith.subf %a, %b : f32"),
            elementwise("%s3", "%s2", kind, kind, "%r = math.exp %a : f32"),
            elementwise("%s4", "%s3, %x", two, kind, "%r = arith.addf %a, %b : f32"),
            f"\n  return %s4 : {kind}",
        ]
    )
    return program(f"%x: {kind}, %y: {kind}", kind, body)


def chain_numpy(x, y):
    return np.exp((x + y) * x - y) + x


@pytest.mark.parametrize("length", [0, 1, 7, 1000, 100_003])
def test_chain(rng, length):
    f = TextProgram(chain(length))
    x, y = rng.random((2, length), np.float32)
    kept = x.copy(), y.copy()
    (result,) = f(x, y)
    np.testing.assert_allclose(result, chain_numpy(x, y), rtol=2e-6)
    np.testing.assert_array_equal((x, y), kept)
    assert result.dtype == np.float32


def test_chain_is_one_loop_without_an_array_between():
    text = TextProgram(chain(1000)).buffers
    assert text.count("linalg.generic") == 1
    assert "memref.alloc" not in text and "memref.copy" not in text


def test_special_values():
    f = TextProgram(chain(5))
    x = np.array([np.nan, np.inf, -np.inf, 0, -0.0], np.float32)
    y = np.ones(5, np.float32)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(f(x, y)[0], chain_numpy(x, y), rtol=2e-6)


def test_out(rng):
    f = TextProgram(chain(100))
    x, y = rng.random((2, 100), np.float32)
    out = np.empty(100, np.float32)
    (result,) = f(x, y, out=[out])
    assert result is out
    np.testing.assert_allclose(out, chain_numpy(x, y), rtol=2e-6)


def test_out_may_be_strided(rng):
    f = TextProgram(chain(100))
    x, y = rng.random((2, 100), np.float32)
    out = np.zeros((100, 2), np.float32)
    (result,) = f(x, y, out=[out[:, 1]])
    np.testing.assert_allclose(out[:, 1], chain_numpy(x, y), rtol=2e-6)
    assert np.all(out[:, 0] == 0)
    assert result.base is out


def test_out_may_be_an_argument(rng):
    """Row by row what is read would have been overwritten: here out is the argument shifted by one."""
    f = TextProgram(chain(100))
    memory = rng.random(101, np.float32)
    y = rng.random(100, np.float32)
    expected = chain_numpy(memory[:-1], y)
    f(memory[:-1], y, out=[memory[1:]])
    np.testing.assert_allclose(memory[1:], expected, rtol=2e-6)


def test_strided_arguments_are_copied_in(rng):
    f = TextProgram(chain(50))
    x, y = rng.random((2, 100), np.float32)[:, ::-2]
    np.testing.assert_allclose(f(x, y)[0], chain_numpy(x, y), rtol=2e-6)


def test_read_only_arguments_are_fine(rng):
    f = TextProgram(chain(50))
    x, y = rng.random((2, 50), np.float32)
    x.flags.writeable = y.flags.writeable = False
    np.testing.assert_allclose(f(x, y)[0], chain_numpy(x, y), rtol=2e-6)


def test_donation(rng):
    """A donated argument is where the result lies."""
    text = chain(100).replace("%x: tensor<100xf32>,", '%x: tensor<100xf32> {kern.name = "x"},')
    f = TextProgram(text, donated=("x",))
    x, y = rng.random((2, 100), np.float32)
    expected = chain_numpy(x, y)
    (result,) = f(x, y)
    assert result is x
    np.testing.assert_allclose(x, expected, rtol=2e-6)
    assert "memref.copy" not in f.buffers and "memref.alloc" not in f.buffers


def test_donation_is_refused_for_what_others_see(rng):
    text = chain(100).replace("%x: tensor<100xf32>,", '%x: tensor<100xf32> {kern.name = "x"},')
    f = TextProgram(text, donated=("x",))
    x = rng.random(100, np.float32)
    with pytest.raises(LaunchError, match="overlaps"):
        f(x, x)
    x.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        f(x, x.copy())


def test_in_place_update(rng):
    """`x[:] = f(x, y)` in the caller's own array."""
    kind = "tensor<100xf32>"
    body = (
        elementwise("%s", "%x, %y", f"{kind}, {kind}", kind, "%r = arith.mulf %a, %b : f32")
        + elementwise("%t", "%s, %y", f"{kind}, {kind}", kind, "%r = arith.addf %a, %b : f32")
        + f"\n  return %t, %s : {kind}, {kind}"
    )
    f = TextProgram(
        program(f"%x: {kind}, %y: {kind}", f"{kind}, {kind}", body, attributes=", kern.updated = [0 : i64]")
    )
    x, y = rng.random((2, 100), np.float32)
    before = x.copy()
    (result,) = f(x, y)
    np.testing.assert_allclose(result, before * y + y, rtol=1e-6)
    np.testing.assert_allclose(x, before * y, rtol=1e-6)


def test_in_place_update_of_a_strided_array(rng):
    kind = "tensor<50xf32>"
    body = (
        elementwise("%s", "%x, %y", f"{kind}, {kind}", kind, "%r = arith.mulf %a, %b : f32")
        + f"\n  return %s : {kind}"
    )
    f = TextProgram(program(f"%x: {kind}, %y: {kind}", kind, body, attributes=", kern.updated = [0 : i64]"))
    memory, y = rng.random(100, np.float32), rng.random(50, np.float32)
    before = memory.copy()
    assert f(memory[::2], y) == []
    np.testing.assert_allclose(memory[::2], before[::2] * y, rtol=1e-6)
    np.testing.assert_array_equal(memory[1::2], before[1::2])


def test_several_results_and_an_argument_among_them(rng):
    kind = "tensor<64xf32>"
    body = (
        elementwise("%s", "%x, %y", f"{kind}, {kind}", kind, "%r = arith.mulf %a, %b : f32")
        + f"\n  return %s, %x, %s : {kind}, {kind}, {kind}"
    )
    f = TextProgram(program(f"%x: {kind}, %y: {kind}", f"{kind}, {kind}, {kind}", body))
    x, y = rng.random((2, 64), np.float32)
    first, same, again = f(x, y)
    np.testing.assert_array_equal(first, x * y)
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(again, x * y)
    assert not np.shares_memory(same, x) and not np.shares_memory(first, again)


@pytest.mark.parametrize("n", [0, 1, 37])
def test_results_that_others_read_stay_in_one_loop(rng, n):
    @pk.jit
    def f(x, y):
        a = pk.exp(x) + y
        b = a * x
        a = a + b
        return a / (1 + b * b), b, a.reshape(-1, 5)

    x, y = rng.random((2, n, 5))
    a = np.exp(x) + y
    b = a * x
    a = a + b
    for have, want in zip(f(x, y), (a / (1 + b * b), b, a.reshape(-1, 5)), strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-13)
    if n:
        text = f.lower(x, y).as_text("kern-fuse-siblings")
        assert text.count("linalg.generic") == 1


def test_a_sum_and_others_subtract_the_mean_themselves(rng):
    @pk.jit
    def f(x):
        centred = x - x.mean(axis=1, keepdims=True)
        return (centred * centred).sum(axis=0), centred * 2, (centred**3).sum(axis=1)

    x = rng.random((13, 37))
    centred = x - x.mean(axis=1, keepdims=True)
    right = (centred * centred).sum(axis=0), centred * 2, (centred**3).sum(axis=1)
    for have, want in zip(f(x), right, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-11, atol=1e-14)
