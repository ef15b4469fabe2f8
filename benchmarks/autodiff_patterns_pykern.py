"""The patterns as pykern kernels. What they compute is in `autodiff_patterns_data.py`."""

from __future__ import annotations

import numpy as np

import pykern as pk

GROUP = 4


@pk.kernel
def branch(out, x, c, k):
    i = pk.index()
    if x[i] > 0.8:
        out[i] = c[0] * x[i] * x[i]
    else:
        out[i] = pk.sin(x[i]) + c[1]


@pk.kernel
def atomic_sum(out, x, c, k):
    i = pk.index()
    pk.atomic_add(out, 0, c[i % len(c)] * x[i] * x[i])


@pk.kernel
def static_loop(out, x, c, k):
    i = pk.index()
    s = x[i]
    for _ in range(4):
        s = pk.sin(s) * c[0] + s * s * 0.3
    out[i] = s


@pk.kernel
def run_time_loop(out, x, c, k):
    i = pk.index()
    g, a = x[i] * x[i], 0.0
    for j in range(k[i]):
        a += c[j]
    out[i] = g * a


@pk.kernel
def product_loop(out, x, c, k):
    i = pk.index()
    p = 1.0
    for _ in range(k[i]):
        p *= x[i]
    out[i] = p * c[0]


@pk.kernel
def while_loop(out, x, c, k):
    i = pk.index()
    r = x[i]
    while abs(r * r - x[i]) > 1e-13:
        r = 0.5 * (r + x[i] / r)
    out[i] = r * c[0]


@pk.kernel
def max_loop(out, x, c, k):
    i = pk.index()
    best = -1e30
    for j in range(k[i]):
        if c[j] * x[i] > best:
            best = c[j] * x[i]
    out[i] = best * best


@pk.kernel
def overwrite_then_read(out, x, c, k):
    i = pk.index()
    out[i] = x[i] * c[0]
    out[i] = pk.sin(out[i]) * x[i]
    out[i] = out[i] * out[i]


@pk.kernel
def update_in_place(out, x, c, k):
    i = pk.index()
    out[i] = out[i] * x[i] + pk.sin(out[i])


@pk.kernel
def nested_with_break(out, x, c, k):
    i = pk.index()
    s = x[i]
    for a in range(k[i]):
        for b in range(a + 1):
            s = s * 0.9 + pk.sin(c[a] * c[b] * s)
            if s > 1.6:
                break
    out[i] = s


@pk.kernel
def gather(out, x, c, k):
    i = pk.index()
    out[i] = pk.sin(x[k[i] % len(x)]) * c[k[i] % len(c)]


@pk.kernel
def scatter(out, x, c, k):
    i = pk.index()
    pk.atomic_add(out, k[i] % len(out), x[i] * x[i] * c[i % len(c)])


@pk.kernel(workgroup=GROUP)
def shared_reduction(out, x, c, k):
    i, lane, g = pk.index(), pk.local_index(0), pk.group_index(0)
    t = pk.shared(GROUP, pk.f64)
    t[lane] = pk.sin(x[i]) * c[0]
    pk.barrier()
    half = GROUP // 2
    while half > 0:
        if lane < half:
            t[lane] += t[lane + half]
        pk.barrier()
        half //= 2
    if lane == 0:
        out[g] = t[0] * t[0]


KERNELS = {
    "branch": branch,
    "atomic add": atomic_sum,
    "static loop": static_loop,
    "run-time loop": run_time_loop,
    "product loop": product_loop,
    "while": while_loop,
    "max loop": max_loop,
    "overwrite, then read": overwrite_then_read,
    "update in place": update_in_place,
    "nested loops, break": nested_with_break,
    "gather": gather,
    "scatter": scatter,
    "shared-memory sum": shared_reduction,
}
WORKAROUNDS: dict[str, tuple] = {}


def gradients(
    name: str, arguments: dict[str, np.ndarray], level: str = "auto", device: str = "cpu"
) -> dict[str, np.ndarray]:
    """Gradients by out, x and c of ``sum(w * out)``; every argument keeps its value."""
    shadows = {key: np.zeros_like(arguments[key]) for key in ("x", "c")} | {"out": arguments["w"].copy()}
    passed = [pk.Dup(arguments[key], shadows[key]) for key in ("out", "x", "c")]
    pk.autodiff(KERNELS[name], level=level)(
        *passed, arguments["k"], ndrange=len(arguments["x"]), device=device
    )
    return shadows
