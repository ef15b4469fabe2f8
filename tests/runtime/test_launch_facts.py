"""Code that relies on facts of a launch: aligned arrays, positions of 32 bits, one grid, arrays of one shape. It is
compiled when a launch has them."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.data.abi import MANY_ITEMS, SMALL_COUNT
from pykern.data.index_space import Extent
from pykern.launching import device_kinds
from pykern.runtime import registry
from tests.runtime.test_device_entries import Counted, cuda, floats  # noqa: F401 - a fixture

OPENCL = pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)


def targets(kernel):
    """What the kernel was compiled for so far, in order."""
    return [str(source.target) for source in kernel.launcher.cache.artifacts]


def stencil():
    @pk.kernel
    def spread(y, x):
        i, j = pk.index()
        if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
            y[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] - 2 * x[i, j + 1]

    return spread, Counted(spread)


def expected(y, x):
    y = y.copy()
    y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] - 2 * x[1:-1, 2:]
    return y


VIEWS = {
    "whole": np.s_[:, :],
    "odd": np.s_[1:, 3:],
    "steps": np.s_[::2, 1::3],
    "backward": np.s_[::-1, ::-1],
    "column": np.s_[5:, ::-2],
}


@OPENCL
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("view", VIEWS)
def test_positions_of_any_view(device, view, small, rng, monkeypatch):
    if not small:
        monkeypatch.setattr(device_kinds, "SMALL", 10)
    spread, python = stencil()
    hx, hy = (rng.integers(-9, 9, (37, 54)).astype(np.float32) for _ in "xy")
    x, y = pk.array(hx, device=device)[VIEWS[view]], pk.array(hy, device=device)[VIEWS[view]]
    for _ in range(4):
        spread(y, x, ndrange=x.shape)
    np.testing.assert_array_equal(y.numpy(), expected(hy[VIEWS[view]], hx[VIEWS[view]]))
    (target,) = targets(spread)
    alike = "+alike" if view == "whole" else ""  # of views that are not dense the code keeps all lengths
    assert target == registry.info(device).target + "+small" * small + "+whole" + alike
    if device.startswith("opencl"):
        assert python.count == 2


@OPENCL
def test_the_wide_version_is_made_when_an_array_asks_for_it(device, monkeypatch):
    """One array beyond the limit is enough; the narrow code and its entry serve the others."""
    monkeypatch.setattr(device_kinds, "SMALL", 400)
    spread, python = stencil()
    plain = registry.info(device).target
    for side, more in (
        (10, [plain + "+small+whole+alike"]),
        (20, [plain + "+small+whole+alike", plain + "+whole+alike"]),
        (12, [plain + "+small+whole+alike", plain + "+whole+alike"]),
    ):
        hx = np.arange(side * side, dtype=np.float32).reshape(side, side)
        x, y = pk.array(hx, device=device), pk.zeros((side, side), pk.f32, device=device)
        for _ in range(3):
            spread(y, x, ndrange=(side, side))
        np.testing.assert_array_equal(y.numpy(), expected(np.zeros_like(hx), hx))
        assert targets(spread) == more
    if device.startswith("opencl"):
        assert python.count == 5  # two of each version, one for arrays not seen before


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "expected"),
    [((SMALL_COUNT - 1,), None, 0, True), ((SMALL_COUNT + 1,), None, 0, False), ((2, 3), (2**33, 4), 0, False),
     ((2, 3), (-(2**32), 4), 2**32, True), ((2, 3), (-(2**33), 4), 2**33, False), ((0,), None, 0, True)],
)  # fmt: skip
def test_what_is_small(shape, strides, offset, expected):
    pool = registry.opened("null:0").pool
    memory = pk.zeros(16, pk.u8, device="null:0").memory
    array = pk.Array(pool.adopt(memory, None), shape, np.dtype(np.float32), strides, offset)
    assert device_kinds.facts(array)[1] is expected


def test_counts_decide_too():
    fits, not_ = ((Extent(0, 1, SMALL_COUNT + more),) for more in (0, 1))
    assert str(device_kinds.fitted("spirv:opencl3.0", [], fits)) == "spirv:opencl3.0+small"
    assert str(device_kinds.fitted("spirv:opencl3.0", [], not_)) == "spirv:opencl3.0"
    assert str(device_kinds.fitted("rocdl:gfx942", [], not_)) == "rocdl:gfx942+aligned+many"
    assert str(device_kinds.fitted("llvm", [], fits)) == "llvm"


@pytest.mark.parametrize(
    ("counts", "many"),
    [((MANY_ITEMS,), True), ((MANY_ITEMS - 1,), False), ((1 << 11, 1 << 10), True), ((0, 1 << 30), False)],
)
def test_what_is_many(counts, many):
    space = tuple(Extent(0, 1, count) for count in counts)
    assert device_kinds.fitted("nvvm:sm_90a", [], space).many is many
    assert not device_kinds.fitted("spirv:opencl3.0", [], space).many


WHOLE = [((5, 7), True), ((65535, 9), True), ((65536, 1), False), ((9,), False), ((65535, 65535, 9), True),
         ((65536, 1, 9), False), ((256, 256, 5, 7), False), ((255, 257, 5, 7), True)]  # fmt: skip


@pytest.mark.parametrize(("counts", "whole"), WHOLE)
def test_what_is_whole(counts, whole):
    """The device does not cut the grid along y and z, whatever the group."""
    space = tuple(Extent(0, 1, count) for count in counts)
    assert device_kinds.fitted("spirv:opencl3.0", [], space, (9, 65535, 65535)).whole is whole


@pytest.mark.parametrize(
    ("shapes", "alike"),
    [(((3, 4), (3, 4)), True), (((3, 4), (4, 3)), False), (((3, 4), (5,), (6,)), False), (((5,), (5,)), False),
     (((3, 4), (2, 3, 4), (3, 4), (2, 3, 4)), True), (((3, 4), (2, 3, 4), (3, 4), (2, 4, 3)), False)],
)  # fmt: skip
def test_what_is_alike(shapes, alike):
    arrays = [pk.zeros(shape, pk.f32, device="null:0") for shape in shapes]
    space = (Extent(0, 1, 3), Extent(0, 1, 4))
    assert device_kinds.fitted("spirv:opencl3.0", arrays, space).alike is alike


@pytest.mark.parametrize("device", ["cuda:emulated", "opencl:0", "vulkan:0"], indirect=True)
def test_arrays_of_one_shape_and_of_several(device, rng):
    """The code that takes the lengths of the first array for all is not launched with others, by no way."""

    @pk.kernel
    def add(y, x, z):
        i, j = pk.index()
        y[i, j] = x[i, j] + z[i + 1, j]

    for step in range(6):
        more = step % 2
        hx, hz = (rng.integers(-9, 9, (5 + n, 6 + n)).astype(np.float32) for n in (0, more))
        x, z = pk.array(hx, device=device), pk.array(hz, device=device)
        y = pk.zeros((5, 6), pk.f32, device=device)
        for _ in range(3):
            add(y, x, z, ndrange=(4, 6))
        np.testing.assert_array_equal(y.numpy()[:4], hx[:4] + hz[1:5, :6])
    first, second = targets(add)
    assert first.endswith("+whole+alike") and second.endswith("+whole")


@pytest.mark.parametrize("device", ["cuda:emulated"], indirect=True)
def test_more_rows_than_groups_of_one_grid(device):
    """Rows along y that a grid may not have are launched in parts, by code that knows its first group."""

    @pk.kernel(workgroup=(1, 4))
    def number(y):
        i, j = pk.index()
        y[i, j] = 3 * i + j

    for rows in (7, 70000, 65535):
        y = pk.zeros((rows, 3), pk.i32, device=device)
        for _ in range(3):
            number(y, ndrange=y.shape)
        np.testing.assert_array_equal(y.numpy().ravel(), np.arange(3 * rows))
    assert ["+whole" in target for target in targets(number)] == [True, False]


def emulated(words, grid, group, shared):
    """`y[i] = x[i] + 1` over the words of `pykern.data.abi`."""
    y, ny, x, nx, count, _ = words
    floats(y, ny)[:count] = floats(x, nx)[:count] + 1


def test_alignment_is_looked_at_on_cuda(cuda):  # noqa: F811
    """Misaligned views take the plain code, aligned ones theirs, whichever was launched first, with entries too."""

    @pk.kernel
    def more(y, x):
        i = pk.index()
        y[i] = x[i] + 1

    python = Counted(more)
    cuda.kernels[b"kern_more"], cuda.cells = emulated, 6
    hx = np.arange(64, dtype=np.float32)
    x, y = pk.array(hx, device="cuda:0"), pk.zeros(64, pk.f32, device="cuda:0")
    assert x.memory.address % 16 == 0 == y.memory.address % 16
    loaded = {}
    for start in (1, 0, 3, 4, 0, 1):
        there, back = x[start : start + 32], y[start : start + 32]
        for _ in range(3):
            more(back, there, ndrange=32)
        loaded[start] = cuda.images[-1]
        np.testing.assert_array_equal(back.numpy(), hx[start : start + 32] + 1)
    plain, aligned = targets(more)
    assert (plain, aligned) == ("nvvm:sm_90a+small", "nvvm:sm_90a+aligned+small")
    assert len(cuda.images) == 2 and python.count == 8  # entries after two of each; views are told once each
    by_code = {}
    for function, *_, places, _ in cuda.did("C cuLaunchKernel"):
        by_code.setdefault(function, set()).add(places)
    assert len(by_code) == 2


def test_vectors_where_all_arrays_are_aligned():
    @pk.kernel
    def fours(y, x):
        i = pk.index()
        for c in pk.unroll(range(4)):
            y[4 * i + c] = 2 * x[4 * i + c]

    specs = pk.spec("n", pk.f32), pk.spec("n", pk.f32)
    asm = {
        options: fours.lower(*specs, ndrange="n", target=f"nvvm:sm_90a{options}").compile().asm()
        for options in ("", "+aligned", "+aligned+small")
    }
    assert "ld.global.nc.b32" in asm[""] and ".v4" not in asm[""]
    for options in ("+aligned", "+aligned+small"):
        assert "ld.global.nc.v4.b32" in asm[options] and "st.global.v4.b32" in asm[options]


# -- array programs --------------------------------------------------------------------------------


def told(program):
    """What the program's plans were compiled for, in order."""
    return [str(source.target) for _, source in program._device_plans]


