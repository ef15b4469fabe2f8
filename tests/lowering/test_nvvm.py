"""The whole language on NVIDIA's chips: assembled by ptxas, its registers and instructions looked at."""

from __future__ import annotations

import re

import pytest

import pykern as pk
from pykern.data.target import parse
from pykern.errors import TargetError
from pykern.lowering.nvvm.chips import CHIPS
from pykern.lowering.nvvm.occupancy import occupancy
from pykern.lowering.nvvm.options import options_of
from pykern.lowering.nvvm.pipeline import nvvm_pipeline
from pykern.lowering.nvvm.ptxas import ptxas
from pykern.passes.registry import parse_pipeline
from tests.lowering.kernels import (
    BINARY,
    CASES,
    UNARY,
    Case,
    elementwise,
    function,
    histogram,
    on_chips,
    rank_3,
    vector,
)

TESTED = on_chips(("sm_80", "sm_90a"), ("sm_75", "sm_86", "sm_120a"))
STACKS = {"sin_f64", "cos_f64", "tan_f64"}
"""Functions of libdevice that reduce huge angles in memory of the work-item."""


def test_the_assembler_is_there():
    assert ptxas() is not None, "pip install nvidia-cuda-nvcc-cu12: without it nothing here is assembled"


@pytest.mark.parametrize(("name", "chip"), TESTED)
def test_the_language(name, chip):
    compiled = CASES[name].compile(f"nvvm:{chip}")
    resources = compiled.resources
    assert compiled.artifact.device.format == "cubin" and compiled.binary[:4] == b"\x7fELF"
    assert resources["spill_bytes"] == 0 and resources["stack_bytes"] == 0
    assert 0 < resources["registers"] <= 128 and 0 < resources["occupancy"] <= 1
    device = compiled.artifact.device
    parameters = re.findall(r"\.param \.u64 (\.ptr \.global)?", compiled.asm())
    assert ["memory" if p else "slot" for p in parameters] == list(device.arguments)
    assert not device.offsets


@pytest.mark.parametrize("chip", ["sm_90a"])
@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_functions(name, kind, chip):
    case = Case(function(name), (vector(kind),) * (3 if name in BINARY else 2), "n")
    resources = case.compile(f"nvvm:{chip}").resources
    assert resources["spill_bytes"] == 0
    assert resources["stack_bytes"] == 0 or f"{name}_{kind}" in STACKS


@pytest.mark.parametrize("chip", CHIPS)
def test_every_chip(chip):
    compiled = CASES["elementwise_f32"].compile(f"nvvm:{chip}")
    assert f".target {chip}\n" in compiled.asm() and compiled.resources["registers"] <= 32


def test_integers_of_64_bits_are_loaded_whole_and_shifted_by_all_bits_of_the_amount():
    """PTX shifts by 32 bits of the amount: 2**32 would be 0."""

    @pk.kernel
    def shifted(left, right, x, amounts):
        i = pk.index()
        left[i] = x[i] << amounts[i]
        right[i] = x[i] >> amounts[i]

    ptx = Case(shifted, (vector("u64"),) * 4, "n").compile("nvvm:sm_90a").asm()
    assert "ld.global.nc.b64" in ptx and "ld.global.nc.b32" not in ptx
    masked = set(re.findall(r"and\.b32 \t(%r\d+), %r\d+, 63;", ptx))
    dynamic = re.findall(r"sh[lr]\.[bu]64 \t%rd\d+, %rd\d+, (%r\d+);", ptx)
    assert len(dynamic) == 2 and set(dynamic) <= masked


def test_names_that_ptx_does_not_take_are_changed():
    @pk.kernel
    def größe(x):
        x[pk.index()] += 1

    assert Case(größe, (vector("f32"),), "n").compile("nvvm:sm_90a").artifact.entry == "kern_gr__e"


def _nothing(module):
    """A live pass: kernels that have one are compiled in this process."""


