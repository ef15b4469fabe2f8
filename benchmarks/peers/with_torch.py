"""torch, eager: its own operations, into given tensors where they take ``out=``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch.nn import functional
from workloads import EPS, A, C, Case, Contender


def prepare(threads: int) -> None:
    torch.set_num_threads(threads)


def tensors(case: Case) -> dict[str, torch.Tensor]:
    """The arrays' own memory."""
    return {name: torch.from_numpy(array) for name, array in case.arrays.items()}


def _given(like: np.ndarray) -> tuple[np.ndarray, torch.Tensor]:
    out = np.zeros_like(like)
    return out, torch.from_numpy(out)


def saxpy(case: Case) -> Iterator[Contender]:
    t = tensors(case)
    out, z = _given(case["x"])
    yield Contender("torch", lambda: torch.add(t["y"], t["x"], alpha=A, out=z), (out,))
    yield Contender("torch", lambda: torch.add(t["y"], t["x"], alpha=A), allocates=True)


def heat(case: Case) -> Iterator[Contender]:
    old = tensors(case)["old"]
    out, new = _given(case["old"])
    to, inner = new[1:-1, 1:-1], old[1:-1, 1:-1]

    def step(to: torch.Tensor) -> torch.Tensor:
        torch.add(old[2:, 1:-1], old[:-2, 1:-1], out=to)
        return to.add_(old[1:-1, 2:]).add_(old[1:-1, :-2]).mul_(C).add_(inner, alpha=1 - 4 * C)

    yield Contender("torch", lambda: step(to), (out[1:-1, 1:-1],))
    yield Contender("torch", lambda: step(torch.empty_like(old)[1:-1, 1:-1]), allocates=True)


def softmax(case: Case) -> Iterator[Contender]:
    x = tensors(case)["x"]
    out, y = _given(case["x"])
    yield Contender("torch", lambda: torch.softmax(x, -1, out=y), (out,))
    yield Contender("torch", lambda: torch.softmax(x, -1), allocates=True)


def layernorm(case: Case) -> Iterator[Contender]:
    t = tensors(case)
    out, y = _given(case["x"])
    rows, columns = case["x"].shape
    parameters = [columns], t["weight"], t["bias"], EPS
    given = {"out0": y, "out1": torch.zeros(rows, 1), "out2": torch.zeros(rows, 1)}
    write = torch.ops.aten.native_layer_norm.out
    yield Contender("torch", lambda: write(t["x"], *parameters, **given), (out,))
    yield Contender("torch", lambda: functional.layer_norm(t["x"], *parameters), allocates=True)


def residual_layernorm(case: Case) -> Iterator[Contender]:
    t = tensors(case)
    out, y = _given(case["x"])
    rows, columns = case["x"].shape
    parameters = [columns], t["weight"], t["bias"], EPS
    given = {"out0": y, "out1": torch.zeros(rows, 1), "out2": torch.zeros(rows, 1)}
    write, total = torch.ops.aten.native_layer_norm.out, torch.empty_like(y)

    def into() -> object:
        return write(torch.add(t["x"], t["residual"], out=total), *parameters, **given)

    yield Contender("torch", into, (out,))
    yield Contender(
        "torch", lambda: functional.layer_norm(t["x"] + t["residual"], *parameters), allocates=True
    )


def swiglu(case: Case) -> Iterator[Contender]:
    t = tensors(case)
    out, y = _given(case["gate"])
    silu = torch.ops.aten.silu.out
    yield Contender("torch", lambda: silu(t["gate"], out=y).mul_(t["up"]), (out,))
    yield Contender("torch", lambda: functional.silu(t["gate"]) * t["up"], allocates=True)


def matmul(case: Case) -> Iterator[Contender]:
    t = tensors(case)
    out, c = _given(case["a"])
    yield Contender("torch", lambda: torch.matmul(t["a"], t["b"], out=c), (out,))
    yield Contender("torch", lambda: torch.matmul(t["a"], t["b"]), allocates=True)


def attention(case: Case) -> Iterator[Contender]:
    q, k, v = (tensor[None] for tensor in tensors(case).values())
    yield Contender("torch", lambda: functional.scaled_dot_product_attention(q, k, v)[0], allocates=True)
