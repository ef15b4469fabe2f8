"""Array programs on the reference device: the function over NumPy gives what the compiled program gives."""

from __future__ import annotations

import copy
import dataclasses
import math
import os
import subprocess
import sys
import traceback
from typing import NamedTuple

import numpy as np
import pytest

import pykern as pk
from tests.cases.python_programs import CASES
from tests.frontend_program.test_programs import close


def agree(function, *args, exact=False):
    """Results and arguments afterwards, compiled and on the reference device; gives the latter's result."""
    program = function if isinstance(function, type(lookup)) else pk.jit(function)
    compiled, reference = copy.deepcopy(args), copy.deepcopy(args)
    expected = program(*compiled)
    with pk.device("python"):
        got = program(*reference)
    close(got, expected)
    for mine, theirs in zip(reference, compiled, strict=True):
        close(mine, theirs)
    return got


@pk.jit
def lookup(x, k):
    return x[k] * 2


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_programs(rng, function, arguments):
    agree(function, *(rng.random(a) if isinstance(a, tuple) else a for a in arguments))


# -- the language's own functions ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_functions_of_arrays(rng, dtype):
    def program(x, y):
        a = pk.sin(x) + pk.exp2(y) * pk.rsqrt(x + 1), pk.atan2(x, y), pk.erf(x), pk.hypot(x, 2.0)
        b = pk.where(x > y, x, 0.0), pk.minimum(x, y, 0.5), pk.maximum(x, 0), pk.clamp(x, 0.2, 0.8)
        c = pk.isnan(x / y), pk.floor(x * 9), pk.round(x * 9), pk.sign(x - y), pk.cast(x * 9, pk.i32)
        return a, b, c, pk.square(x), pk.pow(x, 2.0), pk.fma(x, y, x), pk.f32(x), x.astype(pk.f64), abs(-x)

    agree(program, rng.random((4, 5)).astype(dtype), rng.random(5).astype(dtype))


def test_functions_of_whole_numbers(rng):
    def program(x, y):
        return (
            pk.popcount(x),
            pk.clz(x),
            pk.gcd(x, y),
            pk.where(x > y, x, y),
            pk.cast(x, pk.u8),
            pk.cdiv(x, 7),
        )

    agree(program, rng.integers(0, 1000, 9), rng.integers(1, 1000, 9))
    agree(program, rng.integers(0, 1000, 9).astype("i4"), rng.integers(1, 1000, 9).astype("i4"))


def test_empty_arrays():
    def program(x):
        return pk.sin(x), pk.minimum(x, 1), pk.where(x > 0, x, 2.0), pk.isnan(x), pk.sum(x)

    agree(program, np.zeros((0, 3), "f4"))


def test_types_of_the_language(rng):
    def program(x):
        same = 1.0 if x.dtype == pk.f32 else 2.0
        return pk.zeros(3, pk.f32), pk.full((2,), 3, pk.i16), x.astype(pk.f16), same, pk.arange(4), pk.eye(3)

    agree(program, rng.random(3))
    agree(program, rng.random(3).astype("f4"))


# -- kernels and programs inside ------------------------------------------------------------------


@pk.kernel
def heat_step(new, old, c):
    i = pk.index()
    if 0 < i < old.shape[0] - 1:
        new[i] = old[i] + c * (old[i - 1] - 2 * old[i] + old[i + 1])
    else:
        new[i] = old[i]


@pk.kernel
def reversed_in_groups(y, x):
    i, k = pk.index(), pk.local_index()
    cell = pk.shared(4, pk.f64)
    cell[k] = x[i]
    pk.barrier()
    y[i] = cell[3 - k]


@pk.jit
def steps(old, c, n):
    for _ in pk.range(n):
        new = pk.empty_like(old)
        heat_step(new, old, c, ndrange=old.shape)
        old = new
    return old


@pk.jit
def doubled_in_place(x):
    x *= 2
    return x


@pk.jit
def whole(x, n):
    y = doubled_in_place(x)
    y += 1  # the same array: programs that are called are helpers
    z = pk.zeros_like(x)
    reversed_in_groups(z, steps(x, 0.1, n), ndrange=x.shape, workgroup=4)
    return z, y, lookup(x, np.int64(2))


def test_kernels_and_programs_inside(rng):
    agree(steps, rng.random(9), 0.2, 5)
    x = rng.random(8)
    z, _, _ = agree(whole, x, 2)
    old = 2 * x + 1
    for _ in range(2):
        old[1:-1] = old[1:-1] + 0.1 * (old[:-2] - 2 * old[1:-1] + old[2:])
    np.testing.assert_allclose(z, old.reshape(2, 4)[:, ::-1].ravel(), rtol=1e-14)


