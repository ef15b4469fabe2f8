"""Kernels printed in other languages beside their peers: WebGPU beside Vulkan on one driver, C beside the device `cpu`.

    python benchmarks/source_targets.py [launches] [kernels] [c]

Prints, for each case, the least of alternating turns on both sides and their quotient. `launches`: a launch and its
wait, a launch among a hundred, of little work. `kernels`: whole kernels of much. Both need the devices `webgpu` and
`vulkan` on the same processor, such as Mesa's lavapipe. `c`: printed C at -O3 in one thread, beside the machine code
of the device `cpu` in one thread; the variable CC of the environment is the compiler.
"""

from __future__ import annotations

import ctypes
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import pykern as pk

TURNS = 200
FLAGS = ("-std=c11", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC")


@pk.kernel
def saxpy(y, x, a: pk.f32):
    i = pk.index()
    y[i] = a * x[i] + y[i]


@pk.kernel
def heat(out, u, rate: pk.f32):
    i, j = pk.index()
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        out[i, j] = u[i, j] + rate * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])


@pk.kernel
def escape(count, zoom: pk.f32):
    i, j = pk.index()
    x0, y0 = (pk.f32(j) / 128 - 1.5) / zoom, (pk.f32(i) / 128 - 1) / zoom
    x, y = pk.f32(0), pk.f32(0)
    k = pk.i32(0)
    while x * x + y * y < 4 and k < 60:
        x, y = x * x - y * y + x0, 2 * x * y + y0
        k += 1
    count[i, j] = k


@pk.kernel
def bells(out, x, a: pk.f32):
    i = pk.index()
    out[i] = math.exp(-a * x[i] * x[i])


@pk.kernel
def heat_3d(out, u, rate: pk.f32):
    i, j, k = pk.index()
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and 0 < k < u.shape[2] - 1:
        around = (
            u[i - 1, j, k]
            + u[i + 1, j, k]
            + u[i, j - 1, k]
            + u[i, j + 1, k]
            + u[i, j, k - 1]
            + u[i, j, k + 1]
        )
        out[i, j, k] = u[i, j, k] + rate * (around - 6 * u[i, j, k])


@pk.kernel
def lengths(out, x, y, z, floor: pk.f32):
    i = pk.index()
    out[i] = 1 / math.sqrt(x[i] * x[i] + y[i] * y[i] + z[i] * z[i] + floor)


@pk.kernel
def clipped(out, x, limit: pk.f32):
    i = pk.index()
    if x[i] > limit:
        out[i] = limit
    elif x[i] < -limit:
        out[i] = -limit
    else:
        out[i] = x[i]


@pk.kernel
def mixed(out, x, rounds: pk.f32):
    i = pk.index()
    bits = pk.u32(x[i])
    for _ in range(4):
        bits = (bits ^ (bits >> 15)) * pk.u32(0x2C1B3C6D)
    out[i] = pk.i32(bits >> 1)


@pk.kernel
def transposed(out, x, scale: pk.f32):
    i, j = pk.index()
    out[i, j] = scale * x[j, i]


@pk.kernel
def row_sums(out, x, scale: pk.f32):
    i = pk.index()
    total = pk.f32(0)
    for j in range(x.shape[1]):
        total += x[i, j]
    out[i] = scale * total


@pk.kernel
def forces(out, x, soft: pk.f32):
    i = pk.index()
    total = pk.f32(0)
    for j in range(x.shape[0]):
        away = x[j] - x[i]
        total += away / (away * away + soft)
    out[i] = total