@OPENCL
def test_programs_know_their_launch(device, rng, monkeypatch):
    """A plan for each set of facts; results given as `out=` of which less is true are copied."""

    @pk.jit
    def program(x):
        return x[1:] * 2 + x[:-1]

    hx = rng.integers(-9, 9, 60).astype(np.float32)
    x = pk.array(hx, device=device)
    np.testing.assert_array_equal(program(x).numpy(), hx[1:] * 2 + hx[:-1])
    part = pk.array(np.zeros(120, np.float32), device=device)[50:109]
    monkeypatch.setattr(device_kinds, "SMALL", 40)
    program(x, out=part)  # the result lies beyond what the plan may rely on
    np.testing.assert_array_equal(part.numpy(), hx[1:] * 2 + hx[:-1])
    np.testing.assert_array_equal(program(pk.array(hx, device=device)).numpy(), hx[1:] * 2 + hx[:-1])
    assert [target.endswith("+small") for target in told(program)] == [True, False]


@pytest.mark.parametrize("shift", [0, 1, 4])
def test_views_in_programs_keep_what_is_true(shift):
    """A kernel relies on 16 bytes where every one of its launches has them."""

    @pk.jit
    def line(x):
        return np.sum(x[shift:])

    text = line.lower(pk.spec((256,), pk.f32), target="nvvm:sm_80+aligned+small").compile().asm()
    assert (".align 16" in text.split(")")[0]) == (shift % 4 == 0)


def test_long_programs_are_not_small():
    @pk.jit
    def program(x):
        return np.sum(x, axis=-1)

    texts = [
        program.lower(pk.spec((rows, 4096), pk.f32), target="nvvm:sm_80+small").stages
        for rows in (1 << 10, 1 << 19)
    ]
    placed = [[s.name for s in stages if s.name.startswith("kern-place-work-items")] for stages in texts]
    assert placed == [["kern-place-work-items{small=true whole-x=true}"], ["kern-place-work-items"]]
