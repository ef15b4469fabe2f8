"""Functions of mathematics that are written out in exported C: how accurate they are, and that they become vectors."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.lowering.source.c_functions import WRITTEN
from pykern.lowering.source.language import FUNCTIONS
from tests.lowering.source_runs import c_compiler, compiled_c
from tests.passes.test_vector_math import arguments, worst


@pk.kernel
def functions(out, x):
    i = pk.index()
    v = x[i]
    out[0, i] = pk.exp(v)
    out[1, i] = pk.exp2(v)
    out[2, i] = pk.expm1(v)
    out[3, i] = pk.log(v)
    out[4, i] = pk.log2(v)
    out[5, i] = pk.log10(v)
    out[6, i] = pk.log1p(v)
    out[7, i] = pk.sinh(v)
    out[8, i] = pk.cosh(v)
    out[9, i] = pk.tanh(v)
    out[10, i] = pk.erf(v)
    out[11, i] = pk.atan(v)
    out[12, i] = pk.asin(v)
    out[13, i] = pk.acos(v)
    out[14, i] = pk.asinh(v)
    out[15, i] = pk.atanh(v)
    out[16, i] = pk.cbrt(v)
    out[17, i] = pk.acosh(v)  # by the C library in f32


NAMES = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sinh", "cosh", "tanh", "erf", "atan", "asin", "acos",
    "asinh", "atanh", "cbrt", "acosh",
)  # fmt: skip


@pk.kernel
def directions(x, y, out):
    i = pk.index()
    out[i] = pk.atan2(x[i], y[i])


def specs(*arrays: np.ndarray) -> list[Any]:
    """Arrays of known lengths, so that a function takes nothing else."""
    return [pk.spec(each.shape, pk.f32 if each.dtype == np.float32 else pk.f64) for each in arrays]


@pytest.mark.parametrize(
    "flags", [("-O1", "-ffp-contract=off"), ("-O3", "-march=native", "-ffp-contract=fast")]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_accuracy(dtype: type, flags: tuple[str, ...]) -> None:
    """Also where a compiler makes one operation of a product and a sum, which it may not have been told to leave."""
    if c_compiler() is None:
        pytest.skip("no compiler of C: cc, gcc or clang")
    x = np.ascontiguousarray(arguments(dtype, 7)[::5])
    out = np.zeros((len(NAMES), x.size), dtype)
    made = pk.export(functions, *specs(out, x), ndrange=x.size, form="c")
    for name in {*NAMES} - {"acosh"}:
        assert re.search(rf"\b{name}_f\d\d\(", made.text), name
    run = compiled_c(made.text, "functions", ("-std=c11", *flags, "-Wall", "-Werror")).functions
    run(*(ctypes.c_void_p(each.ctypes.data) for each in (out, x)))
    for name, found in zip(NAMES, out, strict=True):
        error, where = worst(found, name, x, dtype)
        assert error <= 4, f"{name}({where!r}) is {error} units off"


def test_two_numbers() -> None:
    if c_compiler() is None:
        pytest.skip("no compiler of C: cc, gcc or clang")
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    x, y = (np.array(each, np.float32).ravel() for each in np.meshgrid(special, special))
    out = np.zeros_like(x)
    made = pk.export(directions, *specs(x, y, out), ndrange=x.size, form="c")
    assert "atan2_f32(" in made.text
    run = compiled_c(made.text, "directions").directions
    run(*(ctypes.c_void_p(each.ctypes.data) for each in (x, y, out)))
    expected = np.arctan2(x, y)
    np.testing.assert_allclose(out, expected, rtol=3e-7)
    assert (np.signbit(out) == np.signbit(expected))[~np.isnan(expected)].all()


def test_what_is_written_out_is_tested() -> None:
    tested = {*NAMES, "atan2"}
    assert {FUNCTIONS.get(name, name) for names in WRITTEN.values() for name in names} == tested


@pk.kernel
def grown(out, x):
    i = pk.index()
    out[i] = pk.exp(x[i]) + pk.log(x[i])


@pytest.mark.parametrize("flags", [(), ("-mavx2",), ("-mavx512f", "-fopenmp")])
def test_loops_become_vectors(flags: tuple[str, ...], tmp_path: Path) -> None:
    """GCC says so of its own accord."""
    gcc = shutil.which("gcc")
    if (
        gcc is None
        or "Free Software"
        not in subprocess.run([gcc, "--version"], capture_output=True, text=True, check=True).stdout
    ):
        pytest.skip("no GCC")
    if os.uname().machine != "x86_64":
        pytest.skip("vectors of other machines")
    made = pk.export(
        grown, pk.spec((1 << 12,), pk.f32), pk.spec((1 << 12,), pk.f32), ndrange=1 << 12, form="c"
    )
    file = tmp_path / "grown.c"
    file.write_text(made.text)
    told = subprocess.run(
        [gcc, "-std=c11", "-O3", *flags, "-fopt-info-vec", "-c", "-w", "-o", str(tmp_path / "grown.o"), str(file)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "loop vectorized" in told.stderr, told.stderr