@pk.kernel
def product(out, a, b, scale: pk.f32):
    i, j = pk.index()
    total = pk.f32(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    out[i, j] = scale * total


@pk.kernel
def waves(out, x, pitch: pk.f32):
    i = pk.index()
    out[i] = math.sin(pitch * x[i])


Case = tuple[str, Any, tuple[tuple[int, ...], ...], Any, float]
CASES: tuple[Case, ...] = (  # name, kernel, shapes of its arrays, their type, its number
    ("saxpy, 2^18", saxpy, ((1 << 18,), (1 << 18,)), pk.f32, 2.0),
    ("heat, 512x512", heat, ((512, 512), (512, 512)), pk.f32, 0.1),
    ("escape times, 256x256", escape, ((256, 256),), pk.i32, 1.0),
    ("exp(-x^2), 2^18", bells, ((1 << 18,), (1 << 18,)), pk.f32, 1.0),
)

IN_C: tuple[Case, ...] = (
    *CASES,
    ("heat, 64x64x64", heat_3d, ((64, 64, 64), (64, 64, 64)), pk.f32, 0.1),
    ("1 / sqrt(x^2 + y^2 + z^2), 2^16", lengths, ((1 << 16,),) * 4, pk.f32, 0.5),
    ("clip by if, elif, else, 2^16", clipped, ((1 << 16,),) * 2, pk.f32, 0.5),
    ("a hash in u32, 2^16", mixed, ((1 << 16,),) * 2, pk.i32, 4.0),
    ("transpose, 512x512", transposed, ((512, 512), (512, 512)), pk.f32, 2.0),
    ("sums of rows, 512x512", row_sums, ((512,), (512, 512)), pk.f32, 2.0),
    ("sums over all others, 1024", forces, ((1024,), (1024,)), pk.f32, 0.5),
    ("product by a loop, 128", product, ((128, 128),) * 3, pk.f32, 2.0),
    ("sin(x), 2^16", waves, ((1 << 16,),) * 2, pk.f32, 1.0),
)
"""Cases that are compared in C: those above, and one for each kind of loop."""


def least(sides: Mapping[str, Callable[[], object]], turns: int = TURNS) -> dict[str, float]:
    """The least processor time of each side in us, taken by turns: threads of a driver that are kept waiting do not
    count."""
    found = dict.fromkeys(sides, math.inf)
    for side in sides.values():
        side()
    for _ in range(turns):
        for name, side in sides.items():
            started = time.process_time()
            side()
            found[name] = min(found[name], (time.process_time() - started) * 1e6)
    return found


def tell(what: str, found: dict[str, float]) -> None:
    one, other = found
    times = "".join(f"{name} {us:10.1f}   " for name, us in found.items())
    print(f"{what:40} {times} {one} / {other} {found[one] / found[other]:.2f}", flush=True)


def arrays(case: Case, device: str) -> list[Any]:
    generator = np.random.default_rng(3)
    return [
        pk.array(generator.standard_normal(shape).astype(case[3].numpy), device=device) for shape in case[2]
    ]


def waited(launch: Callable[[], Any]) -> None:
    launch().wait()


def kernels() -> None:
    for case in CASES:
        name, kernel, shapes, _, number = case
        sides = {}
        for device in ("webgpu", "vulkan"):
            sides[device] = partial(waited, partial(kernel, *arrays(case, device), number, ndrange=shapes[0]))
        tell(name, least(sides))


def launches() -> None:
    given = {device: [pk.zeros(64, np.float32, device) for _ in range(2)] for device in ("webgpu", "vulkan")}

    def launched(device: str, count: int) -> None:
        event = None
        for _ in range(count):
            event = saxpy(*given[device], 2.0, ndrange=64)
        assert event is not None
        event.wait()

    for count in (1, 100):
        sides = {device: partial(launched, device, count) for device in given}
        found = least(sides, 200 if count == 1 else 50)
        tell(f"{count} launches and a wait, us a launch", {name: us / count for name, us in found.items()})


def compiled(case: Case, given: list[Any], folder: str) -> Callable[[], object]:
    """The launch by printed C, of known lengths."""
    _, kernel, shapes, dtype, number = case
    specs = [pk.spec(shape, dtype) for shape in shapes]
    made = pk.export(kernel, *specs, number, ndrange=shapes[0], form="c")
    path = Path(folder) / f"{kernel.__name__}.c"
    path.write_text(made.text)
    library = path.with_suffix(".so")
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, *FLAGS, "-w", "-o", str(library), str(path), "-lm"], check=True)
    function = getattr(ctypes.CDLL(str(library)), kernel.__name__)
    passed = [*(ctypes.c_void_p(each.ctypes.data) for each in given), ctypes.c_float(number)]
    return lambda: function(*passed)


def c() -> None:
    pk.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for case in IN_C:
            name, kernel, shapes, dtype, number = case
            generator = np.random.default_rng(3)
            given = [generator.standard_normal(shape).astype(dtype.numpy) for shape in shapes]
            cpu, in_c = partial(kernel, *given, number, ndrange=shapes[0]), compiled(case, given, folder)
            before, results = given[0].copy(), []
            for side in (cpu, in_c):
                given[0][...] = before
                side()
                results.append(given[0].copy())
            apart = np.abs(results[0] - results[1]) > 1e-4 * (1 + np.abs(results[0]))
            assert np.mean(apart) < 1e-4, (
                name
            )  # a few escape one round later: `cpu` may fuse products and sums
            tell(name, least({"C": in_c, "cpu": cpu}, 100))


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["launches", "kernels", "c"]
    for part in chosen:
        {"launches": launches, "kernels": kernels, "c": c}[part]()
