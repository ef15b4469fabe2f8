"""``pykern bench --suite devices``: the same kernel on every device that is found, timed by the device's own events.

Comes in: the devices of this machine. Goes out: one declaration a device.
"""

from __future__ import annotations

import numpy as np

import pykern as pk
from pykern.benchmarking import kernels
from pykern.benchmarking.sweep import Sweep


def _declare(device: str) -> Sweep:
    @pk.benchmark(
        x="n", values=[1 << 12, 1 << 18, 1 << 22], metric="GB/s", bytes=lambda n: 12 * n, flops=lambda n: 2 * n,
        lines={"pykern": lambda z, x, y: kernels.saxpy(z, x, y, 2.5, ndrange=len(z))},
        name=f"saxpy on {device}",
    )  # fmt: skip
    def saxpy(n):
        made = (np.zeros(n, np.float32), np.ones(n, np.float32), np.ones(n, np.float32))
        return tuple(pk.array(one, device=device) for one in made)

    return saxpy


for _device in pk.devices():
    if str(_device) not in ("cpu", "python"):
        globals()[f"saxpy_{str(_device).replace(':', '_')}"] = _declare(str(_device))