# -- arguments and results ------------------------------------------------------------------------


class Pair(NamedTuple):
    a: np.ndarray
    b: float


@dataclasses.dataclass
class Box:
    low: np.ndarray
    high: np.ndarray


def test_results_share_no_memory(rng):
    def program(x):
        y = x[1:]
        return x, y, y, x.T, [y + 1, x]

    x = rng.random(5)
    with pk.device("python"):
        result = pk.jit(program)(x)
    assert type(result[-1]) is tuple
    found = [*result[:-1], *result[-1], x]
    assert not any(np.shares_memory(a, b) for n, a in enumerate(found) for b in found[:n])
    assert all(a.flags.c_contiguous for a in found)


def test_structures(rng):
    def program(p, n, flag):
        return {"a": p.a * p.b, "n": (n + 1, flag, None)}, Pair(p.a, n * 0.5)

    result = agree(program, Pair(rng.random(3), 2.0), 3, True)
    assert result[1].b == 1.5


def test_scalar_annotations_convert():
    def program(x, s: pk.f32, n: pk.static):
        return x * s, s / 3, x.reshape(n, 2)

    got = agree(program, np.ones(4, "f4"), 0.1, 2)
    assert got[1].dtype == np.float32


def test_out_is_written(rng):
    def program(x):
        return x + 1, x.T, x.sum()

    x = rng.random((2, 3))
    out = np.zeros((2, 3)), np.zeros((3, 2))
    with pk.device("python"):
        first, second, total = pk.jit(program)(x, out=out)
        with pytest.raises(pk.errors.LaunchError, match="there are 2 results"):
            pk.jit(program)(x, out=out[0])
        with pytest.raises(pk.errors.LaunchError, match="has float64"):
            pk.jit(program)(x, out=out[::-1])
    assert first is out[0]
    assert second is out[1]
    np.testing.assert_array_equal(out[1], x.T)
    assert total == x.sum()


def test_wrong_calls():
    with pk.device("python"):
        with pytest.raises(pk.errors.KernelTypeError, match="missing a required argument"):
            steps(np.zeros(3))
        with pytest.raises(pk.errors.KernelTypeError, match="which kernels do not support"):
            lookup(np.zeros(3, "U3"), 0)
        with pytest.raises(pk.errors.DeviceError, match="not their derivatives"):
            pk.grad(pk.jit(lambda_free_sum))(np.zeros(3))


def lambda_free_sum(x):
    return pk.sum(x)


# -- which device, and why ------------------------------------------------------------------------


def test_it_is_the_function_that_runs():
    """Lines of the user are in the traceback: a breakpoint stops there."""

    def program(x, k):
        y = x + 1
        return y[k]

    with pk.device("python"), pytest.raises(IndexError) as caught:
        pk.jit(program)(np.zeros(3), 5)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "return y[k]"
    assert pk.jit(program)(np.zeros(3), 5) == 1.0  # compiled: brought to the edge


def test_errors_of_kernels_inside_stand_at_their_line():
    with pk.device("python"), pytest.raises(pk.errors.OutOfBounds) as caught:
        pk.jit(outside)(np.zeros(3))
    assert "a[i + 1] = 1.0" in str(caught.value)


@pk.kernel
def beyond(a):
    i = pk.index()
    a[i + 1] = 1.0


def outside(x):
    beyond(x, ndrange=3)


def test_the_block_ends():
    x = np.arange(4.0)
    before = lookup(x, 1)
    with pk.device("python"):
        assert lookup(x, np.array([1])) == before
        with pytest.raises(IndexError):
            lookup(x, 9)
        with pk.device("cpu"):
            assert lookup(x, 9) == 6.0
    assert lookup(x, 9) == 6.0


def test_the_environment_chooses(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import numpy as np, pykern as pk\n"
        "@pk.jit\n"
        "def program(x):\n"
        "    print('here', x.sum())\n"
        "    return x * 2\n"
        "print(program(np.ones(3)))\n"
    )
    run = subprocess.run(
        [sys.executable, script], env=os.environ | {"PYKERN_DEVICE": "python"}, capture_output=True, text=True
    )
    assert run.stdout == "here 3.0\n[2. 2. 2.]\n", run.stderr


def test_python_numbers_stay_pythons():
    def program(n):
        return n * 2**62, math.sqrt(n)

    with pk.device("python"):
        assert pk.jit(program)(4) == (2**64, 2.0)
