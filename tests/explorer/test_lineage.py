"""Every line of a stage knows where it comes from: its parents, its line of Python; texts and code stay the same."""

from __future__ import annotations

import json
import re

import pytest

import pykern as pk
from pykern.data.lineage import OPERATION, PLUMBING, Lineage, Place, lines_of_place, relatives
from pykern.explorer import packing
from pykern.explorer.data import Pin, lineage_of
from pykern.explorer.explore import of_kernel
from pykern.lowering.nvvm.disassembly import disassembler as nvdisasm
from pykern.lowering.nvvm.ptxas import ptxas
from pykern.lowering.spirv.disassembly import disassembler
from tests.explorer.samples import HOSTILE, SAMPLES, saxpy

TARGETS = ("llvm", "spirv:vulkan", "nvvm:sm_80")
ASM_TARGETS = ("llvm", "nvvm:sm_80", "rocdl:gfx90a")
CASES = [(name, target) for name in SAMPLES for target in TARGETS]
# functions of the runtime library that the conversion declares; nobody wrote them
DECLARATION = re.compile(r"llvm\.func @__nv_\w+\(")


def operations(stage):
    lineage = lineage_of(stage)
    rows = zip(stage.text.splitlines(), lineage.kinds, lineage.parents, lineage.places, strict=True)
    return [row for row in rows if row[1] == OPERATION]


@pytest.mark.parametrize(("name", "target"), CASES)
def test_every_op_of_the_last_mlir_has_one_line_of_the_kernel(name, target):
    data = SAMPLES[name].look(target)
    known = {(s.file, s.first + n) for s in data.sources for n in range(len(s.lines))}
    last = [s for s in data.stages if s.kind == "mlir"][-1]
    found = operations(last)
    assert len(found) >= 10
    for text, _, _, place in found:
        assert place is not None, text
        assert (lineage_of(last).files[place.file], place.line) in known, text


@pytest.mark.parametrize(("name", "target"), CASES)
def test_every_op_has_a_parent(name, target):
    data = SAMPLES[name].look(target)
    ops = orphans = 0
    for before, stage in zip(data.stages, data.stages[1:], strict=False):
        lines = len(before.text.splitlines())
        assert all(0 < p <= lines for parents in lineage_of(stage).parents for p in parents)
        if stage.kind == "mlir":
            found = operations(stage)
            ops += len(found)
            orphans += sum(not parents for _, _, parents, _ in found)
    assert orphans <= 0.02 * ops


@pytest.mark.parametrize("target", ASM_TARGETS)
@pytest.mark.parametrize("name", SAMPLES)
def test_half_of_the_instructions_know_their_line(name, target):
    """They are all but a few; what reads the arguments of a launch is not of the kernel, and not counted."""
    stage = SAMPLES[name].look(target).stages[-1]
    assert stage.kind == "asm"
    assert len(operations(stage)) >= 15
    assert lineage_of(stage).mapped() >= 0.5


@pytest.mark.skipif(disassembler() is None, reason="no spirv-dis: Debian's package is spirv-tools")
@pytest.mark.parametrize("target", ["spirv:vulkan", "spirv:opencl"])
@pytest.mark.parametrize("name", SAMPLES)
def test_instructions_of_spirv_come_from_the_operation_of_their_name(name, target):
    *_, module, binary = SAMPLES[name].look(target).stages
    assert binary.kind == "spirv"
    rows = module.text.splitlines()
    found = operations(binary)
    assert len(found) >= 15
    for text, _, parents, place in found:
        assert place is not None, text
        (parent,) = parents
        instruction = re.search(r"Op(\w+)", text)[1]
        if instruction not in ("ExtInst", "Function", "Variable"):
            assert f"spirv.{instruction} " in rows[parent - 1], text
    order = [parents[0] for text, _, parents, _ in found if "OpVariable" not in text]
    assert order == sorted(order)


@pytest.mark.parametrize("target", TARGETS)
def test_following_changes_no_code(target):
    """Stages of MLIR are the same text, and instructions the same ones, whether they are followed or not."""
    sample = SAMPLES["heat"]
    plain = sample.kernel.lower(*sample.args, ndrange=sample.ndrange, target=target).stages
    followed = [s for s in sample.look(target).stages if s.name != "sass"]  # is made for who looks
    texts = [s for s in plain if s.text]
    assert [s.name for s in texts] == [s.name for s in followed]
    for one, other in zip(texts, followed, strict=True):
        if one.kind == "mlir":
            assert one.text.rstrip("\n") == other.text
        elif one.kind == "asm":
            assert instructions(one.text) == instructions(other.text)


def instructions(text):
    """Instructions without the labels, whose numbers debug information moves."""
    rows = [row.strip() for row in text.splitlines() if re.match(r"^\s+[a-z@{]", row)]
    return [re.sub(r"[$.]?L\w+", "L", row) for row in rows]


def test_a_line_lights_what_it_says():
    sample = SAMPLES["saxpy"]
    data = sample.look("llvm")
    line = sample.line("z[i] = a")
    first = data.stages[0]
    lit = data.lit(Pin(-1, line, data.sources[0].file))
    ops = [re.search(r'"?(\w+\.\w+)"?', first.text.splitlines()[n - 1])[1] for n in lit[0]]
    assert ops == ["memref.load", "arith.mulf", "memref.load", "arith.addf", "memref.store"]
    multiplied = [data.stages[-1].text.splitlines()[n - 1].split()[0] for n in lit[-1]]
    assert any(m.startswith(("vfmadd", "fma", "mulss", "mulps", "fmul", "fmla")) for m in multiplied)


