"""Kernels whose every stage is interpreted: loops, integers, small floats, groups, collectives, guards, checks."""

import ml_dtypes
import numpy as np

import pykern as pk


@pk.kernel
def heat(T2, T, c, dt):  # noqa: N803 - as it is written in books
    i, j = pk.index()
    if 0 < i < T.shape[0] - 1 and 0 < j < T.shape[1] - 1:
        T2[i, j] = T[i, j] + dt * c[i, j] * (
            T[i + 1, j] + T[i - 1, j] + T[i, j + 1] + T[i, j - 1] - 4 * T[i, j]
        )


@pk.kernel(workgroup=8)
def sums(out, x):
    i = pk.index()
    kept = pk.shared(8, pk.f32)
    at = pk.local_index()
    kept[at] = x[i]
    pk.barrier()
    if at == 0:
        total = 0.0
        for k in range(8):
            total += kept[k]
        pk.atomic_add(out, 0, total)
    assert x[i] >= 0, "no negatives"
    out[i + 1] = pk.exp(x[i])


@pk.func
def clipped(a, low, high):
    if a < low:
        return low
    return pk.min(a, high)


@pk.kernel
def integers(out, a, b):
    i = pk.index()
    n = a[i] // (b[i] | 1) + a[i] % 7
    k = 0
    while k < 5 and n > 3:
        n = n >> 1
        k += 1
    out[i] = clipped(n * k + (a[i] ^ b[i]), -100, 10000)


@pk.kernel
def functions(out, x):
    i = pk.index()
    out[i] = pk.sin(x[i]) + pk.log(x[i] + 2) * pk.sqrt(x[i]) - pk.tanh(x[i]) ** 3 + x[i] / 3


@pk.kernel
def halves(out, x):
    i = pk.index()
    out[i] = x[i] * pk.f16(1.5) + pk.f16(0.25)


@pk.kernel
def counted(bins, x):
    i = pk.index()
    pk.atomic_add(bins, x[i] % bins.shape[0], 1)


@pk.kernel
def reversed_copy(out, x):
    i = pk.index()
    out[i] = x[x.shape[0] - 1 - i]


@pk.kernel(workgroup=64)
def collective(out, x):
    i = pk.index()
    total = pk.subgroup_reduce(x[i], "add") + pk.group_reduce(x[i], "max")
    out[i] = total + pk.subgroup_shuffle(x[i], (pk.lane_index() + 1) % 8)


@pk.kernel(workgroup=16)
def sized_at_launch(out, x):
    i = pk.index()
    part = pk.shared(None, pk.f32)
    at = pk.local_index()
    part[at] = x[i]
    pk.barrier()
    out[i] = part[15 - at]


@pk.kernel
def doubled(out, x):
    i = pk.index()
    out[i] = x[i] * 2 + 1


@pk.kernel
def leaves_early(out, x, limit):
    i = pk.index()
    total = 0.0
    for k in range(i, x.shape[0]):
        if x[k] > limit:
            continue
        total += x[k]
        if total > 3:
            break
    kept = pk.private(4, pk.f64)
    for k in range(4):
        kept[k] = total * k
    out[i] = kept[i % 4]


@pk.kernel(debug="bounds,nan", timeout=600)
def checked(out, x):
    i = pk.index()
    total = 0.0
    k = 0
    while total < 2 and k < x.shape[0]:
        total += pk.sqrt(x[k])
        k += 1
    out[i] = total * i


def cases(rng: np.random.Generator) -> dict[str, tuple]:
    """Kernel, arguments, launch keywords, by name."""
    field = rng.random((9, 13), np.float32)
    line = rng.random(16, np.float32)
    ints = rng.integers(-1000, 1000, (2, 37)).astype(np.int32)
    strided = np.zeros(58, np.float32)[::2]
    wide = rng.random(64).astype(np.float32)
    bf16, fp8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
    return {
        "collective": (collective, (np.zeros(64, np.float32), wide), {"ndrange": 64}),
        "sized at launch": (
            sized_at_launch,
            (np.zeros_like(wide), wide),
            {"ndrange": 64, "shared_bytes": 64},
        ),
        "bf16": (doubled, (np.zeros(20, bf16), line[:9].astype(bf16)), {"ndrange": 9}),
        "fp8": (doubled, (np.zeros(20, fp8), line[:9].astype(fp8)), {"ndrange": 9}),
        "leaves early": (leaves_early, (np.zeros(20), rng.random(20), 0.8), {"ndrange": 20}),
        "heat": (heat, (field.copy(), field, np.ones_like(field), 0.1), {"ndrange": field.shape}),
        "sums": (sums, (np.zeros(17, np.float32), line), {"ndrange": 16}),
        "integers": (integers, (np.zeros(37, np.int32), *ints), {"ndrange": 37}),
        "functions": (functions, (np.zeros(21), rng.random(21)), {"ndrange": 21}),
        "functions, f32": (functions, (np.zeros(16, np.float32), line), {"ndrange": 16}),
        "halves": (halves, (np.zeros(16, np.float16), line.astype(np.float16)), {"ndrange": 16}),
        "counted": (counted, (np.zeros(5, np.int32), abs(ints[0])), {"ndrange": 37}),
        "strided": (reversed_copy, (strided, rng.random(29, np.float32)), {"ndrange": range(1, 29, 2)}),
        "checked": (checked, (np.zeros(20), rng.random(20)), {"ndrange": 20}),
    }
