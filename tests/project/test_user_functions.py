"""`pykern.testing`'s functions: they pass what is right, and name what is wrong."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.errors import DeviceError
from pykern.testing import assert_matches_python, check_ir, golden, missing_device

DTYPES = [
    np.bool_, np.int8, np.int64, np.uint16, np.uint64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64,
    ml_dtypes.float8_e4m3fn,
]  # fmt: skip


@pk.kernel
def copy_backwards(y, x):
    i = pk.index()
    y[x.shape[0] - 1 - i] = x[i]


@pk.kernel
def polynomial(y, x, a):
    i = pk.index()
    y[i] = a * x[i] * x[i] - x[i] / 3 + pk.sin(x[i])


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@pk.kernel
def sums(pair, total):
    i = pk.index()
    total[i] = pair.first[i] + pair.second[i]


@pk.jit
def halves(x):
    return x[: x.shape[0] // 2] * 2, (x * x).sum()


# -- assert_matches_python -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_right_kernels_pass(dtype, rng):
    x = rng.integers(0, 100, 37).astype(dtype)
    y = np.zeros_like(x)
    assert_matches_python(copy_backwards, y, x, ndrange=37)
    assert not y.any()  # both ran on copies


@pytest.mark.parametrize("device", ["cpu", "opencl:0"])
def test_views_special_values_and_scalars(device, rng, need_device):
    if device != "cpu":
        need_device(device)
    x = rng.standard_normal(101).astype(np.float32)
    x[[3, 5, 8]] = np.nan, np.inf, -0.0
    y = np.empty((51, 2), np.float32)
    assert_matches_python(polynomial, y[:, 1], x[::2], np.float32(0.5), ndrange=51, device=device)
    if device == "cpu":
        assert_matches_python(polynomial, y[::-1, 0], x[::-2], 2, ndrange=51)


def test_arrays_of_one_memory_stay_so(rng):
    x = rng.standard_normal(64)
    seen = []

    def record(y, x, device):
        seen.append((np.shares_memory(y, x), y.strides, x.strides, y.flags.writeable))
        y[:] = 1
        assert x[0] == 1

    frozen = x[::2]
    assert_matches_python(record, x[:32], frozen)
    assert seen == [(True, (8,), (16,), True)] * 2
    assert (x != 1).all()


def test_tuples_programs_and_device_arrays(rng, need_device):
    pair = Pair(*rng.standard_normal((2, 9)))
    assert_matches_python(sums, pair, np.zeros(9), ndrange=9)
    assert_matches_python(halves, rng.standard_normal(17))
    need_device("opencl:0")
    x = pk.asarray(rng.standard_normal(9).astype(np.float32), device="opencl:0")
    y = pk.zeros_like(x)
    assert_matches_python(polynomial, y, x, 0.5, ndrange=9)
    assert not y.numpy().any()


def off_by(error, at=(2, 1), dtype=np.float64):
    """What stands for a kernel that is wrong on the CPU alone."""

    def wrong(x, count, device):
        x[:] = 8
        if device == "cpu":
            x[at] += error
            x[0, 0] += error / 2

    wrong.__name__ = "wrong"
    return wrong, np.zeros((3, 2), dtype), np.zeros(4)


def test_the_worst_entry_is_named():
    with pytest.raises(AssertionError) as caught:
        assert_matches_python(*off_by(0.25))
    text = str(caught.value)
    assert "`wrong` on cpu is not what plain Python gives" in text
    assert "[2, 1]` is 8.25 on cpu, 8.0 in Python: the worst of 2 entries that differ, of 6" in text
    assert "argument 1" not in text  # the other array is right


def test_parameters_are_named():
    kernel, *args = off_by(1.0)
    kernel.signature = inspect.signature(kernel)
    with pytest.raises(AssertionError, match=r"`x\[2, 1\]` is 9\.0"):
        assert_matches_python(kernel, *args)


@pytest.mark.parametrize(
    ("dtype", "passes", "fails"),
    [
        (np.float64, 4e-12, 4e-11),
        (np.float32, 4e-5, 4e-4),
        (np.float16, 0.03, 0.3),
        (ml_dtypes.bfloat16, 0.2, 2.0),
        (ml_dtypes.float8_e4m3fn, 1.0, 4.0),
        (np.int32, 0, 1),
        (np.uint8, 0, 1),
    ],
)
def test_tolerances(dtype, passes, fails):
    assert_matches_python(*off_by(passes, dtype=dtype))
    with pytest.raises(AssertionError, match="in Python"):
        assert_matches_python(*off_by(fails, dtype=dtype))


def test_tolerances_that_are_given():
    assert_matches_python(*off_by(0.5), rtol=0.07)
    assert_matches_python(*off_by(0.5), rtol=0, atol=0.5)
    for loose in ({"rtol": 0.05}, {"rtol": 0, "atol": 0.4}, {"atol": 1e-3, "rtol": 1e-3}):
        with pytest.raises(AssertionError):
            assert_matches_python(*off_by(0.5), **loose)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_special_values_must_stand_in_the_same_places(wrong):
    with pytest.raises(AssertionError, match="in Python"):
        assert_matches_python(*off_by(wrong), rtol=1e9, atol=1e9)


def test_what_the_kernel_raises_comes_through():
    with pytest.raises(DeviceError):
        assert_matches_python(copy_backwards, np.zeros(3), np.zeros(3), ndrange=3, device="tpu")
    with pytest.raises(pk.LaunchError):
        assert_matches_python(copy_backwards, np.zeros(3), np.zeros(3))


# -- check_ir --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lowered():
    x = pk.spec(("n",), pk.f32)
    return copy_backwards.lower(x, x, ndrange="n")


def test_right_checks_pass(lowered):
    check_ir(lowered, "kern", "CHECK: kern.global_id")
    check_ir(lowered, 0, "CHECK-NOT: scf.for")
    check_ir(lowered, "expand-ndrange", "// CHECK: scf.for\n# CHECK: memref.store")
    check_ir(lowered.as_text("kern"), "my text", "MY: memref.load\nMY-NEXT: arith.constant", prefix="MY")
    check_ir("", "nothing", "CHECK-NOT: x")


def test_a_failure_shows_directive_and_ir(lowered):
    with pytest.raises(AssertionError) as caught:
        check_ir(lowered, "kern", "CHECK: kern.global_id\n\n  CHECK: memref.stroe")
    text = str(caught.value)
    assert "stage `kern` of `copy_backwards` does not match" in text
    assert "line 3 of the checks: CHECK: expected string not found in input" in text
    assert "\n      CHECK: memref.stroe\n" in text
    assert "| " in text
    assert "memref.store %" in text


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ("CHCEK: kern.global_id", "did you mean `CHECK`"),
        ("CHECK: kern\nCHECK-NXET: kern", "no such suffix"),
        ("check: kern", "written in capitals"),
        ("kern.global_id", "no directive"),
        ("", "no directive"),
        ("MY: kern", "no directive"),
    ],
)
def test_checks_that_check_nothing_are_refused(lowered, checks, said):
    with pytest.raises(ValueError, match=said):
        check_ir(lowered, "kern", checks)


def test_malformed_patterns_and_stages(lowered):
    with pytest.raises(AssertionError, match="kern"):
        check_ir(lowered, "kern", "CHECK: {{[}}")
    with pytest.raises(KeyError, match="no stage 'ptx'"):
        check_ir(lowered, "ptx", "CHECK: x")


# -- devices and golden files ----------------------------------------------------------------------


def test_missing_device():
    assert missing_device("cpu") is None
    assert missing_device("python") is None
    assert "metal" in (missing_device("metal") or "")
    assert "opencl:77" in (missing_device("opencl:77") or "") or "no opencl device" in (
        missing_device("opencl:77") or ""
    )
    for wrong in ("tpu", "cuda:one", ""):
        with pytest.raises(DeviceError):
            missing_device(wrong)


def test_golden_in_a_folder_without_the_plugin(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    golden("one", "a.txt", folder=tmp_path)
    golden("one\n\n", "a.txt", folder=tmp_path)
    with pytest.raises(AssertionError, match="two"):
        golden("two", "a.txt", folder=tmp_path)
    with pytest.raises(AssertionError, match="there is no golden file"):
        golden("one", "b.txt", folder=tmp_path)
    (tmp_path / "long.txt").write_text("x\n" * 99)
    with pytest.raises(AssertionError, match="120 lines more"):
        golden("y\n" * 98, "long.txt", folder=tmp_path)
