"""kern-vectorize-streams: both versions of a loop write the same bits, for any length and alignment."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pykern.errors import PassError
from pykern.passes.framework import Upstream
from pykern.passes.vectorize.vectorize_streams import VectorizeStreams
from tests.cases.jit import Compiled, transform

ALWAYS = VectorizeStreams(threshold_bytes=0)
DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "i8": np.int8}
FLOAT_OPS = ("arith.addf", "arith.mulf", "arith.subf", "arith.divf", "arith.maximumf", "arith.minnumf")
INTEGER_OPS = ("arith.addi", "arith.muli", "arith.subi", "arith.andi", "arith.xori", "arith.maxsi")


def at(array: np.ndarray, offset: int) -> np.ndarray:
    """A copy of `array` whose first element lies `offset` elements after a multiple of 64 bytes."""
    memory = np.zeros(array.nbytes + 192 + 64 * array.itemsize, np.uint8)
    start = -memory.ctypes.data % 64 + offset * array.itemsize
    view = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


class Body:
    """The body of a random loop over %i: two read arrays, one updated, one or two streamed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kind = self.random.choice(list(DTYPES))
        self.mixed = self.random.random() < 0.3 and self.kind == "f32"
        self.rank = self.random.choice((1, 1, 2))
        self.streams = self.random.choice((1, 1, 2, 3))
        self.updates = self.random.random() < 0.3
        self.names = 0
        self.lines: list[str] = []

    def new(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"%v{self.names} = {text}")
        return f"%v{self.names}"

    def place(self, shift: int = 0) -> str:
        column = "%i"
        if shift:
            column = self.new(f"arith.addi %i, {self.new(f'arith.constant {shift} : index')} : index")
        return f"%r, {column}" if self.rank == 2 else column

    def memref(self, kind: str | None = None) -> str:
        return f"memref<{'?x' * self.rank}{kind or self.kind}>"

    def leaf(self) -> str:
        choice = self.random.randrange(7)
        if choice == 0:
            return "%s"
        if choice == 1:
            return self.new(f"memref.load %x[{'%r, ' if self.rank == 2 else ''}%three] : {self.memref()}")
        if choice == 2:
            wide = self.new("arith.index_cast %i : index to i64")
            return self.converted(wide)
        if choice == 3 and self.updates:
            return self.new(f"memref.load %u[{self.place()}] : {self.memref()}")
        if choice == 4 and self.mixed:
            double = self.new(f"memref.load %d[{self.place()}] : {self.memref('f64')}")
            return self.new(f"arith.truncf {double} : f64 to f32")
        return self.new(
            f"memref.load %x[{self.place(self.random.choice((0, 0, 1, 2, 5)))}] : {self.memref()}"
        )

    def converted(self, wide: str) -> str:
        if self.kind[0] == "f":
            return self.new(f"arith.sitofp {wide} : i64 to {self.kind}")
        return wide if self.kind == "i64" else self.new(f"arith.trunci {wide} : i64 to {self.kind}")

    def value(self, depth: int) -> str:
        if depth == 0:
            return self.leaf()
        left, right = self.value(depth - 1), self.value(self.random.randint(0, depth - 1))
        if self.random.random() < 0.2:
            compare = "arith.cmpf olt," if self.kind[0] == "f" else "arith.cmpi slt,"
            less = self.new(f"{compare} {left}, {right} : {self.kind}")
            return self.new(f"arith.select {less}, {left}, {right} : {self.kind}")
        if self.kind[0] == "f" and self.random.random() < 0.2:
            return self.new(f"math.fma {left}, {right}, {left} : {self.kind}")
        if self.kind[0] == "f" and self.random.random() < 0.2:
            return self.new(f"math.sqrt {self.new(f'math.absf {left} : {self.kind}')} : {self.kind}")
        op = self.random.choice(FLOAT_OPS if self.kind[0] == "f" else INTEGER_OPS)
        return self.new(f"{op} {left}, {right} : {self.kind}")

    def function(self, name: str) -> str:
        if self.updates:
            self.lines.append(f"memref.store {self.value(1)}, %u[{self.place()}] : {self.memref()}")
        for k in range(self.streams):
            value = self.value(self.random.randint(0, 3))
            shift = self.random.choice((0, 0, 1, 7))
            self.lines.append(f"memref.store {value}, %z{k}[{self.place(shift)}] : {self.memref()}")
        outs = ", ".join(f"%z{k}: {self.memref()}" for k in range(3))
        rows = ("scf.for %r = %zero to %rows step %one {", "}") if self.rank == 2 else ("", "")
        body = "\n    ".join(self.lines)
        return f"""func.func @{name}({outs}, %x: {self.memref()}, %u: {self.memref()}, %d: {self.memref("f64")},
    %lo: index, %hi: index) attributes {{kern.noalias}} {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %rows = arith.constant 3 : index
    %s = arith.constant {"1.25" if self.kind[0] == "f" else "3"} : {self.kind}
    {rows[0]}
    scf.for %i = %lo to %hi step %one {{
    {body}
    }}
    {rows[1]}
    return }}
"""


