"""One kernel on every device of this machine: the landscape of `landscape.py`, its kernel unchanged.

Each device gets the same elevations, runs the same steps of hill-slope diffusion, and its result is compared with
NumPy's. The arrays stay on the device; only the last state is read back. Devices that are missing are named
with the reason.

    python examples/multi_device.py [--steps 200] [--enlarge 2]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from landscape import DIFFUSIVITY, STEP, creep, read_terrain, run_numpy

import pykern as pk
from pykern.runtime import registry
from pykern.runtime.driver import Missing

KINDS = ("cpu", "opencl", "vulkan", "webgpu", "cuda", "rocm")


@dataclass(frozen=True)
class Run:
    """What one device did: seconds of the first call and of a step, and its largest difference in metres."""

    first: float
    step: float
    difference: float


def devices() -> tuple[list[str], dict[str, str]]:
    """The devices that are here, and why others are not."""
    names, missing = [], {}
    for kind in KINDS:
        there = registry.found(kind)
        if isinstance(there, Missing):
            missing[kind] = there.reason.splitlines()[0]
        else:
            names += [kind if kind == "cpu" else f"{kind}:{info.ordinal}" for info in there]
    return names, missing


def run(device: str, z: np.ndarray, expected: np.ndarray, across: float, along: float, steps: int) -> Run:
    """`steps` steps on a device, timed from the first launch until the device is done."""
    old, new = pk.array(z, device=device), pk.empty(z.shape, z.dtype, device=device)
    started = time.perf_counter()
    creep(new, old, across, along, ndrange=z.shape).wait()
    first = time.perf_counter() - started

    started = time.perf_counter()
    for _ in range(steps - 1):  # the first call was a step
        old, new = new, old
        creep(new, old, across, along, ndrange=z.shape)
    pk.synchronize(device)
    seconds = time.perf_counter() - started
    return Run(first, seconds / max(1, steps - 1), float(np.abs(new.numpy() - expected).max()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--steps", type=int, default=200, help="steps of 5,000 years")
    parser.add_argument("--enlarge", type=int, default=2, help="how many times finer the grid is each way")
    options = parser.parse_args()

    terrain = read_terrain()
    z = np.kron(terrain.z, np.ones((options.enlarge, options.enlarge)))
    across, along = (DIFFUSIVITY * STEP / side**2 for side in (terrain.dx, terrain.dy))
    expected = run_numpy(z, across, along, options.steps)
    names, missing = devices()

    print(f"{z.shape[0]} x {z.shape[1]} cells in f64, {options.steps} steps")
    print(f"{'device':10} {'first call':>11} {'a step':>11} {'cells/s':>9} {'difference':>11}  name, driver")
    for name in names:
        info = pk.device(name).info
        if info.dtypes and "f64" not in info.dtypes:
            print(f"{name:10} computes without f64  {info.name}")
            continue
        done = run(name, z, expected, across, along, options.steps)
        print(
            f"{name:10} {done.first * 1e3:8.1f} ms {done.step * 1e6:8.1f} us {z.size / done.step:9.2e} "
            f"{done.difference:9.1e} m  {info.name}, {info.driver or 'pykern ' + pk.__version__}"
        )
        assert done.difference < 1e-9 * np.abs(expected).max(), f"{name} differs from NumPy"
    for kind, reason in missing.items():
        print(f"{kind:10} not here: {reason}")
    print("every device agrees with NumPy")


if __name__ == "__main__":
    main()
