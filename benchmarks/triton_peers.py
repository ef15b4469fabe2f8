"""The workloads of `device_workloads` as a user of Triton writes them. Imported where Triton is installed."""
# ruff: noqa: N803 - constants of Triton's kernels are written in capitals

import triton
import triton.language as tl


@triton.jit
def copy(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def triad(a, b, c, s, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(a + at, tl.load(b + at, mask=inside) + s * tl.load(c + at, mask=inside), mask=inside)


@triton.jit
def saxpy(y, x, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y + at, a * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def heat(new, old, c, rows, columns, BLOCK: tl.constexpr):
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    i = tl.program_id(0) + tl.zeros_like(j)
    inside = (i > 0) & (i < rows - 1) & (j > 0) & (j < columns - 1)
    at = old + i * columns + j
    here = tl.load(at, mask=inside)
    around = tl.load(at + columns, mask=inside) + tl.load(at - columns, mask=inside)
    around += tl.load(at + 1, mask=inside) + tl.load(at - 1, mask=inside)
    tl.store(new + i * columns + j, here + c * (around - 4.0 * here), mask=inside)


@triton.jit
def softmax(y, x, COLUMNS: tl.constexpr):
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    row = tl.load(x + at)
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + at, e / tl.sum(e, 0))


@triton.jit
def layernorm(y, x, weight, bias, eps, COLUMNS: tl.constexpr):
    column = tl.arange(0, COLUMNS)
    at = tl.program_id(0) * COLUMNS + column
    row = tl.load(x + at)
    centred = row - tl.sum(row, 0) / COLUMNS
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / COLUMNS + eps)
    tl.store(y + at, centred * scale * tl.load(weight + column) + tl.load(bias + column))