def _run(code: Compiled, name: str, arrays: list[np.ndarray], offsets: list[int], bounds: tuple[int, int]):
    placed = [at(array, offset) for array, offset in zip(arrays, offsets, strict=True)]
    code(name, *placed, *bounds)
    return placed


@pytest.mark.parametrize("width", [64, 32])
@pytest.mark.parametrize("batch", range(2))
def test_random_bodies_write_the_same_bits(batch: int, width: int, rng: np.random.Generator) -> None:
    bodies = {f"body{k}": Body(7000 * batch + k) for k in range(30)}
    text = "\n".join(body.function(name) for name, body in bodies.items())
    step = VectorizeStreams(bytes=width, threshold_bytes=0)
    assert transform(text, [step]).count("nontemporal") >= len(bodies)
    before, after = Compiled(text, speed_level=1), Compiled(text, [step], speed_level=1)
    for name, body in bodies.items():
        dtype = DTYPES[body.kind]
        lanes = width // (8 if body.mixed else dtype().itemsize)
        for _ in range(12):
            length = int(rng.integers(4 * lanes - 2, 7 * lanes + 2))
            lower = int(rng.integers(0, 5))
            shape = (3, length + 24) if body.rank == 2 else (length + 24,)
            arrays = [(rng.normal(0, 20, shape)).astype(dtype) for _ in range(5)] + [rng.normal(0, 9, shape)]
            offsets = [int(o) for o in rng.integers(0, 20, 6)]
            if rng.random() < 0.5:  # the streamed arrays agree
                offsets[1] = offsets[2] = offsets[0]
            expected = _run(before, name, arrays, offsets, (lower, lower + length))
            got = _run(after, name, arrays, offsets, (lower, lower + length))
            for want, have in zip(expected, got, strict=True):
                np.testing.assert_array_equal(
                    have, want, err_msg=f"{name}, batch {batch}, {length}, {offsets}"
                )


SAXPY = """func.func @saxpy(%z: memref<?xf32>, %a: f32, %x: memref<?xf32>, %y: memref<?xf32>, %lo: index,
    %hi: index, %cache: index {kern.cache_bytes}) attributes {kern.noalias} {
  %one = arith.constant 1 : index
  scf.for %i = %lo to %hi step %one {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %u, %a : f32
    %q = arith.addf %p, %v : f32
    memref.store %q, %z[%i] : memref<?xf32>
  }
  return
}
"""


def test_every_length_at_every_alignment(rng: np.random.Generator) -> None:
    code = Compiled(SAXPY, [VectorizeStreams()])
    x, y = (at(rng.random(128, np.float32), 3) for _ in range(2))
    for length in range(-1, 110):
        for offset in range(16):
            z = at(np.full(128, -1, np.float32), offset)
            code("saxpy", z, 2.5, x, y, 2, 2 + length, 0)
            expected = np.full(128, -1, np.float32)
            expected[2 : 2 + max(length, 0)] = (np.float32(2.5) * x + y)[2 : 2 + max(length, 0)]
            np.testing.assert_array_equal(z, expected)