def test_a_called_function_is_lit_in_its_own_lines():
    data = SAMPLES["smooth"].look("llvm")
    called = next(s for s in data.sources if s.name == "weight")
    lit = data.lit(Pin(-1, called.first + 1, called.file))
    assert "arith.divf" in " ".join(data.stages[0].text.splitlines()[n - 1] for n in lit[0])


def test_a_store_is_followed_to_its_instruction():
    data = SAMPLES["saxpy"].look("nvvm:sm_80")
    row = next(n for n, t in enumerate(data.stages[0].text.splitlines(), 1) if "memref.store" in t)
    lit = data.lit(Pin(0, row))
    ptx = next(n for n, s in enumerate(data.stages) if s.name == "ptx")
    rows = data.stages[ptx].text.splitlines()
    assert [rows[n - 1].split()[0] for n in lit[ptx]][-1].startswith("st.global")
    assert not any("ld.global" in rows[n - 1] for n in lit[ptx])


@pytest.mark.skipif(nvdisasm() is None or ptxas() is None, reason="needs nvidia-cuda-nvdisasm and ptxas")
def test_instructions_of_the_chip_are_followed():
    data = SAMPLES["saxpy"].look("nvvm:sm_80")
    last = data.stages[-1]
    assert last.name == "sass" and lineage_of(last).mapped() >= 0.9
    lit = data.lit(Pin(-1, SAMPLES["saxpy"].line("z[i] = a"), data.sources[0].file))
    words = " ".join(last.text.splitlines()[n - 1] for n in lit[-1])
    assert "FFMA" in words and "LDG" in words and "STG" in words
    assert "/*00" not in last.text and ".loc" not in last.text


def test_plumbing_is_lit_on_demand():
    data = SAMPLES["heat"].look("llvm")
    pin = Pin(-1, SAMPLES["heat"].line("t[i + 1, j]"), data.sources[0].file)
    few, more = data.lit(pin), data.lit(pin, plumbing=True)
    assert all(set(a) <= set(b) for a, b in zip(few, more, strict=True))
    assert sum(map(len, few)) < sum(map(len, more))


LINEAGES = (
    Lineage(("k.py",), "oo", ((), ()), (Place(0, 3, 4), Place(0, 4, 4)), {"a.b": 2}),
    Lineage(("k.py",), "opo", ((1,), (1,), (1, 2)), (Place(0, 3, 4), Place(0, 3, 4), None), {"a.b": 3}),
)  # fmt: skip


def test_relatives_go_both_ways():
    assert relatives(LINEAGES, 0, 2) == ({2}, {3})
    assert relatives(LINEAGES, 1, 3) == ({1, 2}, {3})
    assert relatives((*LINEAGES, None), 1, 2) == ({1}, {2}, set())


def test_lines_of_a_place():
    assert lines_of_place(LINEAGES[1], "k.py", 3) == (1,)
    assert lines_of_place(LINEAGES[1], "k.py", 3, plumbing=True) == (1, 2)
    assert lines_of_place(LINEAGES[1], "other.py", 3) == ()


def test_share_that_is_known():
    assert LINEAGES[0].mapped() == 1
    assert LINEAGES[1].mapped() == 0.5
    assert Lineage().mapped() == 1


@pytest.mark.parametrize("target", TARGETS)
def test_the_data_is_json_and_complete(target):
    data = SAMPLES["heat"].look(target)
    read = json.loads(json.dumps(packing.subject(data)))
    lines = []
    for given, stage in zip(read["stages"], data.stages, strict=True):
        lines = given["lines"] if given["changed"] else lines
        assert "\n".join(lines) == stage.text
        assert len(lines) == len(given["kinds"]) == len(given["parents"]) == len(given["src"])
        assert set(given["kinds"]) <= {OPERATION, PLUMBING, "."}
        assert given["ms"] >= 0


def test_remarks_tell_vectors():
    said = {r.text for r in SAMPLES["saxpy"].look("llvm").remarks}
    assert any(re.fullmatch(r"vectors of \d+(, unrolled \d+ times)?", text) for text in said)


@pytest.mark.parametrize("target", TARGETS)
def test_remarks_tell_which_bounds_checks_stay(target):
    line = SAMPLES["saxpy"].line("z[i] = a")
    kept = SAMPLES["saxpy"].look(target, debug=True)
    assert said_of_bounds(kept) == {(line, "bounds check kept")}


def test_remarks_tell_which_bounds_checks_are_gone():
    line = SAMPLES["saxpy"].line("z[i] = a")
    vector = pk.spec((64,), pk.f32)
    proved = of_kernel(saxpy, vector, vector, vector, pk.f32, ndrange=64, debug=True)
    checked = SAMPLES["saxpy"].look("llvm", debug=True)
    ((place, text),) = said_of_bounds(proved)
    assert place == line
    assert text.startswith("bounds check removed by")
    last = [[s for s in d.stages if s.kind == "mlir"][-1].text for d in (proved, checked)]
    assert ["call @kern.fail" in text for text in last] == [False, True]


def said_of_bounds(data):
    return {(r.line, r.text) for r in data.remarks if r.text.startswith("bounds check")}


def test_remarks_tell_what_prevents_raising():
    told = {r.text.partition(":")[0]: r.line for r in SAMPLES["saxpy"].look("llvm").remarks}
    assert "the kernel can be raised to linalg on tensors" in told
    told = {r.text.partition(":")[0]: r.line for r in HOSTILE.look("llvm").remarks}
    assert told["not raised to linalg"] == HOSTILE.line("assert x[i]")
