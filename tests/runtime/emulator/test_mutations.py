"""What the compiler made, with one thing wrong: a barrier taken out, an address that is off by one, elements in the
wrong registers. Emulated GPUs find it and name the line of Python; wrong registers give other numbers."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import pykern as pk
from pykern.errors import DataRace, DeviceError, KernelError, OutOfBounds
from pykern.runtime import registry
from pykern.runtime.emulator import program
from pykern.runtime.emulator.amd import program as amd_program

DEVICES = {
    "cuda:emulated": program,
    "cuda:emulated:90": program,
    "rocm:emulated": amd_program,
    "rocm:emulated:gfx1100": amd_program,
    "rocm:emulated:gfx1201": amd_program,
}
over_devices = pytest.mark.parametrize("device", list(DEVICES))
BARRIER = re.compile(r"\s*(bar(rier)?(\.cta)?\.sync\b|s_barrier)")
PLACE = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")


def changed_code(monkeypatch, device, change):
    """Change all code that the test loads from now on; gives the list of how often it was changed."""
    monkeypatch.setattr(registry.opened(device), "_codes", {})  # what is kept is right, and stays so
    module = DEVICES[device]
    original, counts = module.parsed, []

    def read(text):
        text, count = change(text)
        counts.append(count)
        return original(text)

    monkeypatch.setattr(module, "parsed", read)
    return counts


def fault(monkeypatch, device, kernel, change, *arrays, ndrange: int | tuple[int, int] = 192):
    """The error of a launch whose code is changed when it is loaded, and its line of Python."""
    there = [pk.array(array, device=device) for array in arrays]
    counts = changed_code(monkeypatch, device, change)
    with pytest.raises(KernelError) as found:
        kernel(*there, ndrange=ndrange)
    assert sum(counts) > 0
    assert found.value.span is not None
    return found.value, found.value.span.source_line().strip()


def without_barrier(kernel, number):
    """Takes out what became of one of the kernel's barriers, counted from 0; loops may have several copies of it."""
    lines, first = inspect.getsourcelines(kernel)
    barriers = [first + at for at, line in enumerate(lines) if "pk.barrier()" in line]

    def change(text):
        here, kept = 0, []
        for line in text.splitlines():
            place = PLACE.match(line)
            here = int(place[1]) if place else here
            if not (BARRIER.match(line) and here == barriers[number]):
                kept.append(line)
        return "\n".join(kept) + "\n", len(text.splitlines()) - len(kept)

    return change


@over_devices
def test_the_first_barrier_is_needed(device, monkeypatch, rng):
    @pk.kernel(workgroup=96)
    def neighbours(y, x):
        held = pk.shared(96, pk.f32)
        k = pk.local_index()
        held[k] = x[pk.index()]
        pk.barrier()
        y[pk.index()] = held[95 - k]

    x = rng.random(192, dtype=np.float32)
    change = without_barrier(neighbours, 0)
    error, line = fault(monkeypatch, device, neighbours, change, np.zeros_like(x), x)
    assert isinstance(error, DataRace | DeviceError)
    assert line == "y[pk.index()] = held[95 - k]"


@over_devices
def test_a_barrier_before_the_memory_is_used_again(device, monkeypatch, rng):
    @pk.kernel(workgroup=96)
    def twice(y, x):
        held = pk.shared(96, pk.f32)
        k = pk.local_index()
        held[k] = x[pk.index()]
        pk.barrier()
        other = held[95 - k]
        pk.barrier()
        held[k] = 2 * other
        pk.barrier()
        y[pk.index()] = held[95 - k]

    x = rng.random(192, dtype=np.float32)
    error, line = fault(monkeypatch, device, twice, without_barrier(twice, 1), np.zeros_like(x), x)
    assert isinstance(error, DataRace)
    assert line in ("other = held[95 - k]", "held[k] = 2 * other")


@over_devices
@pytest.mark.parametrize("barrier", [0, 1])
def test_both_barriers_of_a_product_in_tiles(barrier, device, monkeypatch, rng):
    @pk.kernel(workgroup=(16, 16))
    def product(c, a, b):
        i, j = pk.index()
        row, column = pk.local_index()
        left, right = pk.shared((16, 17), pk.f32), pk.shared((16, 17), pk.f32)
        total = pk.f32(0)
        for start in range(0, a.shape[1], 16):
            left[row, column] = a[i, start + column]
            right[row, column] = b[start + row, j]
            pk.barrier()
            for k in range(16):
                total += left[row, k] * right[k, column]
            pk.barrier()
        c[i, j] = total

    arrays = [rng.random((64, 64), dtype=np.float32) for _ in range(3)]
    change = without_barrier(product, barrier)
    error, line = fault(monkeypatch, device, product, change, *arrays, ndrange=(64, 64))
    assert isinstance(error, DataRace | DeviceError)
    assert line.startswith(("total += ", "left[row, column] = ", "right[row, column] = "))


def store_of_the_next(text):
    """A store to global memory, by one element."""
    if ".visible .entry" in text:
        return re.subn(r"(st\.global\S*\s+\[%rd\d+)\]", r"\1+4]", text, count=1)
    return re.subn(r"^(\s*global_store_(?:dword|b32) .*)$", r"\1 offset:4", text, count=1, flags=re.MULTILINE)


def load_of_the_one_before(text):
    """A load from global memory, by one element."""
    if ".visible .entry" in text:
        return re.subn(r"(ld\.global\S*\s+%r\d+, \[%rd\d+)\]", r"\1+-4]", text, count=1)
    load = r"^(\s*global_load_(?:dword|b32) .*)$"
    return re.subn(load, r"\1 offset:-4", text, count=1, flags=re.MULTILINE)


@over_devices
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (store_of_the_next, "0 bytes behind the end of an allocation of 768 bytes"),
        (load_of_the_one_before, "4 bytes before the begin of an allocation of 768 bytes"),
    ],
)
def test_an_address_off_by_one(change, said, device, monkeypatch, rng):
    @pk.kernel(workgroup=64)
    def doubled(y, x):
        i = pk.index()
        y[i] = 2 * x[i]

    x = rng.random(192, dtype=np.float32)
    error, line = fault(monkeypatch, device, doubled, change, np.zeros_like(x), x)
    assert isinstance(error, OutOfBounds)
    assert said in str(error)
    assert line == "y[i] = 2 * x[i]"


def exchanged(text):
    """Two registers of a product of matrices take each other's place: of the left factor's rows, or both factors."""
    if ".visible .entry" in text:
        left = r"(mma\.sync\.\S+\s+\{[^}]*\},\s*\{)(%r\d+), (%r\d+)"
        return re.subn(left, r"\1\3, \2", text, count=1)
    return re.subn(r"(v_(?:mfma|wmma)_\S+ \S+), (\S+), (\S+),", r"\1, \3, \2,", text, count=1)


@pytest.mark.parametrize("device", ["cuda:emulated", *(name for name in DEVICES if "rocm" in name)])
def test_elements_in_the_wrong_registers(device, monkeypatch, rng):
    """The fragments of a product of f16 that the compiler laid out: right as they are, and wrong otherwise."""
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((64, 128), (128, 64)))
    there = [pk.array(x, device=device) for x in (a, b)]
    want = a.astype(np.float32) @ b.astype(np.float32)

    def error_of(change):
        @pk.jit
        def product(x, y):
            return x @ y

        counts = changed_code(monkeypatch, device, change)
        found = product(*there).numpy().astype(np.float32)
        assert sum(counts) > 0
        return np.abs(found - want).max()

    assert error_of(lambda text: (text, 1)) < 0.05
    assert error_of(exchanged) > 1