def test_an_offset_counts_for_the_alignment(rng: np.random.Generator) -> None:
    code = Compiled(SAXPY.replace("<?xf32>", "<?xf32, strided<[1], offset: ?>>"), [VectorizeStreams()])
    x, y = (at(rng.random(160, np.float32), 3) for _ in range(2))
    for offset in range(20):
        z = np.zeros_like(x)
        code("saxpy", (z, offset), 0.5, (x, 7), (y, 2), 0, 130, 0)
        expected = np.zeros_like(x)
        expected[offset : offset + 130] = np.float32(0.5) * x[7:137] + y[2:132]
        np.testing.assert_array_equal(z, expected)


def test_bounds_as_far_apart_as_they_come() -> None:
    code = Compiled(SAXPY, [VectorizeStreams()])
    z = np.zeros(4, np.float32)
    largest, least = 2**63 - 1, -(2**63)
    for bounds in (
        (largest, least),
        (largest, -2),
        (largest - 3, -(2**61)),
        (5, least),
        (0, 0),
        (largest, largest),
    ):
        code("saxpy", z, 1.0, z, z, *bounds, 0)
    assert not z.any()


def test_the_fast_loop_streams_and_the_call_ends_with_a_fence() -> None:
    code = Compiled(SAXPY, [VectorizeStreams()])
    assert "!nontemporal" in code.llvm_ir
    assert code.llvm_ir.count("fence seq_cst") == 1
    if "x86" in code.llvm_ir or "vmov" in code.assembly:
        assert "movntps" in code.assembly
        assert "mfence" in code.assembly or "lock" in code.assembly


@pytest.mark.parametrize(
    ("why", "old", "new"),
    [
        ("arrays may overlap", "attributes {kern.noalias} ", ""),
        ("the stored array is read", "memref.load %y[%i]", "memref.load %z[%i]"),
        ("the step is not one", "arith.constant 1 : index", "arith.constant 2 : index"),
        ("a gather", "memref.load %y[%i] : memref<?xf32>", "memref.load %y[%j] : memref<?xf32>"),
        ("a reversed store", "%z[%i]", "%z[%k]"),
        ("a call of libm", "arith.mulf %u, %a : f32", "math.sin %u : f32"),
    ],
)
def test_loops_that_stay_as_they_are(why: str, old: str, new: str) -> None:
    indices = """step %one {
    %w = arith.muli %i, %i : index
    %j = arith.addi %w, %one : index
    %k = arith.subi %hi, %i : index"""
    text = SAXPY.replace("step %one {", indices)
    clean = Upstream("canonicalize")
    assert "nontemporal" in transform(text, [clean, ALWAYS])
    assert old in text
    changed = text.replace(old, new)
    assert "nontemporal" not in transform(changed, [clean, ALWAYS]), why


def test_columns_that_are_not_known_to_be_adjacent_stay() -> None:
    strided = "memref<?xf32, strided<[?], offset: ?>>"
    text = SAXPY.replace("memref<?xf32>", strided)
    assert "nontemporal" not in transform(text, [ALWAYS])
    adjacent = text.replace("strided<[?]", "strided<[1]")
    assert "nontemporal" in transform(adjacent, [ALWAYS])


def test_small_static_arrays_get_no_second_version() -> None:
    text = SAXPY.replace("memref<?xf32>", "memref<1000xf32>")
    assert "nontemporal" not in transform(text, [VectorizeStreams()])
    large = SAXPY.replace("memref<?xf32>", "memref<10000000xf32>")
    assert "nontemporal" in transform(large, [VectorizeStreams()])


def test_a_width_that_is_no_power_of_two_is_refused() -> None:
    with pytest.raises(PassError, match="power of two"):
        transform(SAXPY, [VectorizeStreams(bytes=48)])


@pytest.mark.parametrize("carried", ["%y[%next]", "%z[%next]", "%y[%one]"])
def test_iterations_that_meet_in_memory_stay_in_order(carried: str) -> None:
    """y[i + 1] is the next iteration's y[i]; z[i + 1] is written again; y[1] is read by all."""
    store = "memref.store %q, %z[%i] : memref<?xf32>"
    extra = f"%next = arith.addi %i, %one : index memref.store %p, {carried} : memref<?xf32>"
    assert "nontemporal" not in transform(SAXPY.replace(store, f"{store} {extra}"), [ALWAYS])
