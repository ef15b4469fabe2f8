"""Array programs and derivatives are followed as kernels are: every op a line, most instructions too."""

from __future__ import annotations

import pytest

import pykern as pk
from pykern.explorer.data import Pin, lineage_of
from pykern.explorer.explore import look
from pykern.lineage import OPERATION
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
