"""Products by tensor cores: how many instructions, which products, and that ptxas keeps all sums in registers."""

from __future__ import annotations

import pytest

import pykern as pk
from pykern.lowering.nvvm.ptxas import assemble


@pk.jit
def product(a, b):
    return a @ b


def lowered(size, dtype, target):
    return product.lower(pk.spec((size, size), dtype), pk.spec((size, size), dtype), target=target)


@pytest.mark.parametrize("dtype", [pk.f16, pk.bf16], ids=["f16", "bf16"])
@pytest.mark.parametrize(("size", "instructions"), [(90, 4), (501, 16), (1001, 32)])
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "sm_120a"])
def test_sums_stay_in_registers(chip, size, instructions, dtype):
    """Two steps of 16 terms, for a subgroup with 16 x 16, 32 x 32 and 64 x 32 cells of the tile."""
    ptx = lowered(size, dtype, f"nvvm:{chip}").as_text("ptx")
    assert ptx.count("mma.sync.aligned.m16n8k16.row.col.f32") == instructions
    code = assemble(ptx, chip)
    assert code.spill_stores == code.spill_loads == code.stack == 0
    assert code.registers <= 200


def remarks(dtype, target):
    return " ".join(remark.text for remark in lowered(501, dtype, target).remarks)


def test_remarks_tell_whether():
    assert "uses tensor cores, in tiles of 64 rows and 64 columns" in remarks(pk.bf16, "nvvm:sm_86")
    assert "does not use tensor cores: this target has none" in remarks(pk.f16, "nvvm:sm_75")
    assert "does not use tensor cores: its factors are f32 and f32" in remarks(pk.f32, "nvvm:sm_80")


@pytest.mark.parametrize(
    ("dtype", "target"), [(pk.f16, "nvvm:sm_75"), (pk.f32, "nvvm:sm_90a"), (pk.f64, "nvvm:sm_80")]
)
def test_other_products_are_multiply_adds(dtype, target):
    assert "mma.sync" not in lowered(501, dtype, target).as_text("ptx")
