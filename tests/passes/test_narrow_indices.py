"""kern-narrow-indices: the same bits as in 64 bits, near 2**31 above all; and kernels against NumPy."""

from __future__ import annotations

import random

import numpy as np
import pytest

import pykern as pk
from pykern.passes.framework import Upstream
from pykern.passes.kernel.narrow_indices import NarrowIndices
from tests.cases.jit import Compiled, transform

BINARY = ("addi", "subi", "muli", "divsi", "remsi", "divui", "remui", "floordivsi", "ceildivsi", "ceildivui",
          "minsi", "maxsi", "minui", "maxui", "andi", "ori", "xori", "shli", "shrsi", "shrui")  # fmt: skip
DIVISIONS = {"divsi", "remsi", "divui", "remui", "floordivsi", "ceildivsi", "ceildivui"}
PREDICATES = ("slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", "eq", "ne")
LIMITS = (2**31, 2**31 - 1, 2**31 - 3, 2**32 - 2, 2**30, 2**16, 46340, 7, 1, 0)
TRIPS = 12


class Body:
    """Index arithmetic of two loops, on values near limits: some of it as floats, some of it as addresses."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.values = ["%i", "%j", "%small"]
        self.stores = 0
        for _ in range(self.random.randint(2, 9)):
            self.values.append(self.operation())
        self.store(self.values[-1])
        self.store(self.random.choice(self.values))

    def new(self, text: str) -> str:
        self.lines.append(f"%v{len(self.lines)} = {text}")
        return f"%v{len(self.lines) - 1}"

    def constant(self, low: int, high: int) -> str:
        return self.new(f"arith.constant {self.random.randint(low, high)} : index")

    def limit(self) -> str:
        number = self.random.choice(LIMITS) * self.random.choice((1, 1, -1))
        return self.new(f"arith.constant {number} : index")

    def value(self) -> str:
        return self.random.choice(self.values[-4:]) if self.random.random() < 0.75 else self.limit()

    def operation(self) -> str:
        kind = self.random.choice((*BINARY, "addi", "muli", "select", "cast"))
        if kind == "select":
            test = self.new(
                f"arith.cmpi {self.random.choice(PREDICATES)}, {self.value()}, {self.value()} : index"
            )
            return self.new(f"arith.select {test}, {self.value()}, {self.value()} : index")
        if kind == "cast":
            extend = self.random.choice(("index_cast", "index_castui"))
            narrow = self.new(f"arith.index_cast {self.value()} : index to i32")
            return self.new(f"arith.{extend} {narrow} : i32 to index")
        left = self.value()
        if kind in DIVISIONS:  # by what is never 0, and -1 only for constants of a tame dividend
            right = self.constant(2, 9) if self.random.random() < 0.7 else self.divisor()
        elif kind.startswith("sh"):
            right = self.constant(0, 63)
        else:
            right = self.value()
        return self.new(f"arith.{kind} {left}, {right} : index")

    def divisor(self) -> str:
        odd = self.new(f"arith.ori {self.value()}, %c1 : index")
        minus_one = self.new("arith.constant -1 : index")
        test = self.new(f"arith.cmpi eq, {odd}, {minus_one} : index")
        three = self.constant(3, 3)
        return self.new(f"arith.select {test}, {three}, {odd} : index")

    def store(self, value: str) -> None:
        wide = self.new(f"arith.index_cast {value} : index to i64")
        number = self.new(f"arith.{self.random.choice(('sitofp', 'uitofp'))} {wide} : i64 to f64")
        self.lines.append(f"memref.store {number}, %floats[%a, %b, %c{self.stores}] : memref<?x?x2xf64>")
        self.lines.append(f"memref.store {value}, %whole[%a, %b, %c{self.stores}] : memref<?x?x2xindex>")
        self.stores += 1

    def text(self) -> str:
        lower = self.random.choice(LIMITS) * self.random.choice((1, 1, -1)) - TRIPS // 2
        upper, step = lower + TRIPS, self.random.choice((1, 1, 3))
        inner = self.random.choice((0, 0, -TRIPS // 2, 2**16, -(2**31)))
        lines = "\n      ".join(self.lines)
        return f"""
