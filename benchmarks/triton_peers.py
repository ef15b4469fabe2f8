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


@triton.jit
def diffusion3(new, old, k, c, nx, ny, nz, BLOCK: tl.constexpr):
    row, m = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    i, j = row // ny + tl.zeros_like(m), row % ny + tl.zeros_like(m)
    inside = (i > 0) & (i < nx - 1) & (j > 0) & (j < ny - 1) & (m > 0) & (m < nz - 1)
    at = old + row * nz + m
    here = tl.load(at, mask=inside)
    around = tl.load(at + ny * nz, mask=inside) + tl.load(at - ny * nz, mask=inside)
    around += tl.load(at + nz, mask=inside) + tl.load(at - nz, mask=inside)
    around += tl.load(at + 1, mask=inside) + tl.load(at - 1, mask=inside)
    factor = c * tl.load(k + row * nz + m, mask=inside)
    tl.store(new + row * nz + m, here + factor * (around - 6.0 * here), mask=inside)


@triton.jit
def transpose(out, a, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (i[:, None] < rows) & (j[None, :] < columns)
    tile = tl.load(a + i[:, None] * columns + j[None, :], mask=inside)
    turned = (j[:, None] < columns) & (i[None, :] < rows)
    tl.store(out + j[:, None] * rows + i[None, :], tl.trans(tile), mask=turned)


@triton.jit
def reduction(total, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))


@triton.jit
def histogram(counts, values, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    found = tl.histogram(tl.load(values + at, mask=at < n, other=0).to(tl.int32), BINS)
    bins = tl.arange(0, BINS)
    beyond = tl.maximum(0, (tl.program_id(0) + 1) * BLOCK - n)  # counted as zeros
    tl.atomic_add(counts + bins, found - tl.where(bins == 0, beyond, 0))


@triton.jit
def matmul(c, a, b, n, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Lengths are multiples of the blocks; f32 all the way, as the others."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    step = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + i[:, None] * K + (start + step)[None, :])
        right = tl.load(b + (start + step)[:, None] * n + j[None, :])
        total += tl.dot(left, right, input_precision="ieee")
    tl.store(c + i[:, None] * n + j[None, :], total)
