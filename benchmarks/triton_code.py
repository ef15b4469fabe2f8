"""Triton's kernels as machine code, without a GPU: ``python triton_code.py sm_80 FOLDER``, where Triton is installed.

Comes in: a chip and a folder. Goes out: ``FOLDER/<row>.cubin`` for each row of `ROWS`, and ``FOLDER/rows.json`` with
the name of each kernel and its threads. `gpu_code_triton.py` calls it with the Python of another environment.
"""
# ruff: noqa: N803 - constants of Triton's kernels are written in capitals

import json
import sys
from pathlib import Path

import triton
import triton.language as tl
import triton_peers as peers
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ALIGNED = [["tt.divisibility", 16]]


@triton.jit
def half_matmul(c, a, b, n, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    step = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + i[:, None] * K + (start + step)[None, :])
        right = tl.load(b + (start + step)[:, None] * n + j[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + i[:, None] * n + j[None, :], total)


@triton.jit
def attention(
    o, q, k, v, scale, LENGTH: tl.constexpr, DEPTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr
):
    """Causal, a head a program of axis 1; powers are rounded for the second product."""
    first = tl.program_id(0) * QUERIES
    head = tl.program_id(1) * LENGTH * DEPTH
    i, depth = first + tl.arange(0, QUERIES), tl.arange(0, DEPTH)
    queries = tl.load(q + head + i[:, None] * DEPTH + depth[None, :])
    top = tl.full((QUERIES,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    sums = tl.zeros((QUERIES, DEPTH), dtype=tl.float32)
    for start in range(0, LENGTH, KEYS):
        j = start + tl.arange(0, KEYS)
        keys = tl.load(k + head + j[None, :] * DEPTH + depth[:, None])
        scores = tl.dot(queries, keys) * scale
        scores = tl.where(i[:, None] >= j[None, :], scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        powers = tl.exp(scores - new[:, None])
        rest = tl.exp(top - new)
        total = total * rest + tl.sum(powers, 1)
        values = tl.load(v + head + j[:, None] * DEPTH + depth[None, :])
        sums = tl.dot(powers.to(values.dtype), values, sums * rest[:, None])
        top = new
    tl.store(o + head + i[:, None] * DEPTH + depth[None, :], (sums / total[:, None]).to(tl.float16))


F, H, N = "*fp32", "*fp16", "i32"
ROWS = {
    "softmax": (peers.softmax, {"y": F, "x": F}, {"COLUMNS": 1024}, 8),
    "layernorm": (
        peers.layernorm, {"y": F, "x": F, "weight": F, "bias": F, "eps": "fp32"}, {"COLUMNS": 1024}, 8,
    ),
    "product_f32": (
        peers.matmul, {"c": F, "a": F, "b": F, "n": N}, {"K": 1024, "BM": 64, "BN": 64, "BK": 16}, 8,
    ),
    "product_f16": (
        half_matmul, {"c": F, "a": H, "b": H, "n": N}, {"K": 1024, "BM": 128, "BN": 128, "BK": 32}, 4,
    ),
    "attention": (
        attention, {"o": H, "q": H, "k": H, "v": H, "scale": "fp32"},
        {"LENGTH": 1024, "DEPTH": 64, "QUERIES": 64, "KEYS": 64}, 4,
    ),
}  # fmt: skip
"""For each row the function, the types of its arguments, its constants, and how many subgroups a program has."""


def main() -> None:
    chip, folder = sys.argv[1], Path(sys.argv[2])
    target = GPUTarget("cuda", int("".join(filter(str.isdigit, chip))), 32)
    told = {}
    for row, (function, types, constants, subgroups) in ROWS.items():
        names = list(function.arg_names)
        signature = {name: types.get(name, "constexpr") for name in names}
        places = {(names.index(name),): value for name, value in constants.items()}
        aligned = {(n,): ALIGNED for n, name in enumerate(names) if signature[name] in (F, H, N)}
        source = ASTSource(fn=function, signature=signature, constexprs=places, attrs=aligned)
        made = triton.compile(source, target=target, options={"num_warps": subgroups})
        (folder / f"{row}.cubin").write_bytes(made.asm["cubin"])
        told[row] = {"name": made.metadata.name, "threads": 32 * subgroups, "triton": triton.__version__}
    (folder / "rows.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
