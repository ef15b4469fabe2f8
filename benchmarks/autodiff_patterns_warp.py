"""The patterns as Warp kernels under `wp.Tape`, in float64, on its CPU device.

In the version measured a dynamic loop is replayed without its intermediate values, and an array that is
overwritten is read as it is at the end; nothing is refused. A loop that can be unrolled (a constant bound) and
an array for every step give the right gradient: those are in `WORKAROUNDS`.
"""

# no `from __future__ import annotations`: Warp reads the annotations of kernels as objects

import numpy as np
import warp as wp

wp.config.quiet = True
wp.init()
GROUP = 4
LONGEST = wp.constant(5)
FLOATS = wp.array(dtype=wp.float64)
INTEGERS = wp.array(dtype=wp.int64)
ONE = wp.constant(wp.float64(1.0))


@wp.kernel
def branch(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    if x[i] > wp.float64(0.8):
        out[i] = c[0] * x[i] * x[i]
    else:
        out[i] = wp.sin(x[i]) + c[1]


@wp.kernel
def atomic_sum(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    wp.atomic_add(out, 0, c[i % c.shape[0]] * x[i] * x[i])


@wp.kernel
def static_loop(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    s = x[i]
    for _ in range(4):
        s = wp.sin(s) * c[0] + s * s * wp.float64(0.3)
    out[i] = s


@wp.kernel
def run_time_loop(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    g = x[i] * x[i]
    a = wp.float64(0.0)
    for j in range(int(k[i])):
        a += c[j]
    out[i] = g * a


@wp.kernel
def run_time_unrolled(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    g = x[i] * x[i]
    a = wp.float64(0.0)
    for j in range(LONGEST):
        if j < int(k[i]):
            a = a + c[j]
    out[i] = g * a


@wp.kernel
def product_loop(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    p = wp.float64(1.0)
    for _ in range(int(k[i])):
        p *= x[i]
    out[i] = p * c[0]


@wp.kernel
def product_unrolled(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    p = wp.float64(1.0)
    for j in range(LONGEST):
        if j < int(k[i]):
            p = p * x[i]
    out[i] = p * c[0]


@wp.kernel
def while_loop(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    r = wp.float64(0.0) + x[i]
    while wp.abs(r * r - x[i]) > wp.float64(1e-13):
        r = wp.float64(0.5) * (r + x[i] / r)
    out[i] = r * c[0]


@wp.kernel
def while_unrolled(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    r = x[i]
    for _ in range(8):
        if wp.abs(r * r - x[i]) > wp.float64(1e-13):
            r = wp.float64(0.5) * (r + x[i] / r)
    out[i] = r * c[0]


@wp.kernel
def max_loop(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    best = wp.float64(-1e30)
    for j in range(int(k[i])):
        if c[j] * x[i] > best:
            best = c[j] * x[i]
    out[i] = best * best


@wp.kernel
def max_unrolled(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    best = wp.float64(-1e30)
    for j in range(LONGEST):
        if j < int(k[i]):
            best = wp.max(best, c[j] * x[i])
    out[i] = best * best


@wp.kernel
def overwrite_then_read(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    out[i] = x[i] * c[0]
    out[i] = wp.sin(out[i]) * x[i]
    out[i] = out[i] * out[i]


@wp.kernel
def no_overwrite(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    v = wp.sin(x[i] * c[0]) * x[i]
    out[i] = v * v


@wp.kernel
def update_in_place(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    out[i] = out[i] * x[i] + wp.sin(out[i])


@wp.kernel
def nested_with_break(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    s = wp.float64(0.0) + x[i]
    for a in range(int(k[i])):
        for b in range(a + 1):
            s = s * wp.float64(0.9) + wp.sin(c[a] * c[b] * s)
            if s > wp.float64(1.6):
                break
    out[i] = s


@wp.kernel
def nested_unrolled(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    s = x[i]
    for a in range(LONGEST):
        left = 0
        for b in range(LONGEST):
            goes = a < int(k[i]) and b <= a and left == 0
            moved = s * wp.float64(0.9) + wp.sin(c[a] * c[b] * s)
            s = wp.where(goes, moved, s)
            left = wp.where(goes and s > wp.float64(1.6), 1, left)
    out[i] = s


@wp.kernel
def gather(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    out[i] = wp.sin(x[int(k[i]) % x.shape[0]]) * c[int(k[i]) % c.shape[0]]


@wp.kernel
def scatter(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    i = wp.tid()
    wp.atomic_add(out, int(k[i]) % out.shape[0], x[i] * x[i] * c[i % c.shape[0]])


@wp.kernel(module="unique")
def shared_reduction(out: FLOATS, x: FLOATS, c: FLOATS, k: INTEGERS):
    """Tiles are how Warp speaks of shared memory; one launch of a group each."""
    g = wp.tid()
    t = wp.tile_map(wp.sin, wp.tile_load(x, shape=GROUP, offset=g * GROUP))
    s = wp.tile_extract(wp.tile_sum(t), 0) * c[0]
    out[g] = s * s


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


@wp.kernel
def updated_copy(out: FLOATS, x: FLOATS, before: FLOATS):
    i = wp.tid()
    out[i] = before[i] * x[i] + wp.sin(before[i])


WORKAROUNDS = {
    "run-time loop": ("unrolled", run_time_unrolled),
    "product loop": ("unrolled", product_unrolled),
    "while": ("unrolled", while_unrolled),
    "max loop": ("unrolled", max_unrolled),
    "overwrite, then read": ("no array in between", no_overwrite),
    "update in place": ("a second array", updated_copy),
    "nested loops, break": ("unrolled, masked", nested_unrolled),
}


def gradients(name: str, arguments: dict[str, np.ndarray], workaround: bool = False) -> dict[str, np.ndarray]:
    kernel = WORKAROUNDS[name][1] if workaround else KERNELS[name]
    arrays = {
        key: wp.array(arguments[key], dtype=wp.float64, device="cpu", requires_grad=True)
        for key in ("out", "x", "c")
    }
    out, x, c = arrays.values()
    k = wp.array(arguments["k"], dtype=wp.int64, device="cpu")
    items, by = len(arguments["x"]), dict(arrays)
    with wp.Tape() as tape:
        if kernel is updated_copy:
            by["out"], out = out, wp.zeros_like(out)
            wp.launch(kernel, dim=items, inputs=[out, x, by["out"]], device="cpu")
        elif name == "shared-memory sum":
            groups = items // GROUP
            wp.launch_tiled(kernel, dim=[groups], inputs=[out, x, c, k], block_dim=32, device="cpu")
        else:
            wp.launch(kernel, dim=items, inputs=[out, x, c, k], device="cpu")
    tape.backward(grads={out: wp.array(arguments["w"], dtype=wp.float64, device="cpu")})
    return {key: value.grad.numpy() for key, value in by.items()}
