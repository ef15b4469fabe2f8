"""Products by tensor cores: how many instructions, which products, and that ptxas keeps all sums in registers."""

from __future__ import annotations

import re

import pytest

import pykern as pk
from pykern.lowering.nvvm.ptxas import assemble


@pk.jit
def product(a, b):
    return a @ b


def inner_loop(ptx):
    """How often instructions stand in a loop of the code that multiplies."""
    blocks = re.split(r"\n\$L\w+:", ptx)
    return next(block for block in blocks if "mma.sync" in block)


def lowered(size, dtype, target):
    return product.lower(pk.spec((size, size), dtype), pk.spec((size, size), dtype), target=target)


@pytest.mark.parametrize("dtype", [pk.f16, pk.bf16], ids=["f16", "bf16"])
@pytest.mark.parametrize(("size", "instructions"), [(90, 4), (501, 16), (2001, 32)])
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "sm_120a"])
def test_sums_stay_in_registers(chip, size, instructions, dtype):
    """Two steps of 16 terms, for a subgroup with 16 x 16, 32 x 32 and 64 x 32 cells of the tile."""
    ptx = lowered(size, dtype, f"nvvm:{chip}").as_text("ptx")
    assert ptx.count("mma.sync.aligned.m16n8k16.row.col.f32") == instructions
    code = assemble(ptx, chip)
    assert code.spill_stores == code.spill_loads == code.stack == 0
    assert code.registers <= 200


@pytest.mark.parametrize(("size", "counts"), [(90, (8, 4)), (512, (32, 8)), (2048, (64, 12))])
@pytest.mark.parametrize(
    "chip", ["sm_80", *(pytest.param(chip, marks=pytest.mark.slow) for chip in ("sm_90a", "sm_120a"))]
)
def test_products_of_f64(chip, size, counts):
    """Of eight terms: products of 8 x 8 cells and of four terms each, and loads of two terms."""
    ptx = lowered(size, pk.f64, f"nvvm:{chip}+aligned").as_text("ptx")
    loop = inner_loop(ptx)
    products, loads = (
        len(re.findall(each, loop)) for each in (r"mma\.sync\.aligned\.m8n8k4\.row\.col\.f64", r"ld\.shared")
    )
    assert (products, loads) == counts and loop.count("ld.shared.v2.b64") == loads
    code = assemble(ptx, chip)
    assert code.spill_stores == code.spill_loads == code.stack == 0
    assert code.registers <= 255, "256 work-items have the registers of a multiprocessor"


@pytest.mark.parametrize("chip", ["sm_80", "sm_120a"])
@pytest.mark.parametrize(("size", "counts"), [(320, (4, 4, 2)), (512, (16, 8, 4)), (2048, (64, 16, 8))])
def test_what_lies_in_chunks_is_copied_ahead(chip, size, counts):
    """In a step: products, loads of four matrices, copies of 16 bytes. No element goes through a register."""
    ptx = lowered(size, pk.bf16, f"nvvm:{chip}+aligned+small").as_text("ptx")
    loop = inner_loop(ptx)
    assert tuple(loop.count(each) for each in ("mma.sync", "ldmatrix", "cp.async.cg")) == counts
    assert loop.count("bar.sync") + loop.count("barrier") == 1
    assert "ld.global" not in loop and "st.shared" not in loop
    code = assemble(ptx, chip)
    assert code.spill_stores == code.spill_loads == code.stack == 0
    assert code.registers <= 255, "two groups of 128 work-items have the registers of a multiprocessor"


def test_what_does_not_is_loaded():
    """Where lines are no multiples of 16 bytes, or nobody knows where an array begins."""
    assert "cp.async" not in lowered(1001, pk.f16, "nvvm:sm_80+aligned").as_text("ptx")
    assert "cp.async" not in lowered(1024, pk.f16, "nvvm:sm_80").as_text("ptx")


