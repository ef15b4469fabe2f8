"""Array programs and derivatives are followed as kernels are: every op a line, most instructions too."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.data.costs import least_bytes, total
from pykern.data.lineage import OPERATION
from pykern.explorer.data import Pin, lineage_of
from pykern.explorer.explore import look
from pykern.explorer.summary import summary
from tests.explorer.samples import MATRIX, SAMPLES, matmul, saxpy


@pk.jit
def energy(x, y):
    z = pk.exp(x) * y
    return (z * z).sum()


@pk.jit
def relax(u):
    for _ in pk.range(10):
        u = u + 0.1 * (u.sum() - u)
    return u


@pk.jit
def launches(x):
    y = pk.zeros_like(x)
    saxpy(y, x, x, 2.0, ndrange=64)
    return y.sum()


VECTOR = pk.spec((64,), pk.f32)
PROGRAMS = {
    "energy": (energy, (VECTOR, VECTOR)),
    "relax": (relax, (VECTOR,)),
    "launches": (launches, (VECTOR,)),
    "gradient": (pk.grad(energy), (VECTOR, VECTOR)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_followed(name):
    program, arguments = PROGRAMS[name]
    (data,) = look(program, *arguments).subjects
    known = {(s.file, s.first + n) for s in data.sources for n in range(len(s.lines))}
    for stage in data.stages:
        lineage = lineage_of(stage)
        places = [p for k, p in zip(lineage.kinds, lineage.places, strict=True) if k == OPERATION and p]
        assert {(lineage.files[p.file], p.line) for p in places} <= known, stage.name
        assert lineage.mapped() >= 0.75, stage.name
    last = [s for s in data.stages if s.kind == "mlir"][-1]
    assert lineage_of(last).mapped() == 1
    assert lineage_of(data.stages[-1]).mapped() >= 0.5


def test_a_program_shows_the_kernels_it_launches():
    (data,) = look(launches, VECTOR).subjects
    assert [s.name for s in data.sources] == ["launches", "saxpy"]
    line = SAMPLES["saxpy"].line("z[i] = a")
    assert data.lit(Pin(-1, line, data.sources[1].file))[-1]
    assert any(r.text == "the launch of `saxpy` became operations on whole arrays" for r in data.remarks)


@pytest.mark.parametrize(("target", "last"), [("llvm", "llvm-emit"), ("nvvm:sm_90a", "ptx")])
def test_a_kernel_s_derivative_is_followed(target, last):
    shadowed = (pk.Dup(MATRIX, MATRIX), pk.Dup(MATRIX, MATRIX), pk.Dup(MATRIX, MATRIX), pk.i64)
    derivative = pk.autodiff(matmul, level="direct")
    (data,) = look(derivative, *shadowed, ndrange=("n", "m"), target=target).subjects
    assert last in [
        s.name for s in data.stages[-2:]
    ]  # behind PTX stands what the chip runs, where it can be told
    assert lineage_of(data.stages[-1]).mapped() >= 0.5
    line = SAMPLES["matmul"].line("total += a")
    lit = data.lit(Pin(-1, line, data.sources[0].file))
    assert lit[0] and lit[-1]
    reverse = next(n for n, s in enumerate(data.stages) if "reverse" in s.name)
    assert len(lit[reverse]) > len(lit[0])


def test_both_targets_and_versions_of_one_call():
    both = look(saxpy, *SAMPLES["saxpy"].args, ndrange="n", target=("llvm", "spirv:vulkan"))
    assert [d.target for d in both.subjects] == ["llvm", "spirv:vulkan"]
    assert both.title == "saxpy — llvm and spirv:vulkan"
    source = both.subjects[0].sources[0]
    same = both.same(0, 1)
    assert same == {
        (source.file, source.first + n): (source.file, source.first + n) for n in range(len(source.lines))
    }
    pin = Pin(-1, SAMPLES["saxpy"].line("z[i] = a"), source.file)
    assert both.lit(0, pin) == [d.lit(pin) for d in both.subjects]


@pk.jit
def layer(x, w, b):
    y = x @ w
    y = pk.tanh(y + b)
    return (y * y).sum(axis=1), y


@pk.jit
def iterate(x, w, n):
    for _ in pk.range(3):
        x = x + 1.0
    for _ in pk.range(n):
        x = x @ w
    return x


@pk.kernel
def chained(y, x):
    s = 0.0
    for k in range(len(x)):
        s = 0.5 * s + x[k]
        y[k] = s


@pk.jit
def launches_what_stays(x):
    y = pk.zeros_like(x)
    chained(y, x, ndrange=1)
    return y


def test_what_a_call_of_a_program_costs():
    x, w, b = pk.spec((8, 4), pk.f32), pk.spec((4, 16), pk.f32), pk.spec((16,), pk.f32)
    (data,) = look(layer, x, w, b).subjects
    costs = data.costs
    assert costs is not None and costs.rank == 0
    assert total(costs) == (4 * (32 + 64 + 16), 4 * (8 + 128), 2 * 8 * 4 * 16 + 4 * 128)
    assert least_bytes(costs) == sum(total(costs)[:2])
    code, first = layer.__wrapped__.__code__, layer.__wrapped__.__code__.co_firstlineno
    by_line = {
        n: sum(w.flops * w.executions.times for w in costs.work if w.line == first + n) for n in (2, 3, 4)
    }
    assert by_line == {2: 1024, 3: 256, 4: 256} and code.co_filename == costs.work[0].file
    assert {a.array for a in costs.accesses} == {"x", "w", "b", "result 0", "result 1"}
    told = summary(data)[0]
    assert told.startswith(
        "Each call reads at least 448 bytes and writes 544, for 1536 flops: 1.55 flop/byte"
    )


def test_loops_of_programs():
    (data,) = look(iterate, pk.spec((4, 4), pk.f64), pk.spec((4, 4), pk.f64), pk.i64).subjects
    costs = data.costs
    assert costs is not None
    line = iterate.__wrapped__.__code__.co_firstlineno + 4
    assert costs.loops == (line,)
    assert total(costs, (line,)) == (2 * 128, 128, 2 * 64)  # the state and w are read, the state is written
    assert total(costs)[2] == 3 * 16
    assert summary(data)[0].startswith(
        f"Each iteration of the loop at line {line} reads at least 256 bytes and writes 128"
    )


def test_gradients_and_launches_are_counted_where_they_are_arrays():
    gradient, raised, kept = (
        look(p, VECTOR).subjects[0].costs for p in (pk.grad(square_of_sum), launches, launches_what_stays)
    )
    assert gradient is not None and total(gradient)[1] == 4 * 64
    assert raised is not None and total(raised) == (256, 4, 64 * 3)
    assert kept is None  # nobody knows what the launch does


@pk.jit
def square_of_sum(x):
    return pk.exp(x).sum() ** 2


def test_a_program_is_measured(rng):
    x, w, b = rng.random((8, 4), np.float32), rng.random((4, 16), np.float32), rng.random(16, np.float32)
    (data,) = look(layer, x, w, b, measure=True, roof={"GB/s": 10, "f32": 100}).subjects
    assert data.runs[0].items == 1 and 0 < data.runs[0].seconds < 60
