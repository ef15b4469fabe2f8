"""What a work-item costs, against counts by hand; and what the roofline makes of it."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.data.costs import least_bytes, total
from pykern.errors import LaunchError
from pykern.explorer import packing
from pykern.explorer.explore import look, of_kernel
from pykern.explorer.roof import Roof
from pykern.explorer.summary import intensity, summary
from tests.explorer.samples import SAMPLES, saxpy


@pk.kernel
def patterns(y, x, k, n):
    i, j = pk.index()
    y[i, j] = x[i, 0] + x[i, 2 * j + 1] + x[j, i] + x[i, k[j]] + x[i, n - j] + x[i, j * j]


@pk.kernel
def shared_sum(y, x):
    i = pk.index()
    tile = pk.shared(64, pk.f32)
    tile[pk.local_index()] = x[i]
    pk.barrier()
    y[i] = tile[0] + tile[63]


# loads, stores, atomics, and flops of a work-item, or of an iteration of its loop: counted by hand
BY_HAND = {
    "saxpy": ((8, 4, 2), 12, ()),
    "heat": ((24, 4, 9), 12, ()),  # t2[i, j] = ... : 6 loads, t[i, j] once; 2 * t[i, j] twice, a * b once
    "matmul": ((8, 0, 2), 4, ("for k",)),  # a[i, k] is the same for all neighbours
    "smooth": ((20, 4, None), 8, ()),  # a loop of 5 iterations
    "histogram": ((8, 4, 0), 8, ()),  # an atomic addition reads and writes
}


@pytest.mark.parametrize("name", BY_HAND)
def test_counts(name):
    (read, written, flops), least, loops = BY_HAND[name]
    costs = SAMPLES[name].look("llvm").costs
    assert costs.loops == tuple(SAMPLES[name].line(text) for text in loops)
    found = total(costs, costs.loops)
    assert found[:2] == (read, written)
    assert flops is None or found[2] == flops
    assert least_bytes(costs, costs.loops) == least


@pytest.mark.parametrize("target", ["llvm", "nvvm:sm_90a", "spirv:vulkan"])
def test_costs_are_those_of_the_kernel_whatever_the_target(target):
    assert SAMPLES["heat"].look(target).costs == SAMPLES["heat"].look("llvm").costs


def test_patterns():
    matrix = pk.spec(("n", "m"), pk.f32)
    data = of_kernel(patterns, matrix, matrix, pk.spec("m", pk.i64), pk.i64, ndrange=("n", "m"))
    loads = [a for a in data.costs.accesses if a.kind == "load" and a.array == "x"]
    assert [(a.pattern, a.step) for a in loads] == [
        ("same", 0), ("strided", 2), ("strided", 0), ("scattered", 0), ("neighbours", 1), ("scattered", 0),
    ]  # fmt: skip
    (store,) = [a for a in data.costs.accesses if a.kind == "store"]
    assert (store.array, store.pattern) == ("y", "neighbours")


def test_shared_memory_is_no_traffic():
    vector = pk.spec("n", pk.f32)
    data = of_kernel(shared_sum, vector, vector, ndrange="n", workgroup=64, target="nvvm:sm_90a")
    assert {a.array for a in data.costs.accesses} == {"x", "y", "shared"}
    assert total(data.costs)[:2] == (4, 4)


def test_words():
    first, *_ = summary(SAMPLES["saxpy"].look("llvm"))
    assert (
        first
        == "Each work-item makes 2 loads and 1 store, 12 bytes, for 2 flops: 0.17 flop/byte; memory bound."
    )
    first, *_ = summary(SAMPLES["matmul"].look("llvm"))
    line = SAMPLES["matmul"].line("for k")
    assert first.startswith(
        f"Each iteration of the loop at line {line} makes 2 loads, 8 bytes, for 2 flops: 0.25 flop/byte"
    )
    low, high = intensity(SAMPLES["heat"].look("llvm").costs)
    assert (low, high) == (pytest.approx(9 / 28), pytest.approx(9 / 12))


def test_a_launch_is_measured_below_the_roof_that_is_given():
    x, y = np.ones(5000, np.float32), np.zeros(5000, np.float32)
    (data,) = look(
        saxpy, y, x, x, np.float32(2), ndrange=5000, measure=True, roof={"GB/s": 900, "f32": 14000}
    ).subjects
    assert data.roof == Roof("as given", 900.0, {"f32": 14000.0})
    (run,) = data.runs
    assert run.items == 5000
    assert 0 < run.seconds < 60
    assert np.all(y == 3)


def test_what_cannot_be_measured_or_drawn():
    vector = pk.spec("n", pk.f32)
    with pytest.raises(LaunchError, match="measure=True launches kernels on arrays"):
        look(saxpy, vector, vector, vector, pk.f32, ndrange="n", measure=True)
    for roof in ({}, {"GB/s": 10}, {"f32": 10}, {"GB/s": 0, "f32": 1}):
        with pytest.raises(LaunchError, match="gives no ceilings"):
            look(saxpy, vector, vector, vector, pk.f32, ndrange="n", roof=roof)
    with pytest.raises(LaunchError, match="nothing to explore in int"):
        look(3)


@pk.kernel
def transposed(y, x):
    i, j = pk.index()
    y[j, i] = x[i, j]


@pytest.mark.parametrize(
    ("target", "device", "segments"),
    [("nvvm:sm_90a", "cuda:emulated:90", 32), ("rocdl:gfx1100", "rocm:emulated:gfx1100", 32)],
)
def test_accesses_are_counted_at_their_lines(target, device, segments, rng):
    """On copies: the launch changes no array."""
    x, y = rng.random((32, 32), dtype=np.float32), np.zeros((32, 32), np.float32)
    (data,) = look(transposed, y, x, ndrange=x.shape, target=target, accesses=True).subjects
    line = data.sources[0].first + 2
    said = [r for r in data.remarks if f"({device})" in r.text]
    assert {(r.file, r.line) for r in said} == {(__file__, line)}
    (write,) = [r.text for r in said if "write" in r.text]
    assert f"in {segments} segments of" in write and "not coalesced" in write
    (read,) = [r.text for r in said if "read" in r.text]
    assert "coalesced" in read and "not coalesced" not in read
    assert not y.any()
    packed = packing.subject(data)
    assert [r["text"] for r in packed["remarks"] if r["line"] == line and device in r["text"]] == [
        r.text for r in said
    ]


def test_what_cannot_be_counted(rng):
    x = rng.random((4, 4), dtype=np.float32)
    with pytest.raises(LaunchError, match="accesses are counted on emulated GPUs, not for llvm"):
        look(transposed, x, x, ndrange=(4, 4), target="llvm", accesses=True)
    matrix = pk.spec(("n", "m"), pk.f32)
    with pytest.raises(LaunchError, match="accesses=True launches kernels on arrays"):
        look(transposed, matrix, matrix, ndrange=("n", "m"), target="nvvm:sm_80", accesses=True)
