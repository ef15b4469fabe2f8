"""Kernels printed in other languages beside their peers: WebGPU beside Vulkan on one driver, C beside the device `cpu`.

    python benchmarks/source_targets.py [launches] [kernels] [c]

Prints, for each case, the least of alternating turns on both sides and their quotient. `launches`: a launch and its
wait, a launch among a hundred, of little work. `kernels`: whole kernels of much. Both need the devices `webgpu` and
`vulkan` on the same processor, such as Mesa's lavapipe. `c`: printed C at -O3 in one thread, beside the machine code
of the device `cpu` in one thread.
"""

from __future__ import annotations

import ctypes
import math
import shutil
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


Case = tuple[str, Any, tuple[tuple[int, ...], ...], Any, float]
CASES: tuple[Case, ...] = (  # name, kernel, shapes of its arrays, their type, its number
    ("saxpy, 2^18", saxpy, ((1 << 18,), (1 << 18,)), pk.f32, 2.0),
    ("heat, 512x512", heat, ((512, 512), (512, 512)), pk.f32, 0.1),
    ("escape times, 256x256", escape, ((256, 256),), pk.i32, 1.0),
    ("exp(-x^2), 2^18", bells, ((1 << 18,), (1 << 18,)), pk.f32, 1.0),
)


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
    compiler = shutil.which("cc") or "cc"
    subprocess.run([compiler, *FLAGS, "-w", "-o", str(library), str(path), "-lm"], check=True)
    function = getattr(ctypes.CDLL(str(library)), kernel.__name__)
    passed = [*(ctypes.c_void_p(each.ctypes.data) for each in given), ctypes.c_float(number)]
    return lambda: function(*passed)


def c() -> None:
    pk.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            name, kernel, shapes, dtype, number = case
            generator = np.random.default_rng(3)
            given = [generator.standard_normal(shape).astype(dtype.numpy) for shape in shapes]
            cpu = partial(kernel, *given, number, ndrange=shapes[0])
            tell(name, least({"C": compiled(case, given, folder), "cpu": cpu}, 100))


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["launches", "kernels", "c"]
    for part in chosen:
        {"launches": launches, "kernels": kernels, "c": c}[part]()
