"""Row kernels of programs for GPUs that are not here: they compile, and are assembled where the tools are."""

from __future__ import annotations

import pytest

import pykern as pk
from pykern.lowering.nvvm.ptxas import ptxas
from tests.cases.row_programs import PROGRAMS


@pytest.mark.parametrize(
    "target", ["nvvm:sm_90a+aligned+small", "rocdl:gfx942+aligned+small", "rocdl:gfx1100"]
)
@pytest.mark.parametrize("function", PROGRAMS[:4], ids=lambda f: f.__name__)
def test_row_kernels_for(target, function):
    specs = [pk.spec((64, 1000) if n == 0 else (1000,), pk.f32) for n in range(function.__code__.co_argcount)]
    lowered = pk.jit(function).lower(*specs, target=target)
    compiled = lowered.compile()
    program = lowered.artifact.program
    assert program is not None and program.plan is not None
    plan = program.plan
    assert len(plan.kernels) == 1
    kernel = plan.kernels[0]
    assert compiled.binary[:4] == b"\x7fELF" or (target.startswith("nvvm") and ptxas() is None)
    assert kernel.device.format in ("cubin", "ptx", "hsaco")
    asm = compiled.asm()
    assert "bar" in asm and "kern_" in asm
    assert ("shfl.sync" in asm) == target.startswith("nvvm")
