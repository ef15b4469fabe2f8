"""Kernels that between them use the whole language: `CASES` has a `Case` a name, `on_chips` says for which chips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import pykern as pk

DTYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64")
UNARY = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
         "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "erf", "erfc",
         "floor", "ceil", "trunc", "round", "fabs", "sign", "gamma", "lgamma")  # fmt: skip
BINARY = ("pow", "atan2", "hypot", "copysign", "fmod", "remainder", "minimum", "maximum")


@dataclass(frozen=True)
class Case:
    """A kernel and what it is lowered with. `spills`: it holds more than registers do."""

    kernel: Any
    args: tuple
    ndrange: Any
    keywords: dict[str, Any] = field(default_factory=dict)
    spills: bool = False

    def compile(self, target: str) -> Any:
        return self.lower(target).compile()

    def lower(self, target: str) -> Any:
        return self.kernel.lower(*self.args, ndrange=self.ndrange, target=target, **self.keywords)


def dtype(name: str) -> Any:
    return getattr(pk, name)


@pk.kernel
def elementwise(out, x, y, a):
    i = pk.index()
    out[i] = a * x[i] + y[i]


@pk.kernel
def compared(out, x, y):
    i = pk.index()
    out[i] = x[i] < y[i] and not out[i]


@pk.kernel
def bytes_of_floats(out, x):
    i = pk.index()
    out[i] = x[i] * 2.0


@pk.kernel(workgroup=(4, 64))
def stencil(out, x):
    i, j = pk.index()
    n, m = pk.ndrange()
    if 0 < i < n - 1 and 0 < j < m - 1:
        out[i, j] = (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) * 0.25


@pk.kernel(workgroup=256)
def reduction(out, x):
    i = pk.index()
    l = pk.local_index()  # noqa: E741
    s = pk.shared(256, pk.f32)
    s[l] = x[i]
    step = 128
    while step > 0:
        pk.barrier()
        if l < step:
            s[l] += s[l + step]
        step //= 2
    if l == 0:
        out[pk.group_index()] = s[0]


@pk.kernel(workgroup=(16, 16))
def matmul(c, a, b):
    i, j = pk.index()
    li, lj = pk.local_index()
    ta = pk.shared((16, 16), pk.f32)
    tb = pk.shared((16, 16), pk.f32)
    total = pk.f32(0)
    for t in range(0, a.shape[1], 16):
        ta[li, lj] = a[i, t + lj]
        tb[li, lj] = b[t + li, j]
        pk.barrier()
        for k in range(16):
            total += ta[li, k] * tb[k, lj]
        pk.barrier()
    c[i, j] = total


@pk.kernel(workgroup=128)
def histogram(counts, x):
    i = pk.index()
    l = pk.local_index()  # noqa: E741
    mine = pk.shared(64, pk.i32)
    if l < 64:
        mine[l] = 0
    pk.barrier()
    pk.atomic_add(mine, x[i] & 63, 1)
    pk.barrier()
    if l < 64:
        pk.atomic_add(counts, l, mine[l])


@pk.kernel
def atomics(x, old, v):
    old[0] = pk.atomic_add(x, 0, v)
    old[1] = pk.atomic_sub(x, 1, v)
    old[2] = pk.atomic_min(x, 2, v)
    old[3] = pk.atomic_max(x, 3, v)
    old[4] = pk.atomic_exchange(x, 4, v)
    if pk.atomic_compare_exchange(x, 5, v, old[0]):
        old[5] = v


@pk.kernel(workgroup=(32, 8))
def transpose(out, x):
    i, j = pk.index()
    li, lj = pk.local_index()
    gi, gj = pk.group_index()
    s = pk.shared((32, 9), pk.f32)
    s[li, lj] = x[i, j]
    pk.barrier()
    out[gj * 8 + lj, gi * 32 + li] = s[li, lj]


@pk.kernel
def plain_transpose(out, x):
    i, j = pk.index()
    out[j, i] = x[i, j]


@pk.kernel(workgroup=96)
def collectives(group, sub, scan, before, moved, x):
    i = pk.index()
    lane = pk.lane_index()
    group[i] = pk.group_reduce(x[i])
    sub[i] = pk.subgroup_reduce(x[i], "max")
    scan[i] = pk.subgroup_scan(x[i])
    before[i] = pk.subgroup_scan(x[i], exclusive=True)
    moved[i] = pk.subgroup_shuffle(x[i], 31 - lane) + pk.subgroup_broadcast(x[i], 3)


@pk.kernel(workgroup=50)
def odd_collectives(group, sub, x):
    i = pk.index()
    group[i] = pk.group_reduce(x[i], "mul")
    sub[i] = pk.subgroup_reduce(x[i], "min") + pk.subgroup_broadcast(x[i], 40)


@pk.kernel(workgroup=1000)
def wide_collectives(group, x):
    i = pk.index()
    group[i] = pk.group_reduce(x[i])


@pk.kernel
def reports(x):
    i = pk.index()
    assert x[i] >= 0, "negative"
    if i == 3:
        print("three", x[i], i)
    x[i + 1] = x[i]


@pk.kernel(workgroup=(4, 8))
def leaves_early(out, x, n):
    i, j = pk.index()
    li, lj = pk.local_index()
    s = pk.shared((4, 8), pk.f64)
    if i >= n:
        return
    s[li, lj] = x[i, j]
    pk.barrier()
    keep = x[i, j] if li > lj else 0.0
    pk.barrier()
    out[i, j] = s[3 - li, 7 - lj] + keep


@pk.kernel
def rank_3(out, x):
    i, j, k = pk.index()
    out[i, j, k] = x[k, j, i]


@pk.kernel
def rank_4(out, x):
    i, j, k, l = pk.index()  # noqa: E741
    out[i, j, k, l] = x[l, k, j, i] + i


@pk.kernel(workgroup=64)
def sized_at_launch(out, x):
    i = pk.index()
    l = pk.local_index()  # noqa: E741
    s = pk.shared(None, pk.f32)
    s[l] = x[i]
    pk.barrier()
    out[i] = s[63 - l]


@pk.kernel
def in_private_memory(out, x):
    i = pk.index()
    p = pk.private(8, pk.f32)
    for k in range(8):
        p[k] = x[i * 8 + k]
    total = p[0]
    for k in range(1, 8):
        total = pk.maximum(total, p[k])
    out[i] = total


@pk.kernel
def loops(out, x, n):
    i = pk.index()
    total = 0.0
    for k in range(n):
        if x[k] > i:
            break
        total += x[k] ** 3
    out[i] = total


@pk.kernel
def integers(out, x, y):
    i = pk.index()
    out[i] = (
        x[i] // y[i] + x[i] % y[i] + (x[i] ** 2 << 1) + pk.popcount(x[i]) + pk.clz(y[i]) + pk.cdiv(x[i], y[i])
    )


def function(name: str) -> Callable:
    """A kernel of one math function."""
    of = getattr(pk, name)
    if name in BINARY:

        @pk.kernel
        def two(out, x, y):
            i = pk.index()
            out[i] = of(x[i], y[i])

        return two

    @pk.kernel
    def one(out, x):
        i = pk.index()
        out[i] = of(x[i])

    return one


def vector(kind: str, rank: int = 1, layout: str = "C") -> Any:
    return pk.spec((None,) * rank, dtype(kind), layout)


def _cases() -> dict[str, Case]:
    f32, f64 = vector("f32"), vector("f64")
    flat = vector("f32", 2)
    cases = {
        f"elementwise_{d}": Case(elementwise, (vector(d), vector(d), vector(d), dtype(d)), "n")
        for d in DTYPES
    }
    cases |= {f"bytes_{d}": Case(bytes_of_floats, (vector(d), vector(d)), "n") for d in ("f8e4m3", "f8e5m2")}
    cases |= {f"atomics_{d}": Case(atomics, (vector(d), vector(d), dtype(d)), 1) for d in DTYPES}
    cases |= {
        f"collectives_{d}": Case(collectives, (vector(d),) * 6, "n")
        for d in ("i32", "u8", "i64", "bf16", "f64")
    }
    return cases | {
        "compared": Case(compared, (vector("bool_"), f32, f32), "n"),
        "stencil": Case(stencil, (flat, flat), ("n", "m")),
        "stencil_static": Case(stencil, (pk.spec((512, 512), pk.f32),) * 2, (512, 512)),
        "stencil_strided": Case(stencil, (vector("f32", 2, "strided"),) * 2, (range(1, 60), range(0, 64, 2))),
        "reduction": Case(reduction, (f32, f32), "n"),
        "matmul": Case(matmul, (flat, flat, flat), ("n", "m")),
        "matmul_static": Case(matmul, (pk.spec((256, 256), pk.f32),) * 3, (256, 256)),
        "histogram": Case(histogram, (vector("i32"), vector("i32")), "n"),
        "transpose": Case(transpose, (flat, flat), ("n", "m")),
        "plain_transpose": Case(plain_transpose, (flat, flat), (100, 100)),
        "odd_collectives": Case(odd_collectives, (f32, f32, f32), 1000),
        "wide_collectives": Case(wide_collectives, (f32, f32), "n"),
        "reports": Case(reports, (f64,), "n", {"debug": True}),
        "leaves_early": Case(leaves_early, (vector("f64", 2), vector("f64", 2), pk.i32), (10, 20)),
        "rank_3": Case(rank_3, (vector("f32", 3),) * 2, ("n", "m", "k")),
        "rank_4": Case(rank_4, (vector("f32", 4),) * 2, (3, 4, 5, 6)),
        "rank_4_open": Case(rank_4, (vector("f32", 4, "strided"),) * 2, ("n", 4, "k", "l")),
        "strided_range": Case(elementwise, (f32, f32, f32, pk.f32), range(3, 1000, 7)),
        "sized_at_launch": Case(sized_at_launch, (f32, f32), "n", {"shared_bytes": 256}),
        "in_private_memory": Case(in_private_memory, (f32, f32), "n"),
        "loops": Case(loops, (f64, f64, pk.i32), "n"),
        "integers": Case(integers, (vector("i64"),) * 3, "n"),
    }


CASES = _cases()


def on_chips(usual: tuple[str, ...], others: tuple[str, ...]) -> list[Any]:
    """``(name, chip)`` of each case on the usual chips, and on one of the others in turn (slow)."""
    found: list[Any] = [(name, chip) for chip in usual for name in CASES]
    turns = (others * len(CASES))[: len(CASES)]
    return found + [pytest.param(n, c, marks=pytest.mark.slow) for n, c in zip(CASES, turns, strict=True)]
