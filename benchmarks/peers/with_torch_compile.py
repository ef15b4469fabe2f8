"""torch.compile: functions over whole tensors, compiled by Inductor, which needs a compiler of C++."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch.nn import functional
from workloads import EPS, A, C, Case, Contender

from peers.with_torch import prepare as prepare
from peers.with_torch import tensors


def missing() -> str | None:
    """Why Inductor cannot compile for the CPU here."""
    compiler = os.environ.get("CXX", "g++")
    found = shutil.which(compiler) or shutil.which("clang++")
    return None if found else f"needs a compiler of C++, and there is no {compiler} (apt install g++)"


def _both(case: Case, function: Callable, like: np.ndarray, inner: object = ...) -> Iterator[Contender]:
    """Into a given tensor and into a fresh one."""
    inputs = list(tensors(case).values())
    out = np.zeros_like(like)
    to = torch.from_numpy(out)[inner]

    def write(to: torch.Tensor, *inputs: torch.Tensor) -> None:
        to.copy_(function(*inputs))

    given, fresh = torch.compile(write, dynamic=False), torch.compile(function, dynamic=False)
    yield Contender("torch.compile", lambda: given(to, *inputs), (out[inner],))
    yield Contender("torch.compile", lambda: fresh(*inputs), allocates=True)


def saxpy(case: Case) -> Iterator[Contender]:
    yield from _both(case, lambda x, y: A * x + y, case["x"])


def heat(case: Case) -> Iterator[Contender]:
    def step(old):
        inner = old[1:-1, 1:-1]
        return inner + C * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2] - 4 * inner)

    yield from _both(case, step, case["old"], (slice(1, -1), slice(1, -1)))


def softmax(case: Case) -> Iterator[Contender]:
    yield from _both(case, lambda x: torch.softmax(x, -1), case["x"])


def layernorm(case: Case) -> Iterator[Contender]:
    columns = [case["x"].shape[1]]
    yield from _both(case, lambda x, w, b: functional.layer_norm(x, columns, w, b, EPS), case["x"])


def residual_layernorm(case: Case) -> Iterator[Contender]:
    columns = [case["x"].shape[1]]
    yield from _both(case, lambda x, r, w, b: functional.layer_norm(x + r, columns, w, b, EPS), case["x"])


def swiglu(case: Case) -> Iterator[Contender]:
    yield from _both(case, lambda gate, up: functional.silu(gate) * up, case["gate"])


def matmul(case: Case) -> Iterator[Contender]:
    yield from _both(case, torch.matmul, case["a"])


def attention(case: Case) -> Iterator[Contender]:
    scale = case["q"].shape[-1] ** -0.5

    def attend(q, k, v):
        return torch.softmax(q @ k.transpose(1, 2) * scale, -1) @ v

    yield from _both(case, attend, case["q"])