func.func @f(%floats: memref<?x?x2xf64>, %whole: memref<?x?x2xindex>, %given: i8) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant {step} : index
  %il = arith.constant {lower} : index
  %iu = arith.constant {upper} : index
  %jl = arith.constant {inner} : index
  %ju = arith.constant {inner + TRIPS} : index
  %small = arith.index_cast %given : i8 to index
  scf.for %i = %il to %iu step %step {{
    %a = arith.subi %i, %il : index
    scf.for %j = %jl to %ju step %c1 {{
      %b = arith.subi %j, %jl : index
      {lines}
    }}
  }}
  return
}}"""

    def text_of_launch(self) -> str:
        """The same loops, their bounds known at launch."""
        head, loops = self.text().split("  %small =")
        signature = "%given: i8, %il: index, %iu: index, %jl: index, %ju: index)"
        kept = [line for line in head.splitlines() if line.split(" = ")[0].strip() not in BOUNDS]
        return "\n".join(kept).replace("%given: i8)", signature) + "\n  %small =" + loops


BOUNDS = ("%il", "%iu", "%jl", "%ju")
STARTS = [(0, 0), (-5, 2**16), (2**30 - 6, 3), (2**30 - 18, -(2**30)), (2**31 - 4, 2**31 - 4), (-(2**31) - 4, 2**24),
          (7, 2**30 + 1), (2**62, -(2**62))]  # fmt: skip


def outputs_of_launches(text: str, *passes) -> list[np.ndarray]:
    compiled = Compiled(text, passes, speed_level=1)
    results = []
    for i, j in STARTS:
        floats, whole = np.zeros((TRIPS, TRIPS, 2)), np.zeros((TRIPS, TRIPS, 2), np.int64)
        compiled("f", floats, whole, -3, i, i + TRIPS, j, j + TRIPS)
        results += [floats, whole]
    return results


def outputs(text: str, *passes) -> list[np.ndarray]:
    compiled = Compiled(text, passes, speed_level=1)
    results = []
    for small in (-128, -1, 0, 77):
        floats, whole = np.zeros((TRIPS, TRIPS, 2)), np.zeros((TRIPS, TRIPS, 2), np.int64)
        compiled("f", floats, whole, small)
        results += [floats, whole]
    return results


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("block", range(2))
def test_same_bits_as_in_64(block, everywhere):
    narrowed = 0
    for seed in range(block * 20, block * 20 + 20):
        text = Body(seed).text()
        step = NarrowIndices(everywhere=everywhere)
        narrowed += transform(text, [step]) != transform(text, [])
        for expected, got in zip(outputs(text), outputs(text, step), strict=True):
            assert np.array_equal(expected.view(np.int64), got.view(np.int64)), text
    assert narrowed > 5  # the test sees narrow code


@pytest.mark.parametrize("block", range(3))
def test_same_bits_with_bounds_of_the_launch(block):
    versions = 0
    for seed in range(block * 20, block * 20 + 20):
        text = Body(seed).text_of_launch()
        versions += "loop_annotation" in transform(text, [NarrowIndices()])
        for expected, got in zip(
            outputs_of_launches(text), outputs_of_launches(text, NarrowIndices()), strict=True
        ):
            assert np.array_equal(expected.view(np.int64), got.view(np.int64)), text
    assert versions > 5


def test_after_upstream_range_optimizations():
    """In the order of the pipeline."""
    for seed in range(100, 120):
        text = Body(seed).text()
        passes = (Upstream("int-range-optimizations,canonicalize,cse"), NarrowIndices(everywhere=True))
        for expected, got in zip(outputs(text), outputs(text, *passes), strict=True):
            assert np.array_equal(expected.view(np.int64), got.view(np.int64)), text


@pk.kernel(ndrange=(37, 53))
def mixed(x, y):
    i, j = pk.index()
    x[i, j] = pk.f32(i * 7 + j % 5)
    y[i, j] = pk.f64((i - 20) // 3 - (j - 30) % -7)


@pk.kernel(ndrange=(37, 53))
def near_the_limit(x, y):
    i, j = pk.index()
    x[i, j] = pk.f64(i * 59652323 + 35 - j)  # 36 * 59652323 + 35 is 2**31 + 15, less than 53 apart
    y[i, j] = pk.f64((i * 59652323) * 50 // (j + 1))


@pk.kernel(ndrange=(5,))
def loops(x):
    i = pk.index()
    total = 0.0
    for k in range(10, -5, -3):
        total += pk.f64(k * (i - 2) << 3)
    for k in range(2147483640, 2147483656, 5):
        total += pk.f64(k + i)
    x[i] = total


def position(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n, dtype=np.int64)[:, None], np.arange(m, dtype=np.int64)[None, :]


def test_mixed_against_numpy():
    i, j = position(37, 53)
    x, y = np.zeros((37, 53), np.float32), np.zeros((37, 53))
    mixed(x, y, ndrange=(37, 53))
    assert np.array_equal(x, (i * 7 + j % 5).astype(np.float32))
    assert np.array_equal(y, ((i - 20) // 3 - (j - 30) % -7).astype(np.float64))
    text = mixed.lower(x, y, ndrange=(37, 53)).as_text("kern-narrow-indices")
    assert "i32 to f32" in text and "i64 to f" not in text


def test_near_the_limit_against_numpy():
    i, j = position(37, 53)
    x, y = np.zeros((37, 53)), np.zeros((37, 53))
    near_the_limit(x, y, ndrange=(37, 53))
    assert np.array_equal(x, (i * 59652323 + 35 - j).astype(np.float64))
    assert x.max() > 2**31 > x[36].min()
    assert np.array_equal(y, (i * 59652323 * 50 // (j + 1)).astype(np.float64))


def test_loops_against_python():
    x = np.zeros(5)
    loops(x, ndrange=5)
    for i in range(5):
        expected = sum(float(k * (i - 2) << 3) for k in range(10, -5, -3))
        assert x[i] == expected + sum(float(k + i) for k in range(2147483640, 2147483656, 5))


@pytest.mark.parametrize("n", [1, 63, 1000])
def test_a_dynamic_ndrange_has_both_versions(n):
    @pk.kernel
    def ramp(x):
        i = pk.index()
        x[i] = pk.f32(i * 3)

    x = np.zeros(n, np.float32)
    ramp(x, ndrange=n)
    assert np.array_equal(x, np.arange(n, dtype=np.float32) * 3)
    text = ramp.lower(x, ndrange=n).as_text("kern-narrow-indices")
    assert "i64 to f32" in text and "i32 to f32" in text


def test_ranges_far_from_zero_take_the_wide_version():
    """Coordinates of a range beyond 2**31, and of one that steps down to it."""

    @pk.kernel
    def coordinates(x):
        i = pk.index()
        x[i - first] = pk.f64(i * 2 - 1)

    for first in (0, 2**30 - 3, 2**31 - 5, 2**40, -(2**31) - 7):
        x = np.zeros(11)
        coordinates(x, ndrange=(range(first, first + 11),))
        assert np.array_equal(x, np.arange(first, first + 11, dtype=np.int64) * 2.0 - 1)


def test_integers_of_the_caller_may_be_anything():
    @pk.kernel
    def shifted(x, offset):
        i = pk.index()
        x[i] = pk.f64(i + offset)

    for offset in (0, -1, 2**30, 2**31 - 1, 2**31, -(2**31) - 9, 2**53 + 1):
        x = np.zeros(100)
        shifted(x, offset, ndrange=100)
        assert np.array_equal(x, (np.arange(100, dtype=np.int64) + offset).astype(np.float64))


# -- loops with a condition -------------------------------------------------------------------------

ENDS = (0, 1, 5, 2**30, 2**31 - 2, 2**31 - 1)


def search(shift: int, condition: str, step: int, low: int, high: int, turn: int) -> str:
    """A loop that moves one of two ends to what is between them, by a rule that may or may not keep them there."""
    return f"""func.func @k(%x: memref<?xi64>) {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %shift = arith.constant {shift} : index
      %step = arith.constant {step} : index
      %turn = arith.constant {turn} : index
      %most = arith.constant 40 : index
      %first = arith.constant {low} : index
      %last = arith.constant {high} : index
      %r:3 = scf.while (%a = %first, %b = %last, %n = %zero) : (index, index, index) -> (index, index, index) {{
        %go = arith.cmpi {condition}, %a, %b : index
        %few = arith.cmpi slt, %n, %most : index
        %both = arith.andi %go, %few : i1
        scf.condition(%both) %a, %b, %n : index, index, index
      }} do {{
      ^bb0(%a: index, %b: index, %n: index):
        %sum = arith.addi %a, %b : index
        %half = arith.shrsi %sum, %shift : index
        %up = arith.addi %half, %step : index
        %bits = arith.shrui %turn, %n : index
        %bit = arith.andi %bits, %one : index
        %isup = arith.cmpi eq, %bit, %one : index
        %c = arith.select %isup, %up, %a : index
        %d = arith.select %isup, %b, %half : index
        %m = arith.addi %n, %one : index
        scf.yield %c, %d, %m : index, index, index
      }}
      %a64 = arith.index_cast %r#0 : index to i64
      %b64 = arith.index_cast %r#1 : index to i64
      %n64 = arith.index_cast %r#2 : index to i64
      %two = arith.constant 2 : index
      memref.store %a64, %x[%zero] : memref<?xi64>
      memref.store %b64, %x[%one] : memref<?xi64>
      memref.store %n64, %x[%two] : memref<?xi64>
      return
    }}"""


def searched(shift: int, condition: str, step: int, low: int, high: int, turn: int) -> list[int]:
    count = 0
    while (low < high if condition == "slt" else low <= high) and count < 40:
        half = (low + high) >> shift
        low, high = (half + step, high) if turn >> count & 1 else (low, half)
        count += 1
    return [low, high, count]


@pytest.mark.parametrize("seed", range(4))
def test_loops_with_a_condition(seed):
    """Whether the ends stay where they began or not, near 2**31 and below zero: as Python computes."""
    chosen = random.Random(seed)
    narrow = 0
    for _ in range(12):
        low, high = (chosen.choice(ENDS) * chosen.choice((1, 1, 1, -1)) for _ in range(2))
        case = (
            chosen.choice((0, 1, 1, 1, 2)),
            chosen.choice(("slt", "sle")),
            chosen.choice((0, 1, 1, 3)),
            low,
            high,
            chosen.getrandbits(40),
        )
        text = search(*case)
        narrowed = transform(text, [NarrowIndices(versions=False, everywhere=True)])
        narrow += ": (i32, i32, " in narrowed
        found = np.zeros(3, np.int64)
        Compiled(narrowed)("k", found)
        assert found.tolist() == searched(*case), case
    assert narrow


STEPS = """func.func @k(%found: memref<4xi64>, %given: i32, %from: i32, %by: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1_i64 = arith.constant 1 : i64
  %mask = arith.constant 2147483647 : i32
  %some = arith.andi %from, %mask : i32
  %low = arith.index_cast %some : i32 to index
  %high = arith.index_cast %given : i32 to index
  %few = arith.andi %by, %mask : i32
  %wide = arith.index_cast %few : i32 to index
  %step = arith.maxsi %wide, %c1 : index
  %n, %last = scf.for %k = %low to %high step %step iter_args(%count = %c0, %seen = %c0) -> (index, index) {
    %more = arith.addi %count, %c1 : index
    scf.yield %more, %k : index, index
  }
  %a = arith.index_cast %n : index to i64
  %b = arith.index_cast %last : index to i64
  memref.store %a, %found[%c0] : memref<4xi64>
  memref.store %b, %found[%c1] : memref<4xi64>
  return
}"""


@pytest.mark.parametrize("high", [2**31 - 1, 2**31 - 2, 2**30, 1, 0, -1, -(2**31)])
@pytest.mark.parametrize("step", [2**31 - 1, 2**31 - 2, 2**30 + 1, 2**29 + 3])
def test_sums_of_32_bits_without_a_sign(high, step):
    """Steps as large as a launch, which lead to the bit of the sign; the end may be negative."""
    narrowed = transform(STEPS, [NarrowIndices(versions=False, everywhere=True)])
    assert "scf.for unsigned" in narrowed
    compiled = Compiled(narrowed)
    for low in (0, 1, 2**29, 2**30 - 1, 2**31 - 1):
        compiled("k", found := np.full(4, -1), high, low, step)
        counted = range(low, high, step)
        assert found[:2].tolist() == [len(counted), counted[-1] if counted else 0], low