def remarks(dtype, target):
    return " ".join(remark.text for remark in lowered(501, dtype, target).remarks)


def test_remarks_tell_whether():
    assert "uses tensor cores, in tiles of 64 rows and columns" in remarks(pk.bf16, "nvvm:sm_86")
    assert "does not use tensor cores: this target has none" in remarks(pk.f16, "nvvm:sm_75")
    assert "does not use tensor cores: its factors are f32 and f32" in remarks(pk.f32, "nvvm:sm_80")


@pytest.mark.parametrize(
    ("dtype", "target"), [(pk.f16, "nvvm:sm_75"), (pk.f32, "nvvm:sm_90a"), (pk.f64, "nvvm:sm_75")]
)
def test_other_products_are_multiply_adds(dtype, target):
    assert "mma.sync" not in lowered(501, dtype, target).as_text("ptx")


@pk.jit
def attention(q, k, v):
    s = q @ k.transpose(0, 2, 1) * 0.125
    rows, columns = pk.arange(q.shape[1]), pk.arange(k.shape[1])
    s = pk.where(rows[:, None] >= columns[None, :], s, -pk.inf)
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


@pytest.mark.parametrize("chip", ["sm_80", pytest.param("sm_120", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("depth", "counts"), [(64, (64, 32, 8, 34)), (128, (128, 64, 16, 34)), (256, (192, 96, 24, 34))]
)
def test_attention_stays_in_registers(chip, depth, counts):
    """In a step of 64 keys: products, loads of four matrices, copies of 16 bytes, powers. No score is stored."""
    specs = [pk.spec((32, 1024, depth), pk.bf16)] * 3
    ptx = attention.lower(*specs, target=f"nvvm:{chip}+aligned+small").as_text("ptx")
    loop = inner_loop(ptx)
    assert tuple(loop.count(each) for each in ("mma.sync", "ldmatrix", "cp.async.cg", "ex2.approx")) == counts
    assert loop.count("bar.sync") + loop.count("barrier") == 2
    assert "ld.global" not in loop and "st.shared" not in loop
    code = assemble(ptx, chip)
    assert code.spill_stores == code.spill_loads == code.stack == 0


@pytest.mark.parametrize("depth", [64, pytest.param(128, marks=pytest.mark.slow)])
def test_attention_whose_elements_are_loaded_stays_in_registers(depth):
    ptx = attention.lower(*[pk.spec((32, 1001, depth), pk.f16)] * 3, target="nvvm:sm_80").as_text("ptx")
    code = assemble(ptx, "sm_80")
    assert code.spill_stores == code.spill_loads == code.stack == 0


@pk.kernel
def byte_product(c, a, b):
    i, j = pk.tile()
    total = pk.zeros((i, j), pk.i32)
    for k in pk.tiles(a.shape[1]):
        total += a[i, k] @ b[j, k].T
    c[i, j] = total


@pytest.mark.parametrize("dtype", [pk.i8, pk.u8], ids=["i8", "u8"])
@pytest.mark.parametrize(("size", "counts"), [(512, (16, 8, 4)), (2048, (64, 16, 8))])
def test_bytes_are_copied_ahead_where_they_lie_by_terms(size, counts, dtype):
    """As products of 16-bit floats, with twice as many terms in an instruction."""
    specs = [pk.spec((size, size), t) for t in (pk.i32, dtype, dtype)]
    ptx = byte_product.lower(*specs, ndrange=(size, size), target="nvvm:sm_80+aligned+small").as_text("ptx")
    loop, name = inner_loop(ptx), {"i8": "s8", "u8": "u8"}[str(dtype)]
    assert f"m16n8k32.row.col.s32.{name}.{name}.s32" in loop
    assert tuple(loop.count(each) for each in ("mma.sync", "ldmatrix", "cp.async.cg")) == counts
    code = assemble(ptx, "sm_80")
    assert code.spill_stores == code.spill_loads == code.stack == 0
