"""The patterns as Taichi kernels on fields with `needs_grad=True`, differentiated by `kernel.grad()`, in f64.

Shared memory (`ti.simt.block`) is for its GPU backends only: not expressible here.
"""

# no `from __future__ import annotations`: Taichi reads the annotations of kernels as objects

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR, offline_cache=False, cpu_max_num_threads=1)
LONGEST = 5
out, x, c = (ti.field(ti.f64, needs_grad=True) for _ in range(3))
before = ti.field(ti.f64, needs_grad=True)
k = ti.field(ti.i32)


@ti.kernel
def branch():
    for i in x:
        if x[i] > 0.8:
            out[i] = c[0] * x[i] * x[i]
        else:
            out[i] = ti.sin(x[i]) + c[1]


@ti.kernel
def atomic_sum():
    for i in x:
        out[0] += c[i % c.shape[0]] * x[i] * x[i]


@ti.kernel
def static_loop():
    for i in x:
        s = x[i]
        for _ in ti.static(range(4)):
            s = ti.sin(s) * c[0] + s * s * 0.3
        out[i] = s


@ti.kernel
def run_time_loop():
    for i in x:
        g = x[i] * x[i]
        a = 0.0
        for j in range(k[i]):
            a += c[j]
        out[i] = g * a


@ti.kernel
def product_loop():
    for i in x:
        p = 1.0
        for _ in range(k[i]):
            p *= x[i]
        out[i] = p * c[0]


@ti.kernel
def while_loop():
    for i in x:
        r = x[i]
        while abs(r * r - x[i]) > 1e-13:
            r = 0.5 * (r + x[i] / r)
        out[i] = r * c[0]


@ti.kernel
def while_bounded():
    for i in x:
        r = x[i]
        for _ in range(8):
            if abs(r * r - x[i]) > 1e-13:
                r = 0.5 * (r + x[i] / r)
        out[i] = r * c[0]


@ti.kernel
def max_loop():
    for i in x:
        best = -1e30
        for j in range(k[i]):
            if c[j] * x[i] > best:
                best = c[j] * x[i]
        out[i] = best * best


@ti.kernel
def max_unrolled():
    for i in x:
        best = -1e30
        for j in ti.static(range(LONGEST)):
            if j < k[i]:
                best = ti.max(best, c[j] * x[i])
        out[i] = best * best


@ti.kernel
def overwrite_then_read():
    for i in x:
        out[i] = x[i] * c[0]
        out[i] = ti.sin(out[i]) * x[i]
        out[i] = out[i] * out[i]


@ti.kernel
def no_overwrite():
    for i in x:
        v = ti.sin(x[i] * c[0]) * x[i]
        out[i] = v * v


@ti.kernel
def update_in_place():
    for i in x:
        out[i] = out[i] * x[i] + ti.sin(out[i])


@ti.kernel
def updated_copy():
    for i in x:
        out[i] = before[i] * x[i] + ti.sin(before[i])


@ti.kernel
def nested_with_break():
    for i in x:
        s = x[i]
        for a in range(k[i]):
            for b in range(a + 1):
                s = s * 0.9 + ti.sin(c[a] * c[b] * s)
                if s > 1.6:
                    break
        out[i] = s


@ti.kernel
def nested_unrolled():
    for i in x:
        s = x[i]
        for a in ti.static(range(LONGEST)):
            done = 0
            for b in ti.static(range(a + 1)):
                if a < k[i] and done == 0:
                    s = s * 0.9 + ti.sin(c[a] * c[b] * s)
                    if s > 1.6:
                        done = 1
        out[i] = s


@ti.kernel
def gather():
    for i in x:
        out[i] = ti.sin(x[k[i] % x.shape[0]]) * c[k[i] % c.shape[0]]


@ti.kernel
def scatter():
    for i in x:
        out[k[i] % out.shape[0]] += x[i] * x[i] * c[i % c.shape[0]]


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
}
WORKAROUNDS = {
    "while": ("bounded", while_bounded),
    "max loop": ("unrolled", max_unrolled),
    "overwrite, then read": ("no field in between", no_overwrite),
    "update in place": ("a second field", updated_copy),
    "nested loops, break": ("unrolled, masked", nested_unrolled),
}


def gradients(name: str, arguments: dict[str, np.ndarray], workaround: bool = False) -> dict[str, np.ndarray]:
    kernel = WORKAROUNDS[name][1] if workaround else KERNELS[name]
    for field, key in ((out, "out"), (x, "x"), (c, "c"), (before, "out"), (k, "k")):
        ti.root.dense(ti.i, len(arguments[key])).place(field)
    ti.root.lazy_grad()
    for field, key in ((out, "out"), (x, "x"), (c, "c"), (before, "out"), (k, "k")):
        field.from_numpy(arguments[key].astype(np.int32) if key == "k" else arguments[key])
    kernel()
    out.grad.from_numpy(arguments["w"])
    kernel.grad()
    first = before if kernel is updated_copy else out
    return {"out": first.grad.to_numpy(), "x": x.grad.to_numpy(), "c": c.grad.to_numpy()}