def test_ptx_is_given_where_there_is_no_assembler(monkeypatch):
    monkeypatch.setattr("pykern.lowering.nvvm.target.ptxas", lambda: None)

    @pk.kernel
    def doubled(x):
        x[pk.index()] *= 2

    compiled = doubled.lower(vector("f32"), ndrange="n", target="nvvm:sm_80", passes=(_nothing,)).compile()
    assert compiled.artifact.device.format == "ptx"
    assert compiled.binary.decode() == compiled.asm() and ".visible .entry kern_doubled" in compiled.asm()
    assert "registers" not in compiled.resources


def test_the_pipeline_is_its_text():
    for target in ("nvvm:sm_75", "nvvm:sm_90a+aligned"):
        text = str(nvvm_pipeline(*options_of(parse(target))))
        assert str(parse_pipeline(text)) == text


def test_launch_facts():
    compiled = CASES["histogram"].compile("nvvm:sm_90a")
    device = compiled.artifact.device
    assert device.arguments == ("memory", "slot", "memory", "slot", "slot", "slot")
    assert device.shared_bytes == 256 == compiled.resources["shared_bytes"]
    assert compiled.artifact.workgroup == (128,) and compiled.artifact.entry == "kern_histogram"
    assert CASES["sized_at_launch"].compile("nvvm:sm_90a").artifact.device.dynamic_shared


