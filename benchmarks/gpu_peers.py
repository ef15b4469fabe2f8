"""What others do with the same arrays: torch's own operations, kernels in Triton, CuPy's functions.

Comes in: a workload's name and torch tensors in the order of its arrays. Goes out: functions to time. Read next: `gpu`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def torch_peer(name: str, tensors: tuple[Any, ...]) -> Callable[[], object] | None:
    """torch's way, into the first tensor; None where torch has no one operation for it."""
    import torch

    out, *rest = tensors
    if name in ("copy", "copy, the driver's"):
        return lambda: out.copy_(rest[0])
    if name == "triad":
        return lambda: torch.add(rest[0], rest[1], alpha=2.5, out=out)
    if name == "saxpy":
        return lambda: out.add_(rest[0], alpha=2.5)
    if name == "heat, 5 points":
        return lambda: _heat(out, rest[0])
    if name.startswith("3-D diffusion"):
        return lambda: _diffusion(out, *rest)
    if name.startswith("transpose"):
        return lambda: out.copy_(rest[0].T)
    if name == "reduction":
        return lambda: torch.sum(rest[0], 0, keepdim=True, out=out)
    if name.startswith("histogram"):
        return lambda: out.copy_(torch.bincount(rest[0], minlength=256))
    if name.startswith("matmul"):
        return lambda: torch.matmul(rest[0], rest[1], out=out)
    if name.startswith("softmax"):
        return lambda: torch.softmax(rest[0], -1, out=out)
    if name.startswith("causal attention"):
        attend = torch.nn.functional.scaled_dot_product_attention
        return lambda: out.copy_(attend(*rest, is_causal=True, scale=0.125))
    if name.startswith("product of tiles") and "int8" not in name:
        return lambda: out.copy_(torch.matmul(rest[0], rest[1]))
    if name.startswith("residual and RMS norm"):
        x, residual, weight = rest
        return lambda: out.copy_(torch.nn.functional.rms_norm(x + residual, (1024,), weight, 1e-6))
    if name.startswith("gradient of a softmax"):
        return lambda: out.copy_(_softmax_gradient(*rest))
    if name.startswith("layernorm"):
        return lambda: out.copy_(torch.nn.functional.layer_norm(rest[0], (1024,), rest[1], rest[2], 1e-5))
    return None


def _softmax_gradient(x: Any, w: Any) -> Any:
    """By torch's own autograd, the forward sweep included."""
    x = x.detach().requires_grad_()
    (x.softmax(-1) * w).sum().backward()
    return x.grad


def _heat(new: Any, old: Any) -> None:
    """Whole slices, as torch is written without kernels; every step is an array."""
    here = old[1:-1, 1:-1]
    around = old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2]
    new[1:-1, 1:-1] = here + 0.1 * (around - 4.0 * here)


def _diffusion(new: Any, old: Any, k: Any) -> None:
    i = slice(1, -1)
    here = old[i, i, i]
    around = old[2:, i, i] + old[:-2, i, i] + old[i, 2:, i] + old[i, :-2, i] + old[i, i, 2:] + old[i, i, :-2]
    new[i, i, i] = here + 0.1 * k[i, i, i] * (around - 6.0 * here)


def triton_peer(name: str, tensors: tuple[Any, ...]) -> Callable[[], object] | None:
    """A kernel in Triton where it is installed and has a natural form."""
    if not has("triton"):
        return None
    import triton
    import triton_peers

    out, *rest = tensors
    groups = (triton.cdiv(out.numel(), 1024),)
    if name == "copy":
        return lambda: triton_peers.copy[groups](out, rest[0], out.numel(), 1024)
    if name == "triad":
        return lambda: triton_peers.triad[groups](out, rest[0], rest[1], 2.5, out.numel(), 1024)
    if name == "saxpy":
        return lambda: triton_peers.saxpy[groups](out, rest[0], 2.5, out.numel(), 1024)
    if name.startswith("softmax"):
        return lambda: triton_peers.softmax[(out.shape[0],)](out, rest[0], out.shape[1])
    if name.startswith("layernorm"):
        return lambda: triton_peers.layernorm[(out.shape[0],)](out, *rest, 1e-5, out.shape[1])
    if name == "heat, 5 points":
        rows, columns = out.shape
        grid = (rows, triton.cdiv(columns, 1024))
        return lambda: triton_peers.heat[grid](out, rest[0], 0.1, rows, columns, 1024)
    if name.startswith("3-D diffusion"):
        nx, ny, nz = out.shape
        block = triton.next_power_of_2(min(nz, 1024))
        grid = (nx * ny, triton.cdiv(nz, block))
        return lambda: triton_peers.diffusion3[grid](out, *rest, 0.1, nx, ny, nz, block)
    if name.startswith("transpose"):
        rows, columns = rest[0].shape
        grid = (triton.cdiv(rows, 32), triton.cdiv(columns, 32))
        return lambda: triton_peers.transpose[grid](out, rest[0], rows, columns, 32)
    if name == "reduction":
        n = rest[0].numel()
        grid = (triton.cdiv(n, 4096),)
        return lambda: triton_peers.reduction[grid](out, rest[0], n, 4096)
    if name.startswith("histogram"):
        n = rest[0].numel()
        grid = (triton.cdiv(n, 4096),)
        return lambda: triton_peers.histogram[grid](out, rest[0], n, 256, 4096)
    if name.startswith("matmul"):
        (m, k), n = rest[0].shape, rest[1].shape[1]
        grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
        return lambda: triton_peers.matmul[grid](out, *rest, n, k, 64, 64, 32)
    return None


def cupy_peer(name: str, tensors: tuple[Any, ...]) -> Callable[[], object] | None:
    """CuPy's functions on the same memory and in torch's stream, where it is installed."""
    if not has("cupy"):
        return None
    cupy = importlib.import_module("cupy")
    return array_peer(cupy, name, tuple(cupy.from_dlpack(tensor) for tensor in tensors))


def array_peer(xp: Any, name: str, arrays: tuple[Any, ...]) -> Callable[[], object] | None:
    """Functions of NumPy's interface, of the module `xp`; None where there is no natural one."""
    out, *rest = arrays
    if name in ("copy", "copy, the driver's"):
        return lambda: xp.copyto(out, rest[0])
    if name == "triad":
        return lambda: xp.add(rest[0], xp.float32(2.5) * rest[1], out=out)
    if name == "saxpy":
        return lambda: xp.add(out, xp.float32(2.5) * rest[0], out=out)
    if name == "heat, 5 points":
        return lambda: _heat(out, rest[0])
    if name.startswith("3-D diffusion"):
        return lambda: _diffusion(out, *rest)
    if name.startswith("transpose"):
        return lambda: xp.copyto(out, rest[0].T)
    if name == "reduction":
        return lambda: xp.sum(rest[0], axis=0, keepdims=True, out=out)
    if name.startswith("histogram"):
        return lambda: xp.copyto(out, xp.bincount(rest[0], minlength=256))
    if name.startswith("matmul"):
        return lambda: xp.matmul(rest[0], rest[1], out=out)
    return None
