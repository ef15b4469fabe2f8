"""kern-tighten-bounds: the same iterations write, in the same order, for any bounds and condition."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pykern.passes.framework import Upstream
from pykern.passes.kernel.tighten_bounds import TightenBounds
from tests.cases.jit import Compiled, transform

SHIFT, SIZE = 40, 112
PREDICATES = ("slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", "eq", "ne")


class Nest:
    """Text of a random loop nest: every guarded iteration counts up and leaves the count at its place."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = 0
        self.lines: list[str] = []
        self.ivs: list[str] = []

    def new(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"%v{self.names} = {text}")
        return f"%v{self.names}"

    def constant(self, low: int, high: int, kind: str = "index") -> str:
        return self.new(f"arith.constant {self.random.randint(low, high)} : {kind}")

    def number(self, kind: str) -> str:
        """Something invariant in all loops, or of an outer loop."""
        choices = ["constant", "argument", "argument", "dim"]
        choice = self.random.choice(choices)
        if choice == "constant":
            return self.constant(-6, 30, kind)
        if choice == "dim":
            dim = self.new("memref.dim %small, %zero : memref<?xi32>")
            return dim if kind == "index" else self.new(f"arith.index_cast {dim} : index to i64")
        return self.random.choice(("%n", "%m") if kind == "index" else ("%p", "%q"))

    def affine(self, kind: str) -> str:
        value = self.random.choice(self.ivs)
        if kind == "i64":
            value = self.new(f"arith.index_cast {value} : index to i64")
        for _ in range(self.random.randint(0, 2)):
            match self.random.randint(0, 4):
                case 0:
                    value = self.new(f"arith.addi {value}, {self.number(kind)} : {kind}")
                case 1:
                    value = self.new(f"arith.subi {self.number(kind)}, {value} : {kind}")
                case 2:
                    value = self.new(f"arith.subi {value}, {self.number(kind)} : {kind}")
                case 3:
                    value = self.new(f"arith.muli {value}, {self.constant(-3, 4, kind)} : {kind}")
                case 4:
                    value = self.new(f"arith.addi {value}, {self.affine(kind)} : {kind}")
        return value

    def comparison(self) -> str:
        kind = self.random.choice(("index", "i64"))
        sides = [self.affine(kind), self.number(kind) if self.random.random() < 0.85 else self.affine(kind)]
        self.random.shuffle(sides)
        weights = (6, 6, 6, 6, 2, 1, 1, 1, 1, 1)
        predicate = self.random.choices(PREDICATES, weights)[0]
        return self.new(f"arith.cmpi {predicate}, {sides[0]}, {sides[1]} : {kind}")

    def opaque(self) -> str:
        iv = self.random.choice(self.ivs)
        if self.random.random() < 0.5:
            rest = self.new(f"arith.remsi {iv}, {self.new('arith.constant 3 : index')} : index")
            return self.new(f"arith.cmpi ne, {rest}, %zero : index")
        # a load that only its own bounds test makes safe
        low = self.new(f"arith.cmpi sge, {iv}, %zero : index")
        high = self.new(f"arith.cmpi slt, {iv}, %length : index")
        inside = self.new(f"arith.andi {low}, {high} : i1")
        self.names += 1
        result = f"%v{self.names}"
        self.lines += [f"{result} = scf.if {inside} -> i1 {{"]
        loaded = self.new(f"memref.load %small[{iv}] : memref<?xi32>")
        self.lines += [f"%w{self.names} = arith.cmpi sgt, {loaded}, %zero32 : i32"]
        self.lines += [f"scf.yield %w{self.names} : i1 }} else {{ scf.yield %false : i1 }}"]
        return result

    def condition(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.opaque() if self.random.random() < 0.2 else self.comparison()
        form = self.random.choice(
            ("and", "and", "select", "if", "if", "not-or", "not-select", "not-if", "eq-false")
        )
        if form in ("if", "not-if"):
            first = self.condition(depth - 1)
            self.names += 1
            result = f"%v{self.names}"
            self.lines.append(f"{result} = scf.if {first} -> i1 {{")
            if form == "if":
                inner = self.condition(depth - 1)
                self.lines.append(f"scf.yield {inner} : i1 }} else {{ scf.yield %false : i1 }}")
                return result
            self.lines.append("scf.yield %true : i1 } else {")
            inner = self.condition(depth - 1)
            self.lines.append(f"scf.yield {inner} : i1 }}")
            return self.new(f"arith.xori {result}, %true : i1")
        left, right = self.condition(depth - 1), self.condition(depth - 1)
        if form == "and":
            return self.new(f"arith.andi {left}, {right} : i1")
        if form == "select":
            return self.new(f"arith.select {left}, {right}, %false : i1")
        if form == "eq-false":
            return self.new(f"arith.cmpi eq, {left}, %false : i1")
        if form == "not-or":
            either = self.new(f"arith.ori {left}, {right} : i1")
        else:
            either = self.new(f"arith.select {left}, %true, {right} : i1")
        return self.new(f"arith.xori {either}, %true : i1")

    def guarded(self, depth: int) -> None:
        if depth == 0:
            self.effect()
            return
        condition = self.condition(self.random.randint(0, 3))
        if self.random.random() < 0.3:  # an early return
            self.lines.append(f"scf.if {condition} {{ }} else {{")
        else:
            self.lines.append(f"scf.if {condition} {{")
        self.guarded(depth - 1)
        self.lines.append("}")

    def effect(self) -> None:
        places = [self.new(f"arith.addi {iv}, %shift : index") for iv in self.ivs[-2:]]
        places = places if len(places) == 2 else [*places, "%zero"]
        count = self.new("memref.load %count[%zero] : memref<1xi32>")
        more = self.new(f"arith.addi {count}, %one32 : i32")
        self.lines.append(f"memref.store {more}, %count[%zero] : memref<1xi32>")
        self.lines.append(f"memref.store {more}, %out[{', '.join(places)}] : memref<?x?xi32>")

    def bound(self, low: int, high: int) -> str:
        return self.constant(low, high) if self.random.random() < 0.6 else self.random.choice(("%n", "%m"))

    def function(self, name: str) -> str:
        dims = self.random.choice((1, 2, 2, 3))
        for d in range(dims):
            lower, upper = self.bound(-4, 6), self.bound(3, 18)
            step = (
                "%one" if self.random.random() < 0.6 else self.random.choice((self.constant(1, 5), "%step"))
            )
            self.lines.append(f"scf.for %i{d} = {lower} to {upper} step {step} {{")
            self.ivs.append(f"%i{d}")
        self.guarded(self.random.choice((1, 1, 1, 2)))
        body = "\n    ".join([*self.lines, *["}"] * dims])
        return f"""func.func @{name}(%out: memref<?x?xi32>, %count: memref<1xi32>, %small: memref<?xi32>,
    %n: index, %m: index, %step: index, %p: i64, %q: i64) {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %shift = arith.constant {SHIFT} : index
    %zero32 = arith.constant 0 : i32
    %one32 = arith.constant 1 : i32
    %true = arith.constant true
    %false = arith.constant false
    %length = memref.dim %small, %zero : memref<?xi32>
    {body}
    return }}
"""


def _results(code: Compiled, name: str, cases: list[tuple[int, ...]], small: np.ndarray) -> list[np.ndarray]:
    results = []
    for case in cases:
        out, count = np.zeros((SIZE, SIZE), np.int32), np.zeros(1, np.int32)
        code(name, out, count, small, *case)
        results.append(np.append(out, count))
    return results


@pytest.mark.parametrize("batch", range(4))
def test_random_nests_write_the_same_in_the_same_order(batch: int, rng: np.random.Generator) -> None:
    names = [f"nest{k}" for k in range(60)]
    text = "\n".join(Nest(1000 * batch + k).function(name) for k, name in enumerate(names))
    before, after = Compiled(text, speed_level=1), Compiled(text, [TightenBounds()], speed_level=1)
    guards = transform(text, []).count("scf.if"), transform(text, [TightenBounds()]).count("scf.if")
    assert guards[1] < 0.8 * guards[0]  # the pass took part
    small = rng.integers(-1, 2, 9).astype(np.int32)
    written = 0
    for name in names:
        cases = [(*rng.integers(-9, 25, 2), rng.integers(1, 4), *rng.integers(-9, 25, 2)) for _ in range(12)]
        cases += [(0, 0, 1, 0, 0), (12, 12, 2, 2**40, -(2**40)), (11, 9, 1, 7, 2**40)]
        cases = [tuple(int(c) for c in case) for case in cases]
        for case, expected, got in zip(
            cases, _results(before, name, cases, small), _results(after, name, cases, small), strict=True
        ):
            np.testing.assert_array_equal(got, expected, err_msg=f"{name} of batch {batch} at {case}")
            written += int(expected[-1] > 0)
    assert written > 100  # and not for want of work


ONE_LOOP = """func.func @f(%out: memref<?x?xi32>, %count: memref<1xi32>, %small: memref<?xi32>,
    %n: index, %m: index, %step: index, %p: i64, %q: i64) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %shift = arith.constant 40 : index
  %one32 = arith.constant 1 : i32
  scf.for %i = %n to %m step %step {{
    %w = arith.index_cast %i : index to i64
    {body}
    scf.if %c {{
      %x = arith.addi %i, %shift : index
      %t = memref.load %count[%zero] : memref<1xi32>
      %u = arith.addi %t, %one32 : i32
      memref.store %u, %count[%zero] : memref<1xi32>
      memref.store %u, %out[%x, %zero] : memref<?x?xi32>
    }}
  }}
  return
}}
"""
EXTREMES = [
    "%c = arith.cmpi sle, %w, %p : i64",
    "%c = arith.cmpi slt, %w, %p : i64",
    "%c = arith.cmpi sge, %w, %p : i64",
    "%c = arith.cmpi sgt, %w, %p : i64",
    "%one64 = arith.constant 1 : i64 %v = arith.subi %w, %one64 : i64 %c = arith.cmpi slt, %v, %p : i64",
    "%one64 = arith.constant 5 : i64 %v = arith.addi %w, %one64 : i64 %c = arith.cmpi sge, %v, %p : i64",
    "%one64 = arith.constant 5 : i64 %v = arith.subi %one64, %w : i64 %c = arith.cmpi sgt, %v, %p : i64",
    "%l = arith.constant 9223372036854775807 : i64 %c = arith.cmpi sle, %w, %l : i64",
    "%l = arith.constant -9223372036854775808 : i64 %c = arith.cmpi sgt, %w, %l : i64",
    "%a = arith.cmpi eq, %w, %p : i64 %b = arith.cmpi slt, %w, %q : i64 %c = arith.andi %a, %b : i1",
    "%a = arith.cmpi slt, %w, %p : i64 %b = arith.cmpi sle, %w, %q : i64 %c = arith.andi %a, %b : i1",
    "%three = arith.constant 3 : i64 %v = arith.muli %w, %three : i64 %c = arith.cmpi sle, %v, %p : i64",
]


@pytest.mark.parametrize("body", EXTREMES)
def test_integers_as_large_as_they_come(body: str) -> None:
    text = ONE_LOOP.format(body=body)
    assert "scf.if" not in transform(text, [TightenBounds()])
    before, after = Compiled(text), Compiled(text, [TightenBounds()])
    large = (2**63 - 1, -(2**63), 2**63 - 2, 1 - 2**63, 2**62, -(2**62), 3, -3, 0)
    ranges = ((0, 9), (-5, 6), (4, 2))
    cases = [(*r, step, p, q) for r in ranges for step in (1, 3) for p in large for q in (3, 2**63 - 1)]
    small = np.zeros(1, np.int32)
    for expected, got in zip(
        _results(before, "f", cases, small), _results(after, "f", cases, small), strict=True
    ):
        np.testing.assert_array_equal(got, expected)


def test_what_writes_outside_of_the_guard_keeps_the_loop() -> None:
    text = ONE_LOOP.format(
        body="memref.store %one32, %out[%zero, %zero] : memref<?x?xi32> %c = arith.cmpi sle, %w, %p : i64"
    )
    assert transform(text, [TightenBounds()]) == transform(text, [])


def test_wrapping_32_bit_comparisons_stay() -> None:
    text = ONE_LOOP.format(body="%s = arith.trunci %w : i64 to i32 %c = arith.cmpi slt, %s, %one32 : i32")
    assert transform(text, [TightenBounds()]) == transform(text, [])


def test_running_twice_changes_nothing_more() -> None:
    text = "\n".join(Nest(k).function(f"nest{k}") for k in range(30))
    clean = Upstream("canonicalize,cse")
    once = transform(text, [TightenBounds(), clean])
    assert "scf.for" in once
    assert transform(once, [TightenBounds(), clean]).count("scf.if") <= once.count("scf.if")


@pytest.mark.parametrize("predicate", PREDICATES)
def test_every_predicate_on_both_sides_and_negated(predicate: str) -> None:
    bodies = {}
    for side, operands in (("left", "%i, %length"), ("right", "%length, %i")):
        compare = f"%b = arith.cmpi {predicate}, {operands} : index"
        bodies[side] = f"{compare} %c = arith.andi %b, %b : i1"
        bodies[f"not_{side}"] = f"{compare} %true = arith.constant true %c = arith.xori %b, %true : i1"
    length = "%length = memref.dim %small, %zero : memref<?xi32> scf.for"
    text = "\n".join(
        ONE_LOOP.format(body=body).replace("@f", f"@{name}").replace("scf.for", length)
        for name, body in bodies.items()
    )
    before, after = Compiled(text, speed_level=1), Compiled(text, [TightenBounds()], speed_level=1)
    cases = [(low, high, step, 0, 0) for low in (-6, 0, 2) for high in (-2, 4, 9) for step in (1, 2)]
    for name in bodies:
        for length in (0, 1, 4):
            small = np.zeros(length, np.int32)
            for expected, got in zip(
                _results(before, name, cases, small), _results(after, name, cases, small), strict=True
            ):
                np.testing.assert_array_equal(got, expected)
