"""What each computation of the suite gives, by NumPy: no form is its own reference.

Comes in: the arrays of a computation, the result first. Goes out: the result, by the computation's name. Read next:
`forms`, which compares every form with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from forms_common import COMMON_REFERENCES
from forms_grids import GRID_REFERENCES
from forms_joined import JOINED_REFERENCES
from forms_launches import LAUNCH_REFERENCES
from forms_lines import LINE_REFERENCES
from forms_parts import PART_REFERENCES
from forms_scans import SCAN_REFERENCES
from forms_shared import SHARED_REFERENCES
from forms_small import SMALL_REFERENCES

Reference = Callable[..., Any]


def _inside(o: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Zeros with `values` in the middle."""
    result = np.zeros_like(o)
    result[tuple(slice((a - b) // 2, (a + b) // 2) for a, b in zip(o.shape, values.shape, strict=True))] = (
        values
    )
    return result


def _neighbours(t: np.ndarray) -> np.ndarray:
    """The sum of the four neighbours of the inside of a padded plane."""
    return t[2:, 1:-1] + t[:-2, 1:-1] + t[1:-1, 2:] + t[1:-1, :-2]


def _filtered(t: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The sum of products with a filter, where it lies within the array."""
    windows = np.lib.stride_tricks.sliding_window_view(t, w.shape)
    return np.einsum(windows, [*range(2 * t.ndim)], w, [*range(t.ndim, 2 * t.ndim)], [*range(t.ndim)])


def _heat(o, t):
    return _inside(o, t[1:-1, 1:-1] + 0.1 * (_neighbours(t) - 4 * t[1:-1, 1:-1]))


def _softmax(o, x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _gravity(o, x, m):
    d = x[None] - x[:, None]
    return (m * d / (d * d + 1e-4)).sum(1)


def _nhwc(o, x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], (0, 1))
    return np.einsum("ijdab,abdc->ijc", windows, w)


def _nchw(o, x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (1, 2))
    return np.einsum("dijab,cdab->cij", windows, w)


def _depthwise(o, x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], (0, 1))
    return np.einsum("ijcab,abc->ijc", windows, w)


def _blur(o, t):
    return (_filtered(np.pad(t.astype(np.int32), 1, "edge"), np.ones((3, 3), np.int32)) // 9).astype(np.uint8)


def _decaying(o, x):
    result, s = np.empty_like(x), np.zeros_like(x[:, :, 0])
    for k in range(x.shape[2]):
        s = np.float32(0.5) * s + x[:, :, k]
        result[:, :, k] = s
    return result


def _escapes(o):
    i, j = (n.astype(np.float32) for n in np.indices(o.shape))
    a, b = j * np.float32(0.01) - np.float32(2), i * np.float32(0.01) - np.float32(1.2)
    x, y, n = np.zeros_like(a), np.zeros_like(b), np.zeros(o.shape, np.int32)
    for _ in range(50):
        inside = x * x + y * y < 4
        x, y = np.where(inside, x * x - y * y + a, x), np.where(inside, x * y + x * y + b, y)
        n += inside
    return n


def _bodies(o, x, m):
    d = x[None] - x[:, None]
    r = (d * d).sum(-1) + 1e-3
    return ((m / (r * np.sqrt(r)))[..., None] * d).sum(1)


def _rod(o, x):
    y = x.copy()
    for _ in range(500):
        y[1:-1] = y[1:-1] + 0.25 * (y[2:] - 2 * y[1:-1] + y[:-2])
    return y


def _curve(o, x, w):
    k = (x * 256).astype(np.int64)
    f = x * 256 - k
    return w[k] * (1 - f) + w[k + 1] * f


def _normalised(o, x):
    d = x - x.mean(1, keepdims=True)
    return d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)


def _seven(o, t):
    inside = t[1:-1, 1:-1, 1:-1]
    rows = t[:-2, 1:-1, 1:-1] + t[2:, 1:-1, 1:-1] + t[1:-1, :-2, 1:-1] + t[1:-1, 2:, 1:-1]
    return _inside(o, rows + t[1:-1, 1:-1, :-2] + t[1:-1, 1:-1, 2:] - 6 * inside)


def _bilateral(o, t):
    """Of the nine neighbours that there are, by how near their values are."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(t, 1, constant_values=np.nan), (3, 3))
    weights = np.exp(-4 * (around - t[..., None, None]) ** 2)
    return np.nansum(weights * around, (-2, -1)) / np.nansum(weights, (-2, -1))


def _sobel(o, t):
    w = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
    x, y = _filtered(t, w), _filtered(t, np.ascontiguousarray(w.T))
    return _inside(o, np.where(x * x + y * y > 1, np.uint8(255), np.uint8(0)))


def _yuv(o, x):
    return x @ np.array([[0.299, -0.147, 0.615], [0.587, -0.289, -0.515], [0.114, 0.436, -0.1]], np.float32)


def _complex(o, x, y):
    product = (x[:, 0] + 1j * x[:, 1]) * (y[:, 0] + 1j * y[:, 1])
    return np.stack([product.real, product.imag], 1)


def _median(o, t):
    return _inside(o, np.median(np.lib.stride_tricks.sliding_window_view(t, (3, 3)), (-2, -1)))


REFERENCES: dict[str, Reference] = {
    "heat": _heat,
    "clamped": lambda o, t: _neighbours(np.pad(t, 1, "edge")),
    "periodic": lambda o, t: _neighbours(np.pad(t, 1, "wrap")),
    "zeros outside": lambda o, t: _neighbours(np.pad(t, 1)),
    "box": lambda o, t, w: _inside(o, _filtered(t, w)),
    "box, zeros outside": lambda o, t, w: _filtered(np.pad(t, 1), w),
    "row sum": lambda o, x: x.sum(1),
    "row maximum": lambda o, x: x.max(1),
    "argmax": lambda o, x: x.argmax(1),
    "softmax": _softmax,
    "column sum": lambda o, x: x.sum(0),
    "product": lambda c, a, b: a @ b,
    "axpy": lambda o, x, y: 2.5 * x + y,
    "volume": lambda o, t: 2 * t + 1,
    "distances": lambda o, x, y: np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)),
    "gravity": _gravity,
    "convolution NHWC": _nhwc,
    "convolution NCHW": _nchw,
    "blur of bytes": _blur,
    "grey of bytes": lambda o, t, w: t.astype(np.float32) @ w,
    "table": lambda o, t, w: w[t],
    "unit vectors": lambda o, x: x / np.sqrt((x * x).sum(1, keepdims=True)),
    "sums of groups": lambda o, x: x.sum(1),
    "running sum": lambda o, x: np.cumsum(x, 1, dtype=np.float64),
    "running sum, down": lambda o, x: np.cumsum(x, 0, dtype=np.float64),
    "sweep of layers": _decaying,
    "product by b.T": lambda c, a, b: a @ b.T,
    "matrix times vector": lambda y, a, x: a @ x,
    "spread of values": lambda o, x: ((x[:, None] - x[None]) ** 2).sum(1),
    "differences": lambda o, x: np.diff(x),
    "sum of cast": lambda o, x: x.astype(np.int32).sum(1),
    "histogram": lambda c, x: np.bincount(x.ravel(), minlength=256),
    "weights in bins": lambda c, x, w: np.bincount((x * 64).astype(int), w.astype(np.float64), 64),
    "permutation": lambda o, x, p, q: x[p],
    "curve": _curve,
    "filter of bytes": lambda o, t, w: _inside(o, np.clip(_filtered(t, w), 0, 255).astype(np.uint8)),
    "rotated points": lambda o, x, m: x @ m.T,
    "mean of two by two": lambda o, x: x.reshape(len(o), 2, -1, 2).mean((1, 3)),
    "leaky relu": lambda o, x: np.where(x > 0, x, 0.1 * x),
    "elu": lambda o, x: np.where(x > 0, x, np.expm1(x)),
    "count above": lambda o, x: (x > 0.75).sum(1),
    "sum of positive": lambda o, x: np.maximum(x, 0).sum(1),
    "variance": lambda o, x: x.var(1),
    "layer norm": _normalised,
    "mandelbrot": _escapes,
    "transposition": lambda o, x: x.T,
    "skinny product": lambda c, a, b: a @ b,
    "product with a view": lambda c, a, b: a @ b,
    "depthwise filter": _depthwise,
    "filter of a line": lambda o, x, w: _inside(o, _filtered(x, w)),
    "seven points": _seven,
    "bodies": _bodies,
    "steps of a rod": _rod,
    "bilateral": _bilateral,
    "sobel": _sobel,
    "yuv": _yuv,
    "pooling": lambda o, x: np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))[:, ::2, ::2].max(
        (3, 4)
    ),
    "median": _median,
    "nearest": lambda o, x, y: ((x[:, None] - y[None]) ** 2).sum(-1).argmin(1),
    "sparse rows, padded": lambda o, v, c, x: np.where(c >= 0, v * x[c], 0).sum(1),
    "running maximum": lambda o, x: np.maximum.accumulate(x, 1),
    "complex product": _complex,
    **GRID_REFERENCES,
    **LINE_REFERENCES,
    **SMALL_REFERENCES,
    **COMMON_REFERENCES,
    **PART_REFERENCES,
    **SHARED_REFERENCES,
    **SCAN_REFERENCES,
    **JOINED_REFERENCES,
    **LAUNCH_REFERENCES,
    "polynomial": lambda o, x, c: np.polyval(c[::-1].astype(np.float64), x),
}
"""By the names of computations."""
