"""Gradients on devices without a heap: equal to the CPU's, whatever the tape needs."""

from __future__ import annotations

import collections
import ctypes
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import pykern as pk
from benchmarks.autodiff_patterns_data import GROUP, PATTERNS
from benchmarks.autodiff_patterns_pykern import KERNELS
from pykern.launching import device_tape
from pykern.launching.on_device import dynamic_bytes
from tests.autodiff import test_direct as direct
from tests.autodiff import test_groups as groups
from tests.autodiff import test_random_kernels as fuzz
from tests.cases.narrow import narrowed
from tests.runtime.test_device_entries import cuda  # noqa: F401 - a fixture

over_devices = pytest.mark.parametrize(
    "device", ["opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)
Make = Callable[[], list[Any]]


def gradients(kernel: Any, make: Make, device: str, ndrange: Any, **launch: Any) -> list[np.ndarray]:
    """Every array after the gradient was taken on a device."""
    arguments = make()
    pk.autodiff(kernel, level="direct")(*arguments, ndrange=ndrange, device=device, **launch)
    found = [part for a in arguments if isinstance(a, pk.Dup) for part in (a.value, a.shadow)]
    return [
        a for a in found + [a for a in arguments if not isinstance(a, pk.Dup)] if isinstance(a, np.ndarray)
    ]


def compare(kernel: Any, make: Make, device: str, ndrange: Any, wide: bool = False, **launch: Any) -> None:
    """`wide`: what is given in f64 has to stay so, as a loop ends when its numbers are close enough."""

    def given() -> list[Any]:
        return make() if wide else narrowed(make(), device)

    expected = gradients(kernel, given, "cpu", ndrange, **launch)
    assert any(np.any(a) for a in expected)
    for a, b in zip(gradients(kernel, given, device, ndrange, **launch), expected, strict=True):
        close(a, b)


def close(found: np.ndarray, expected: np.ndarray) -> None:
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    tolerance = {4: 1e-5, 8: 1e-12}[expected.dtype.itemsize]
    largest = np.abs(expected).max(initial=0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * largest)


def three(n: int, dtype: Any = np.float64, outputs: int | None = None) -> Make:
    """out, x and w of the kernels of `test_direct`."""

    def make() -> list[Any]:
        random = np.random.default_rng(n)
        seed, x, w = random.random(outputs or n), random.random(n), random.random(7)
        values = [np.zeros(outputs or n), x, w]
        shadows = [seed, np.zeros(n), np.zeros(7)]
        return [pk.Dup(v.astype(dtype), s.astype(dtype)) for v, s in zip(values, shadows, strict=True)]

    return make


# -- known gradients --------------------------------------------------------------------------------


@over_devices
def test_sum_over_a_run_time_length(device: str) -> None:
    x, s, dx, ds = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.zeros(3), np.zeros(3)
    arguments = pk.Dup(np.zeros(3), np.ones(3)), pk.Dup(x, dx), pk.Dup(s, ds)
    pk.autodiff(direct.dynamic_sum, level="direct")(*arguments, ndrange=3, device=device)
    np.testing.assert_allclose(dx, [12, 24, 36], rtol=1e-15)
    np.testing.assert_allclose(ds, [14, 14, 14], rtol=1e-15)


@over_devices
def test_product_in_a_run_time_loop(device: str) -> None:
    x, n, dx = np.array([2.0, 3.0, 5.0]), np.array([3, 3, 0]), np.zeros(3)
    derivative = pk.autodiff(direct.repeated_product, level="direct")
    derivative(pk.Dup(np.zeros(3), np.ones(3)), pk.Dup(x, dx), n, ndrange=3, device=device)
    np.testing.assert_allclose(dx, [12, 27, 0], rtol=1e-15)


@over_devices
def test_while_loop(device: str) -> None:
    x, dx = np.array([2.0, 9.0]), np.zeros(2)
    derivative = pk.autodiff(direct.newton_root, level="direct")
    derivative(pk.Dup(np.zeros(2), np.ones(2)), pk.Dup(x, dx), ndrange=2, device=device)
    np.testing.assert_allclose(dx, 0.5 / np.sqrt(x), rtol=1e-9)


@over_devices
def test_maximum_with_continue(device: str) -> None:
    c, x, dc, dx = np.array([1.0, 0.0, -2.0, 0.5]), np.array([1.0, -1.0]), np.zeros(4), np.zeros(2)
    derivative = pk.autodiff(direct.skip_some, level="direct")
    derivative(pk.Dup(np.zeros(2), np.ones(2)), pk.Dup(c, dc), pk.Dup(x, dx), ndrange=2, device=device)
    np.testing.assert_array_equal(dx, [1, -2])
    np.testing.assert_array_equal(dc, [1, 0, -1, 0])


@over_devices
def test_update_in_place(device: str) -> None:
    x, y, dx, dy = np.array([2.0, 3.0]), np.array([0.5, 1.0]), np.zeros(2), np.ones(2)
    pk.autodiff(direct.in_place, level="direct")(pk.Dup(y, dy), pk.Dup(x, dx), ndrange=2, device=device)
    np.testing.assert_allclose(dx, [0.5, 1.0])
    np.testing.assert_allclose(dy, x + np.cos([0.5, 1.0]), rtol=1e-14)
    np.testing.assert_array_equal(y, [0.5, 1.0])


@over_devices
def test_scalar_argument(device: str) -> None:
    da, ds = np.ones(64), np.zeros(())
    derivative = pk.autodiff(direct.scaled, level="direct")
    derivative(pk.Dup(np.arange(1.0, 65.0), da), pk.Dup(1.2, ds), ndrange=64, device=device)
    np.testing.assert_allclose(da, 1.2)
    assert ds == 2080.0


@over_devices
def test_adjoint_of_tiny_kernels(device: str) -> None:
    def make() -> list[Any]:
        random = np.random.default_rng(3)
        shapes = (8, 11), (10, 9), (10, 11), (10, 11)
        seeds = [np.ones(s) for s in shapes[:2]] + [np.zeros(s) for s in shapes[2:]]
        return [pk.Dup(random.random(shape), seed) for shape, seed in zip(shapes, seeds, strict=True)]

    compare(direct.fluxes, make, device, (10, 11))


# -- against the CPU --------------------------------------------------------------------------------


@over_devices
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", direct.CASES)
def test_control_flow(name: str, dtype: Any, device: str) -> None:
    for n in (1, 13, 300) if dtype is np.float64 else (13,):
        compare(direct.CASES[name], three(n, dtype), device, n)


@over_devices
def test_stores_that_are_read_again(device: str) -> None:
    def make() -> list[Any]:
        random = np.random.default_rng(5)
        values = random.random((5, 9)), random.random(5), random.random(3)
        return [pk.Dup(v, random.random(v.shape)) for v in values]

    compare(direct.recurrence_in_a_row, make, device, 5)


@over_devices
def test_indirect_atomic_add(device: str) -> None:
    def make() -> list[Any]:
        index = np.random.default_rng(1).integers(0, 4, 20)
        return [*three(20, outputs=4)(), index]

    compare(direct.gathered, make, device, 20)


@over_devices
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(name: str, device: str) -> None:
    pattern = PATTERNS[name]

    def make() -> list[Any]:
        given = pattern.arguments(max(13, GROUP) if pattern.grouped else 13, seed=4)
        shadows = {"out": given["w"].copy(), "x": np.zeros_like(given["x"]), "c": np.zeros_like(given["c"])}
        return [*(pk.Dup(given[key], shadows[key]) for key in ("out", "x", "c")), given["k"]]

    compare(KERNELS[name], make, device, len(make()[1].value), wide=name == "while")


@over_devices
@pytest.mark.parametrize("number", range(max(1, fuzz.KERNELS // 2)))
def test_random_kernels(number: int, device: str, tmp_path: Any) -> None:
    """Half of those on the CPU: a device's compiler takes seconds for one."""
    random = Random(number)
    kernel = fuzz.load(fuzz.RandomKernel(random).text(), tmp_path / f"random_{number}.py")
    items = random.choice((1, 5, 37))

    def make() -> list[Any]:
        given = fuzz.arguments(items, 3 * number)
        seeds = np.random.default_rng(number)
        return [
            a
            if isinstance(a, int) or (isinstance(a, np.ndarray) and a.dtype.kind == "i")
            else pk.Dup(a, seeds.random(np.shape(a)))
            for a in given
        ]

    compare(kernel, make, device, items)


# -- groups -----------------------------------------------------------------------------------------


@over_devices
@pytest.mark.parametrize("kernel", [groups.tree_dot, groups.group_sums, groups.group_maxima])
def test_one_result_a_group(kernel: Any, device: str) -> None:
    def make() -> list[Any]:
        random = np.random.default_rng(8)
        return [
            pk.Dup(np.zeros(3), np.ones(3)),
            pk.Dup(random.random(48), np.zeros(48)),
            pk.Dup(random.random(48), np.zeros(48)),
        ]

    compare(kernel, make, device, 48, workgroup=16)


@over_devices
def test_barriers_in_a_loop(device: str) -> None:
    def make() -> list[Any]:
        random = np.random.default_rng(9)
        return [pk.Dup(random.random(32), random.random(32)) for _ in range(3)]

    compare(groups.neighbours, make, device, 32, workgroup=16)


@over_devices
def test_collectives_in_a_loop(device: str) -> None:
    """How often a loop with a barrier runs is known to those who left, too."""

    def make() -> list[Any]:
        random = np.random.default_rng(10)
        values = np.zeros(64), random.random(64) + 0.4, random.random(64) + 0.4
        return [pk.Dup(v, s) for v, s in zip(values, (np.ones(64), np.zeros(64), np.zeros(64)), strict=True)]

    compare(groups.butterfly, make, device, 64, workgroup=32)


@pk.kernel
def met_again_and_again(out, x, k):
    """Barriers in a loop whose length is data, and lengths that differ between work-items beside them."""
    i, lane, n = pk.index(), pk.local_index(0), k[0]
    if i == 37:
        return
    t = pk.shared(16, pk.f64)
    v = x[i]
    for _ in range(n):
        t[lane] = v
        pk.barrier()
        u = t[(lane + 1) % 16] if i < 32 else v
        pk.barrier()
        for _ in range(k[i]):
            u = pk.sin(u) * 0.9 + 0.1 * v * u
        v = u * v + 0.3
    out[i] = v


@over_devices
@pytest.mark.parametrize("n", [32, 41])
def test_counted_tapes_of_groups(n: int, device: str) -> None:
    """Where one work-item of a group has no room, its group does not go back; a group may be in part."""
    random = np.random.default_rng(n)
    x, k = random.random(n), random.integers(0, 6, n)
    k[0] = 4

    def make() -> list[Any]:
        return [pk.Dup(np.zeros(n), np.ones(n)), pk.Dup(x.copy(), np.zeros(n)), k.copy()]

    compare(met_again_and_again, make, device, n, workgroup=16)


# -- places -----------------------------------------------------------------------------------------


@pk.kernel
def in_four_dimensions(out, x, k):
    a, b, c, d = pk.index()
    v = x[a, b, c, d]
    for j in range(k[a] + d):
        v = pk.sin(v) * 1.1 if j % 2 == 0 else v * v
    out[a, b, c, d] = v


@over_devices
@pytest.mark.parametrize("room", [None, 20_000])
def test_four_dimensions(room: int | None, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if room is not None:
        monkeypatch.setattr(device_tape, "tape_room", lambda opened: room)

    def make() -> list[Any]:
        x = np.random.default_rng(0).random((3, 4, 5, 6))
        return [pk.Dup(np.zeros_like(x), np.ones_like(x)), pk.Dup(x, np.zeros_like(x)), np.array([3, 0, 5])]

    compare(in_four_dimensions, make, device, (3, 4, 5, 6), workgroup=(1, 2, 2, 4))


@over_devices
def test_range_and_strides(device: str) -> None:
    """Places on the tape are counted in work-items, whatever the indices are."""

    def make() -> list[Any]:
        random = np.random.default_rng(3)
        x, dx = random.random(100)[::2], np.zeros(150)[::3]
        return [pk.Dup(np.zeros(50), np.ones(50)), pk.Dup(x, dx), random.integers(0, 5, 50)]

    compare(direct.repeated_product, make, device, range(3, 47, 5))


@over_devices
def test_forward_over_reverse(device: str) -> None:
    """The tangents of what is taped are taped."""
    random = np.random.default_rng(6)
    x, v, n, found = random.random(20) + 0.5, random.random(20), random.integers(0, 6, 20), np.zeros(20)
    flat = pk.autodiff(direct.repeated_product, level="direct")._kernel((0, 1))
    pk.autodiff(flat, mode="forward")(
        np.zeros(20), np.ones(20), pk.Dup(x, v), pk.Dup(np.zeros(20), found), n, ndrange=20, device=device
    )
    np.testing.assert_allclose(found, n * (n - 1) * x ** (n - 2.0) * v, rtol=1e-12)


# -- what the tape needs ----------------------------------------------------------------------------


@pk.kernel
def of_known_length(out, x, w):
    i, j = pk.index()
    v = x[i, j]
    for a in range(20):
        for b in range(20):
            v = pk.sin(v) + w[(a + b) % 7] * 0.01 * v
    out[i, j] = v


def table(rows: int) -> Make:
    """out, x and w of `of_known_length`."""

    def make() -> list[Any]:
        random = np.random.default_rng(rows)
        values = np.zeros((rows, 3)), random.random((rows, 3)), random.random(7)
        return [
            pk.Dup(v, s)
            for v, s in zip(values, (np.ones((rows, 3)), np.zeros((rows, 3)), np.zeros(7)), strict=True)
        ]

    return make


@pk.kernel
def of_given_length(out, x, w, n):
    i = pk.index()
    v = x[i]
    for a in range(n):
        for b in range(a):
            v = pk.sin(v) + w[(a + b) % 7] * 0.1 * v
    out[i] = v


@pk.kernel
def added_in_place(out, x, w, k):
    """Some work-items push nothing, and are done where others have to wait for room."""
    i = pk.index()
    v = x[i]
    for a in range(k[i]):
        v = v * v + w[a % 7] * out[i]
        out[i] = out[i] * v + 0.2
    out[i] += v


@over_devices
def test_known_length_beyond_private_memory(device: str) -> None:
    compare(of_known_length, table(5), device, (5, 3))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [(of_known_length, (400, True)), (of_given_length, (0, True)), (added_in_place, (0, False))],
)
@pytest.mark.parametrize("target", ["spirv:opencl", "spirv:vulkan", "nvvm:sm_80", "rocdl:gfx90a"])
def test_what_code_tells_of_its_tape(kernel: Any, expected: tuple, target: str) -> None:
    vector = pk.Dup(pk.spec(None, pk.f64), pk.spec(None, pk.f64))
    rest = {of_given_length: [3], added_in_place: [pk.spec(None, pk.i64)]}.get(kernel, [])
    table = pk.Dup(pk.spec((None, None), pk.f64), pk.spec((None, None), pk.f64))
    first, rank = (vector, "n") if kernel is not of_known_length else (table, ("n", "m"))
    lowered = pk.autodiff(kernel, level="direct").lower(
        first, first, vector, *rest, ndrange=rank, target=target
    )
    device = lowered.artifact.device
    assert (device.tape.words, device.tape.told) == expected


@over_devices
def test_what_lengths_tell_is_counted_once(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    read = device_tape.TapedLaunch._read
    monkeypatch.setattr(
        device_tape.TapedLaunch,
        "_read",
        lambda self, counter: counted.append(need := read(self, counter)) or need,
    )
    derivative = pk.autodiff(of_given_length, level="direct")
    for n, seen in ((4, 2), (4, 2), (6, 4), (4, 4)):
        make = lambda n=n: [*three(13)(), n]  # noqa: E731
        arguments, expected = make(), gradients(of_given_length, make, "cpu", 13)
        derivative(*arguments, ndrange=13, device=device)
        close(arguments[1].shadow, expected[3])
        assert len(counted) == seen
    assert max(counted) == 15  # 1 + 2 + 3 + 4 + 5: one word an iteration


@over_devices
def test_more_in_the_data_than_last_time(device: str) -> None:
    """The same sizes: a tape that was large enough is too small, and what was half done is put back."""
    n = 37
    for longest in (2, 9, 5, 30):
        random = np.random.default_rng(longest)
        k, values = random.integers(0, longest, n), random.uniform(-0.7, 0.7, (2, n))

        def make(k: Any = k, values: Any = values) -> list[Any]:
            out, x = pk.Dup(values[0].copy(), np.ones(n)), pk.Dup(values[1].copy(), np.zeros(n))
            return [out, x, pk.Dup(np.linspace(-0.5, 0.5, 7), np.zeros(7)), k.copy()]

        compare(added_in_place, make, device, n)


@over_devices
@pytest.mark.parametrize("known", [True, False])
def test_tapes_larger_than_the_room(known: bool, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launch is cut along its slowest axis: its parts use the same memory in turn."""
    cuts: list[int] = []
    whole = device_tape.TapedLaunch._part

    def part(self: Any, words: int) -> Any:
        most = whole(self, words)
        cuts.append(max(-(-n // m) for n, m in zip(self.grid, most, strict=True)))
        return most

    monkeypatch.setattr(device_tape, "tape_room", lambda opened: 30_000)
    monkeypatch.setattr(device_tape.TapedLaunch, "_part", part)
    if known:
        compare(of_known_length, table(50), device, (50, 3), workgroup=(4, 2))
    else:
        compare(direct.while_in_for, three(1001), device, 1001, workgroup=16)
    assert max(cuts) > 3


@over_devices
def test_in_a_graph(device: str) -> None:
    """Each replay counts for itself where the data decide."""
    n = 37
    k = pk.asarray(np.full(n, 3), device=device)
    x, w = np.random.default_rng(2).random(n) * 0.5, np.linspace(-0.5, 0.5, 7)
    arrays = [pk.asarray(a, device=device) for a in (np.zeros(n), np.ones(n), x, np.zeros(n), w, np.zeros(7))]
    arguments = [pk.Dup(*arrays[:2]), pk.Dup(*arrays[2:4]), pk.Dup(*arrays[4:])]
    derivative = pk.autodiff(added_in_place, level="direct")
    with pk.graph() as graph:
        derivative(*arguments, k, ndrange=n)
    for length in (3, 12):
        k.fill(length)
        arrays[1].fill(1.0)
        arrays[3].fill(0.0)
        graph.replay().wait()
        expected = gradients(
            added_in_place,
            lambda length=length: [
                pk.Dup(np.zeros(n), np.ones(n)), pk.Dup(x.copy(), np.zeros(n)),
                pk.Dup(w.copy(), np.zeros(7)), np.full(n, length),
            ],
            "cpu", n,
        )  # fmt: skip
        close(arrays[3].numpy(), expected[3])


@pk.kernel
def told_once(out, x, k):
    i = pk.index()
    v = x[i]
    for _ in range(k[i]):
        v = pk.sin(v) * v
    assert v < 10, "large"
    out[i] = v


@over_devices
def test_reports_of_launches_that_count(device: str) -> None:
    """What a launch without room reports is not told: it is made again."""
    arguments = [pk.Dup(np.zeros(5), np.ones(5)), pk.Dup(np.full(5, 0.5), np.zeros(5)), np.arange(5)]
    derivative = pk.autodiff(told_once, level="direct")
    derivative(*arguments, ndrange=5, device=device)
    assert arguments[1].shadow[1] == pytest.approx(np.cos(0.5) * 0.5 + np.sin(0.5))
    with pytest.raises(pk.KernelError, match="large"):
        derivative(
            arguments[0], pk.Dup(np.full(5, 11.0), np.zeros(5)), np.arange(5), ndrange=5, device=device
        )


def test_nothing_else_is_launched_for_a_private_tape(need_device: Callable[[str], str]) -> None:
    """A short loop of constant length keeps its values in the work-item."""
    lowered = pk.autodiff(direct.cubed, level="direct").lower(
        *[pk.Dup(pk.spec(None, pk.f64), pk.spec(None, pk.f64))] * 2, ndrange="n", target="spirv:opencl"
    )
    assert lowered.artifact.device.tape is None


@pk.kernel
def weighted_group(out, x):
    """Its derivative has two arrays that the launch sizes."""
    t = pk.shared(None, pk.f64)
    i, lane = pk.index(), pk.local_index()
    t[lane] = x[i] * x[i]
    pk.barrier()
    if lane == 0:
        s = 0.0
        for j in range(len(t)):
            s += t[j] * (j + 1)
        out[pk.group_index()] = s


@over_devices
@pytest.mark.parametrize("group", [5, 16])
def test_shared_memory_sized_at_launch(device: str, group: int) -> None:
    def make() -> list[Any]:
        made = np.random.default_rng(1)
        return [
            pk.Dup(made.random(3), made.random(3)),
            pk.Dup(made.random(3 * group), made.random(3 * group)),
        ]

    compare(weighted_group, make, device, 3 * group, workgroup=group, shared_bytes=8 * group)


def test_two_arrays_are_given_twice_the_memory() -> None:
    arguments = [pk.Dup(pk.spec(None, pk.f64), pk.spec(None, pk.f64))] * 2
    lowered = pk.autodiff(weighted_group, level="direct").lower(
        *arguments, ndrange="n", workgroup=16, shared_bytes=128, target="nvvm:sm_80"
    )
    assert lowered.artifact.device.dynamic_arrays == 2
    assert dynamic_bytes(lowered.artifact.device, 8 * 5) == 2 * 48


# -- a fake GPU: what a launch brings, and nothing that is computed -------------------------------


def test_cuda_gets_the_tape_as_memory(cuda: Any) -> None:  # noqa: F811 - the fixture
    """Launches count first; the next one brings as much. Memory is never given as a plain word."""
    brought: list[int] = []

    def launched(words: list[int], grid: Any, group: Any, shared: int) -> None:
        tape, capacity, items, begin, counter, length, count, first = words[
            8:
        ]  # behind two arrays and their shadows
        assert (begin, length, count, first) == (0, 1, 2, 0) and items == grid[0] * group[0]
        brought.append(capacity)
        if capacity < 5:
            ctypes.c_int32.from_address(counter).value = 5
        else:
            ctypes.memset(tape, 1, 8 * capacity * items)

    cuda.kernels, cuda.cells = collections.defaultdict(lambda: launched), 16
    derivative = pk.autodiff(direct.newton_root, level="direct")
    derivative(pk.Dup(np.zeros(2), np.ones(2)), pk.Dup(np.ones(2), np.zeros(2)), ndrange=2, device="cuda:0")
    assert brought == [0, 5]
