"""Conversions of short floats that LLVM calls by name: against NumPy and ml_dtypes, and that they are linked in."""

from __future__ import annotations

import ctypes
import os

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.lowering.elf.objects import parse
from pykern.lowering.elf.symbols import undefined
from pykern.lowering.llvm.codegen import assemble
from pykern.lowering.llvm.float_conversions import NAMES, TEXT
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.machines import ELSEWHERE, Host
from pykern.runtime.loader import load, open_library

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/maps") or os.uname().machine != "x86_64",
    reason="x86-64's ways of passing floats",
)
OLD = ELSEWHERE["x86-64-v2"][0]
WIDE = {"float": np.dtype(np.float32), "double": np.dtype(np.float64)}
NARROW = {"half": np.dtype(np.float16), "bfloat": np.dtype(ml_dtypes.bfloat16)}
ROUNDINGS = {
    "__truncsfhf2": ("float", "half"), "__truncdfhf2": ("double", "half"),
    "__truncsfbf2": ("float", "bfloat"), "__truncdfbf2": ("double", "bfloat"),
}  # fmt: skip
EXTENSIONS = {"__extendhfsf2": ("half", "float"), "__extendhfdf2": ("half", "double")}


def over_arrays(name: str, source: str, result: str) -> str:
    """A loop that calls a conversion; floats are passed as LLVM passes them."""
    size = {"float": 32, "double": 64, "half": 16, "bfloat": 16}
    return f"""
declare {result} @{name}({source})
define void @convert(ptr %to, ptr %from, i64 %count) {{
entry:
  br label %loop
loop:
  %n = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i{size[source]}, ptr %from, i64 %n
  %w = load i{size[source]}, ptr %p
  %x = bitcast i{size[source]} %w to {source}
  %y = call {result} @{name}({source} %x)
  %v = bitcast {result} %y to i{size[result]}
  %q = getelementptr i{size[result]}, ptr %to, i64 %n
  store i{size[result]} %v, ptr %q
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def converted(name: str, source: str, result: str, values: np.ndarray, host: Host) -> np.ndarray:
    code = open_library(link_shared(assemble(over_arrays(name, source, result), host), host=host))
    made = np.zeros(len(values), {**WIDE, **NARROW}[result])
    pointer = ctypes.c_void_p
    code.function("convert", None, pointer, pointer, ctypes.c_int64)(
        made.ctypes.data, values.ctypes.data, len(values)
    )
    return made


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """Bit by bit, but for what NaNs carry."""
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), nan)
    word = np.dtype(f"u{expected.dtype.itemsize}")
    np.testing.assert_array_equal(found.view(word)[~nan], expected.view(word)[~nan])
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def hard_values(wide: np.dtype, narrow: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """Values of the short format, the middles between neighbours, and what is next to both; random bits; limits."""
    every = np.arange(1 << 16, dtype=np.uint16).view(narrow)
    with np.errstate(invalid="ignore"):
        exact = every.astype(wide)
    exact = np.sort(exact[np.isfinite(exact)])
    largest = exact[-1]
    beyond = np.array([largest + (largest - exact[-2]) / 2], wide)  # from here on it is infinity
    middles = exact[:-1] / 2 + exact[1:] / 2
    found = np.concatenate([exact, middles, beyond, -beyond])
    found = np.concatenate(
        [found, np.nextafter(found, wide.type(np.inf)), np.nextafter(found, wide.type(-np.inf))]
    )
    bits = rng.integers(
        0, 1 << 8 * wide.itemsize, 100_000, dtype=np.dtype(f"u{wide.itemsize}"), endpoint=False
    )
    tiny = np.finfo(wide).smallest_subnormal
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, -np.nan, tiny, -tiny, np.finfo(wide).max], wide)
    return np.concatenate([found, bits.view(wide), special])


def rounded(values: np.ndarray, narrow: np.dtype) -> np.ndarray:
    """Once, to nearest, ties to even: ml_dtypes goes by way of f32, which rounds an f64 twice."""
    with np.errstate(over="ignore", invalid="ignore"):
        if narrow != np.dtype(ml_dtypes.bfloat16) or values.dtype == np.float32:
            return values.astype(narrow)
        single = values.astype(np.float32)
        back = single.astype(np.float64)
        inexact = np.isfinite(values) & np.isfinite(single) & (back != values)
        bits = single.view(np.uint32).copy()
        away = np.abs(back) > np.abs(values)
        bits[inexact & away] -= 1  # towards zero, then odd: what is rounded next knows that there was more
        bits[inexact] |= 1
        bits[np.isinf(single) & np.isfinite(values)] = np.float32(np.finfo(np.float32).max).view(np.uint32)
        odd = bits.view(np.float32)
        return np.copysign(odd, values).astype(np.float32).astype(narrow)


@pytest.mark.parametrize("name", ROUNDINGS)
def test_rounding(name: str, rng: np.random.Generator):
    source, result = ROUNDINGS[name]
    values = hard_values(WIDE[source], NARROW[result], rng)
    same(converted(name, source, result, values, OLD), rounded(values, NARROW[result]))


@pytest.mark.parametrize("name", EXTENSIONS)
def test_extension(name: str):
    source, result = EXTENSIONS[name]
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(invalid="ignore"):
        same(converted(name, source, result, values, OLD), values.astype(WIDE[result]))


def test_every_name_is_tried_and_none_needs_another():
    assert {*ROUNDINGS, *EXTENSIONS} == NAMES
    for host in (Host(), OLD, ELSEWHERE["aarch64"][0]):
        assert not undefined([parse(assemble(TEXT, host))])


@pk.kernel
def mixed(y, x, z):
    i = pk.index()
    y[i] = pk.f16(z[i] * pk.f64(x[i]))


def test_kernels_of_processors_without_them(rng: np.random.Generator):
    """f16 beside f64 has no instruction on either; code for the older one runs here as well."""
    x, z = rng.standard_normal(1000).astype(np.float16), rng.standard_normal(1000) * 1e3
    expected = (z * x.astype(np.float64)).astype(np.float16)
    for target in ("llvm", "llvm:x86-64-v2"):
        y = np.zeros_like(x)
        lowered = mixed.lower(y, x, z, ndrange=1000, target=target)
        code = load(lowered.artifact.binary, "")
        cells = [word for array in (y, x, z) for word in (array.ctypes.data, array.size)]
        code.run([*cells, 1000, 0])
        same(y, expected)