# Resident groups as NVIDIA's occupancy calculator gives them: (chip, group, registers, shared) -> groups.
@pytest.mark.parametrize(
    ("chip", "group", "registers", "shared", "groups"),
    [
        ("sm_80", 256, 32, 0, 8),  # warps: 64 / 8
        ("sm_80", 256, 64, 0, 4),  # registers: 65536 / (64 * 256)
        ("sm_80", 256, 65, 0, 3),  # 65 are given as 72
        ("sm_80", 32, 32, 0, 32),  # groups
        ("sm_80", 128, 32, 48 * 1024, 3),  # shared: 164 / 49
        ("sm_86", 1024, 32, 0, 1),  # warps: 48 / 32
        ("sm_75", 128, 32, 16 * 1024, 4),  # shared: 64 / 16
        ("sm_90a", 1024, 255, 0, 0),  # does not fit at all
    ],
)
def test_resident_groups(chip, group, registers, shared, groups):
    found = occupancy(CHIPS[chip], group, registers, shared)
    assert found.groups == groups
    assert found.part == groups * (group // 32) / CHIPS[chip].warps


@pytest.mark.parametrize(
    ("group", "registers", "shared", "limit"),
    [
        (256, 32, 0, "subgroups"),
        (256, 65, 0, "registers"),
        (32, 32, 0, "the number of groups"),
        (128, 32, 48 * 1024, "shared memory"),
    ],
)
def test_what_limits_occupancy(group, registers, shared, limit):
    assert occupancy(CHIPS["sm_80"], group, registers, shared).limit == limit


# -- refusals -----------------------------------------------------------------------------------


def refused(kernel, *args, target="nvvm:sm_80", ndrange="n", **keywords):
    with pytest.raises(TargetError) as caught:
        kernel.lower(*args, ndrange=ndrange, target=target, **keywords)
    return caught.value


def line_of(error: TargetError) -> str:
    with open(error.span.file, encoding="utf-8") as file:
        return file.read().splitlines()[error.span.line - 1]


def test_unknown_chips_and_options():
    assert "sm_90a" in refused(elementwise, *CASES["elementwise_f32"].args, target="nvvm:sm_10").hint
    assert "no option `fast`" in str(refused(histogram, *CASES["histogram"].args, target="nvvm:sm_80+fast"))


def test_a_group_too_large():
    error = refused(elementwise, *CASES["elementwise_f32"].args, workgroup=2048)
    assert "2048 work-items, and sm_80 has 1024" in error.reason and "def elementwise" in line_of(error)
    error = refused(rank_3, *CASES["rank_3"].args, ndrange=(2, "m", "k"), workgroup=(128, 1, 2))
    assert "along the outer dimensions" in error.reason


def test_too_much_shared_memory():
    @pk.kernel(workgroup=64)
    def greedy(x):
        i = pk.index()
        s = pk.shared(16 * 1024, pk.f32)
        s[pk.local_index()] = x[i]
        pk.barrier()
        x[i] = s[63 - pk.local_index()]

    error = refused(greedy, vector("f32"))
    assert "65536 bytes of shared memory" in error.reason and "pk.shared(16 * 1024" in line_of(error)


def test_a_barrier_that_some_miss():
    @pk.kernel(workgroup=64)
    def divergent(x):
        i = pk.index()
        if pk.local_index() < 3:
            x[i] = 1
            pk.barrier()

    error = refused(divergent, vector("f32"))
    assert "a barrier inside a branch" in error.reason and "pk.barrier()" in line_of(error)


def test_a_derivative():
    @pk.kernel
    def cube(out, x):
        i = pk.index()
        out[i] = pk.exp(x[i]) ** 3

    both = pk.Dup(vector("f32"), vector("f32"))
    gradient = pk.autodiff(cube, level="direct").lower(both, both, ndrange="n", target="nvvm:sm_80")
    assert gradient.compile().resources["spill_bytes"] == 0


# -- instructions ---------------------------------------------------------------------------------


def test_neighbouring_accesses_become_one_where_arrays_are_aligned():
    @pk.kernel
    def four(out, x):
        i = pk.index()
        for k in pk.unroll(range(4)):
            out[4 * i + k] = x[4 * i + k] * 2

    args = (vector("f32"),) * 2
    aligned = four.lower(*args, ndrange="n", target="nvvm:sm_90a+aligned").compile().asm()
    assert "ld.global.nc.v4.b32" in aligned and "st.global.v4.b32" in aligned
    assert ".v4" not in four.lower(*args, ndrange="n", target="nvvm:sm_90a").compile().asm()


def test_roots_and_quotients_are_exact_unless_asked_otherwise():
    def kernel_with(**options):
        @pk.kernel(**options)
        def root(out, x, y):
            i = pk.index()
            out[i] = pk.sqrt(x[i]) / y[i]

        return root

    args = (vector("f32"),) * 3
    exact = kernel_with().lower(*args, ndrange="n", target="nvvm:sm_80").compile().asm()
    assert "sqrt.rn.f32" in exact and "div.rn.f32" in exact
    fast = kernel_with(fastmath=True).lower(*args, ndrange="n", target="nvvm:sm_80").compile().asm()
    assert "sqrt.approx" in fast and "div.rn" not in fast


def test_libdevice_takes_exact_roots():
    asm = Case(function("hypot"), (vector("f32"),) * 3, "n").compile("nvvm:sm_80").asm()
    assert "sqrt.rn.f32" in asm and "sqrt.approx" not in asm


@pytest.mark.parametrize(
    ("kind", "chip", "wanted"),
    [
        ("f32", "sm_75", "atom.relaxed.gpu.global.add.f32"),
        ("f64", "sm_75", "atom.relaxed.gpu.global.add.f64"),
        ("f16", "sm_75", "atom.relaxed.gpu.global.add.noftz.f16"),
        ("bf16", "sm_90", "atom.relaxed.gpu.global.add.noftz.bf16"),
        ("bf16", "sm_80", "atom.relaxed.gpu.global.cas.b32"),
        ("u8", "sm_80", "atom.relaxed.gpu.global.cas.b32"),
        ("i64", "sm_80", "atom.relaxed.gpu.global.min.s64"),
        ("u32", "sm_80", "atom.relaxed.gpu.global.max.u32"),
    ],
)
def test_atomics(kind, chip, wanted):
    asm = CASES[f"atomics_{kind}"].compile(f"nvvm:{chip}").asm()
    shorter = wanted.replace(".relaxed.gpu", "")
    assert wanted in asm or shorter in asm


def test_static_sizes_are_computed_in_32_bits():
    asm = CASES["stencil_static"].compile("nvvm:sm_90a").asm()
    assert not re.search(r"mul\.lo\.s64|mad\.lo\.s64", asm)


def test_ptx_alone_for_chips_of_a_later_generation():
    @pk.kernel
    def twice(y, x):
        i = pk.index()
        y[i] = 2 * x[i]

    specs = pk.spec("n", pk.f32), pk.spec("n", pk.f32)
    artifact = twice.lower(*specs, ndrange="n", target="nvvm:sm_100+small+ptx").artifact
    assert artifact.device is not None and artifact.device.format == "ptx"
    assert ".target sm_100" in artifact.binary.decode()
