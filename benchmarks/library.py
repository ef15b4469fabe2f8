"""The fused layers beside PyTorch: ``python benchmarks/library.py [--only WORD] [--turns N] [--compile]
[--json FILE]``.

Every function of `pykern.library`, on tensors of f32, forward and forward with backward, beside what one writes in
eager PyTorch (with ``--compile`` also `torch.compile`). One thread; the contenders take turns, and the least
processor time of all turns counts: a busy machine's times are too long. Results are compared first.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from measure import alternating
from torch.nn import functional

import pykern as pk
from pykern import library as pl
from pykern.benchmarking.terminal import table

TURN = 0.02
"""Seconds of a turn of one contender."""


@dataclass(frozen=True)
class Case:
    """A function on tensors, and the same in PyTorch; `argnums` are differentiated, none: no derivative."""

    name: str
    ours: Callable[..., object]
    theirs: Callable[..., object]
    arguments: tuple[torch.Tensor, ...]
    argnums: tuple[int, ...]


def real(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def rotated(x, weight, cos, sin):
    y = functional.rms_norm(x, x.shape[-1:], weight, 1e-6).reshape(*x.shape[:2], -1, 2, cos.shape[1])
    a, b, c, s = y[..., 0, :], y[..., 1, :], cos[None, :, None], sin[None, :, None]
    return torch.stack((a * c - b * s, b * c + a * s), 3).reshape(x.shape)


def residual_norm(x, r, gamma, beta):
    s = x + r
    return functional.layer_norm(s, x.shape[-1:], gamma, beta), s


def residual_rms(x, r, weight):
    s = x + r
    return functional.rms_norm(s, x.shape[-1:], weight, 1e-6), s


def layers() -> Iterator[Case]:
    """Gated units and norms."""
    wide = (real(512, 2048), real(512, 2048))
    yield Case("swiglu", pl.swiglu, lambda a, b: functional.silu(a) * b, wide, (0, 1))
    yield Case("geglu", pl.geglu, lambda a, b: functional.gelu(a) * b, wide, (0, 1))
    yield Case(
        "swiglu_linear",
        pl.swiglu_linear,
        lambda x, a, b: functional.silu(x @ a.T) * (x @ b.T),
        (real(256, 512), real(1024, 512), real(1024, 512)),
        (0, 1, 2),
    )
    yield Case(
        "layernorm_linear",
        pl.layernorm_linear,
        lambda x, g, b, w: functional.linear(functional.layer_norm(x, (512,), g, b), w),
        (real(512, 512), real(512), real(512), real(512, 512)),
        (0, 1, 2, 3),
    )
    rows = (real(1024, 1024), real(1024, 1024), real(1024))
    yield Case("residual_layernorm", pl.residual_layernorm, residual_norm, (*rows, real(1024)), (0, 1, 2, 3))
    yield Case("residual_rmsnorm", pl.residual_rmsnorm, residual_rms, rows, (0, 1, 2))
    yield Case(
        "rmsnorm_rope",
        lambda x, w, c, s: pl.rmsnorm_rope(x, w, c, s, head_dim=64),
        rotated,
        (real(2, 512, 1024), real(1024), real(512, 32), real(512, 32)),
        (0, 1),
    )
    yield Case(
        "group_norm",
        lambda x, w, b: pl.group_norm(x, 8, w, b),
        lambda x, w, b: functional.group_norm(x, 8, w, b),
        (real(8, 64, 32, 32), real(64), real(64)),
        (0, 1, 2),
    )


def losses() -> Iterator[Case]:
    """Softmax, cross entropy, look-ups."""
    yield Case(
        "softmax_dropout",
        lambda x: pl.softmax_dropout(x, 0.1, seed=1),
        lambda x: functional.dropout(x.softmax(-1), 0.1),
        (real(1024, 1024),),
        (0,),
    )
    target = torch.randint(0, 8000, (256,))
    yield Case(
        "linear_cross_entropy",
        lambda x, w: pl.linear_cross_entropy(x, w, target),
        lambda x, w: functional.cross_entropy(x @ w.T, target),
        (real(256, 256), real(8000, 256)),
        (0, 1),
    )
    indices = torch.randint(0, 10_000, (4096,))
    yield Case(
        "embedding",
        lambda w: pl.embedding(indices, w),
        lambda w: functional.embedding(indices, w),
        (real(10_000, 256),),
        (0,),
    )


def attentions() -> Iterator[Case]:
    """Attention, whole and in sequences."""
    for n in (512, 2048, 8192):
        yield Case(
            f"flash_attention {n}",
            lambda q, k, v: pl.flash_attention(q, k, v, causal=True),
            lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
            tuple(real(1, 4, n, 64) for _ in range(3)),
            (0, 1, 2),
        )
    ends = torch.tensor([0, 100, 300, 350, 700, 1024])

    def each(q, k, v):
        parts = [tuple(x[a:b].transpose(0, 1) for x in (q, k, v)) for a, b in pairwise(ends.tolist())]
        done = [functional.scaled_dot_product_attention(*part, is_causal=True) for part in parts]
        return torch.cat([x.transpose(0, 1) for x in done])

    yield Case(
        "varlen_attention",
        lambda q, k, v: pl.varlen_attention(q, k, v, ends, causal=True),
        each,
        tuple(real(1024, 4, 64) for _ in range(3)),
        (0, 1, 2),
    )
    pages, lengths = torch.randperm(64).reshape(4, 16), torch.tensor([256, 200, 77, 5])

    def of_pages(q, k, v):
        taken = torch.arange(256) < lengths[:, None]
        keys, values = (x[pages].flatten(1, 2).transpose(1, 2) for x in (k, v))
        return functional.scaled_dot_product_attention(q[:, :, None], keys, values, taken[:, None, None])[
            :, :, 0
        ]

    yield Case(
        "paged_attention",
        lambda q, k, v: pl.paged_attention(q, k, v, pages, lengths),
        of_pages,
        (real(4, 8, 64), real(64, 16, 8, 64), real(64, 16, 8, 64)),
        (),
    )


def products() -> Iterator[Case]:
    """Experts, and weights of few bits."""
    offsets = torch.tensor([100, 130, 400, 400, 512, 700, 900, 1024])

    def experts(x, weight):
        return torch.cat(
            [x[a:b] @ w.T for (a, b), w in zip(pairwise([0, *offsets.tolist()]), weight, strict=True)]
        )

    yield Case(
        "grouped_linear",
        lambda x, w: pl.grouped_linear(x, w, offsets),
        experts,
        (real(1024, 256), real(8, 512, 256)),
        (0, 1),
    )
    numbers = torch.randint(-128, 128, (1024, 1024), dtype=torch.int8)
    for rows in (1, 64):
        yield Case(
            f"quantised_linear, {rows}",
            lambda x, scale: pl.quantised_linear(x, numbers, scale),
            lambda x, scale: x @ (numbers.float() * scale[:, None]).T,
            (real(rows, 1024), torch.rand(1024) / 100),
            (0,),
        )


def check(case: Case) -> None:
    if case.name == "softmax_dropout":  # each has random numbers of its own
        return
    ours, theirs = (f(*case.arguments) for f in (case.ours, case.theirs))
    torch.testing.assert_close(ours, theirs, rtol=2e-3, atol=2e-3, msg=lambda text: f"{case.name}: {text}")


def backward_of(case: Case, function: Callable[..., object]) -> Callable[[], object]:
    """The value and the gradients, as a step of training takes them."""
    arguments = [x.clone().requires_grad_(n in case.argnums) for n, x in enumerate(case.arguments)]
    wanted = [arguments[n] for n in case.argnums]
    value = function(*arguments)
    values = value if isinstance(value, tuple) else (value,)
    weights = [torch.randn_like(y) for y in values]

    def step() -> object:
        value = function(*arguments)
        return torch.autograd.grad(value if isinstance(value, tuple) else (value,), wanted, weights)

    return step


def rows_of(case: Case, turns: int, compiled: bool) -> Iterator[list[str]]:
    contenders = {"pykern": case.ours, "eager": case.theirs}
    if compiled:
        contenders["compiled"] = torch.compile(case.theirs)
    kinds: dict[str, dict[str, Callable[[], object]]] = {
        "forward": {name: (lambda f=f: f(*case.arguments)) for name, f in contenders.items()}
    }
    if case.argnums:
        kinds["with backward"] = {name: backward_of(case, f) for name, f in contenders.items()}
    for kind, calls in kinds.items():
        best = alternating(calls, turns, TURN, clock=time.thread_time, summary=min)
        peer = min(seconds for name, seconds in best.items() if name != "pykern")
        yield [
            case.name, kind, *(f"{seconds * 1e6:.0f}" for seconds in best.values()), f"{best['pykern'] / peer:.2f}",
        ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="the fused layers beside PyTorch")
    parser.add_argument("--only", default="", help="functions whose names have this word")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--compile", action="store_true", help="beside torch.compile, too")
    parser.add_argument("--json", metavar="FILE", help="write date, versions and the table here too")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    pk.set_num_threads(1)
    found = []
    for case in (*layers(), *losses(), *attentions(), *products()):
        if given.only in case.name:
            check(case)
            found += rows_of(case, given.turns, given.compile)
    peers = ["pykern", "eager", *(["compiled"] if given.compile else [])]
    heads = ["function", "", *(f"{name}, us" for name in peers), "over the best"]
    print(table(heads, found))
    if given.json:
        versions = {"torch": torch.__version__, "numpy": np.__version__, "python": platform.python_version()}
        kept = {"date": str(date.today()), "versions": versions, "load": os.getloadavg()[0], "threads": 1}
        Path(given.json).write_text(json.dumps({**kept, "columns": heads, "rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
