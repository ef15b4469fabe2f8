"""Which line a page opens with, which ceilings it has, what a derivative is called and where its parts are."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

import pykern as pk
from pykern.data.costs import Access, Costs, Executions, Work
from pykern.data.lineage import BACKWARD, OPERATION, PRIMAL, TANGENT
from pykern.explorer import ceilings, packing, processor
from pykern.explorer.explore import file_name, look
from pykern.explorer.hotspot import hotspot
from pykern.explorer.roof import Roof
from pykern.storage.store import Store
from tests.explorer.samples import MATRIX, SAMPLES, heat, matmul, vector


@pytest.mark.parametrize(
    ("name", "text"), [("matmul", "total +="), ("smooth", "s += weight"), ("saxpy", "z[i] =")]
)
def test_the_costliest_line_is_in_the_innermost_loop(name, text):
    data = SAMPLES[name].look("llvm")
    assert hotspot(data) == (data.sources[0].file, SAMPLES[name].line(text))
    assert packing.subject(data)["hot"] == [0, SAMPLES[name].line(text)]


def test_loops_outweigh_what_stands_around_them():
    data = SAMPLES["saxpy"].look("llvm")
    file, first = data.sources[0].file, data.sources[0].first
    once = Access("x", "load", 8, file, first + 1, Executions(4))
    often = Work("add", "f32", 1, file, first + 2, Executions(1, (first,)))
    assert hotspot(replace(data, costs=Costs((once,), (often,)))) == (file, first + 2)
    assert hotspot(replace(data, costs=Costs((once,), (replace(often, executions=Executions()),)))) == (
        file,
        first + 1,
    )
    elsewhere = replace(once, file="other.py", executions=Executions(100))
    assert hotspot(replace(data, costs=Costs((once, elsewhere)))) == (file, first + 1)


def test_without_costs_the_line_with_most_instructions_counts():
    data = replace(SAMPLES["saxpy"].look("llvm"), costs=None)
    lineage = data.stages[-1].lineage
    assert lineage is not None
    lines = [p.line for k, p in zip(lineage.kinds, lineage.places, strict=True) if k == OPERATION and p]
    found = hotspot(data)
    assert found is not None
    assert lines.count(found[1]) == max(map(lines.count, lines))


@pk.kernel
def running(x):
    i = pk.index()
    before = 0.5 * x[i] + x[i] * x[i] + x[i] / 3.0
    x[i + 1] = before


def test_an_error_is_opened_at_its_line():
    (data,) = look(pk.autodiff(running), pk.Dup(vector(), vector()), ndrange="n").subjects
    assert "another work-item may have written" in data.error
    told = int(re.findall(r", line (\d+)", data.error)[0])
    assert hotspot(data) == (data.sources[0].file, told)


SHADOWED = [pk.Dup(MATRIX, MATRIX)] * 3


def test_gradients_are_called_gradients():
    data = look(pk.autodiff(heat), *SHADOWED, pk.f32, pk.i64, pk.i64, ndrange=("n", "m"))
    assert data.subjects[0].title == "gradient of heat"
    assert data.title == "gradient of heat — llvm"
    assert file_name(data) == "gradient-of-heat-llvm.html"
    assert SAMPLES["heat"].look("llvm").title == "heat"

    @pk.jit
    def energy(x):
        return (x * x).sum()

    x = pk.spec((8,), pk.f32)
    assert look(pk.grad(energy), x).title == "gradient of energy — llvm"


@pytest.mark.parametrize("level", ["direct", "auto"])
@pytest.mark.parametrize("target", ["llvm", "nvvm:sm_90a", "spirv:opencl"])
def test_the_backward_part_is_known_down_to_the_code(level, target):
    """Loads of what the kernel reads are forward; what is written into shadows is backward."""
    gradient = pk.autodiff(matmul, level=level)
    (data,) = look(gradient, *SHADOWED, pk.i64, ndrange=("n", "m"), target=target).subjects
    parts = [s.lineage.parts for s in data.stages if s.lineage is not None]
    assert not parts[0]  # the kernel itself
    assert set(parts[-1]) == {PRIMAL, BACKWARD}
    taken = next(n for n, part in enumerate(parts) if part)
    stage = data.stages[taken]
    assert stage.lineage is not None
    rows = list(zip(stage.text.splitlines(), stage.lineage.kinds, parts[taken], strict=True))
    assert all(len(p) in (0, len(s.text.splitlines())) for p, s in zip(parts, data.stages, strict=True))
    writes = [
        part
        for text, kind, part in rows
        if kind == OPERATION and ("memref.store" in text or "atomic" in text)
    ]
    assert writes
    assert set(writes) <= {BACKWARD, PRIMAL}
    assert BACKWARD in writes
    before = data.stages[taken - 1]
    assert before.lineage is not None
    copied = [part for text, kind, part in rows if kind == OPERATION and "kern.global_id" in text]
    assert set(copied) <= {PRIMAL}


def test_tangents_are_told_from_the_function():
    gradient = pk.autodiff(matmul, mode="forward")
    (data,) = look(gradient, *SHADOWED, pk.i64, ndrange=("n", "m")).subjects
    assert data.title == "forward derivative of matmul"
    last = data.stages[-1].lineage
    assert last is not None
    assert set(last.parts) == {PRIMAL, TANGENT}


def test_nothing_is_marked_without_a_derivative():
    assert not any(s.lineage.parts for s in SAMPLES["heat"].look("llvm").stages if s.lineage is not None)


@pytest.fixture
def rates(monkeypatch, tmp_path):
    """A store of its own, and measurements that are counted."""
    store, calls = Store(tmp_path / "store", 1 << 20), []
    rates = ((10.0, {"f32": 100.0, "f64": 50.0}), (9.0, {"f32": 120.0, "f64": 40.0}))
    roofs = iter([Roof("this processor", memory, flops, True) for memory, flops in rates])

    def measure():
        calls.append(1)
        return next(roofs)

    monkeypatch.setattr(processor, "shared_store", lambda: store)
    monkeypatch.setattr(processor, "_measured", measure)
    return store, calls


def test_the_processor_is_measured_once(rates):
    _, calls = rates
    first = processor.this_processor()
    assert processor.this_processor() == first == ceilings.given(None, "llvm")
    assert len(calls) == 1
    assert first.measured
    again = processor.this_processor(remeasure=True)  # the higher of both: a limit is what can be had
    assert (again.gb_per_s, dict(again.gflop_per_s)) == (10.0, {"f32": 120.0, "f64": 50.0})
    assert processor.this_processor() == again


def test_nothing_is_measured_for_notebooks(rates):
    _, calls = rates
    assert ceilings.known("llvm") is None
    assert not calls
    found = processor.this_processor()
    assert ceilings.known("llvm") == found
    assert ceilings.known("nvvm:sm_90a") == ceilings.given(None, "nvvm:sm_90a")


def test_a_damaged_measurement_is_made_again(rates):
    store, calls = rates
    processor.this_processor()
    (entry,) = store.entries(processor.LIMITS)
    store.write(processor.LIMITS, entry.key, json.dumps({"gb_per_s": "x"}).encode())
    assert processor.this_processor().gb_per_s == 9.0
    assert len(calls) == 2


def test_other_targets_have_nominal_ceilings():
    sheet = ceilings.given(None, "nvvm:sm_90a")
    assert sheet is not None
    assert not sheet.measured
    assert ceilings.given(None, "spirv:vulkan") is None


def test_this_machine_has_ceilings():
    roof = processor.this_processor()
    assert roof.gb_per_s > 0.1
    assert set(roof.gflop_per_s) == {"f32", "f64"}
    assert roof.gflop_per_s["f32"] > roof.gb_per_s / 8
