"""Kernels that the tests of the explorer look into, each with arguments and index space."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from dataclasses import dataclass
from typing import Any

import pykern as pk
from pykern.explorer.data import Exploration
from pykern.explorer.explore import of_kernel


@pk.func
def weight(d):
    return 1.0 / (1.0 + d * d)


@pk.kernel
def saxpy(z, x, y, a):
    i = pk.index()
    z[i] = a * x[i] + y[i]


@pk.kernel
def heat(t2, t, c, dt, n, m):
    i, j = pk.index()
    if 0 < i < n - 1 and 0 < j < m - 1:
        t2[i, j] = t[i, j] + dt * c[i, j] * (
            t[i + 1, j] - 2 * t[i, j] + t[i - 1, j]
            + t[i, j + 1] - 2 * t[i, j] + t[i, j - 1]
        )  # fmt: skip


@pk.kernel
def matmul(c, a, b, n):
    i, j = pk.index()
    total = 0.0
    for k in range(n):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@pk.kernel
def matmul_by_rows(c, a, b, n):
    i, j = pk.index()
    total = 0.0
    for k in range(n):
        total += a[i, k] * b[k, j]
    c[j, i] = total + 1.0


@pk.kernel
def smooth(y, x, n):
    i = pk.index()
    s = 0.0
    for k in range(-2, 3):
        if 0 <= i + k < n:
            s += weight(k) * x[i + k]
    y[i] = pk.exp(s)


@pk.kernel
def histogram(h, x):
    i = pk.index()
    pk.atomic_add(h, x[i] % 16, 1)


@pk.kernel
def hostile(y, x):
    i = pk.index()
    # </script><script>window.hostile = 1</script> <!-- ]]> & "quotes" 🙂 <img src=x onerror="window.hostile=1">
    assert x[i] == x[i], "</script><script>window.hostile = 1</script>"
    y[i] = x[i] + 1


@dataclass(frozen=True)
class Sample:
    """A call to look at."""

    kernel: Any
    args: tuple[Any, ...]
    ndrange: tuple[str, ...]

    def look(self, target: str, **keywords: Any) -> Exploration:
        return _look(self, target, tuple(keywords.items()))

    def line(self, text: str) -> int:
        """The line of the kernel's file with `text` in it."""
        source = self.kernel.lower(*self.args, ndrange=self.ndrange).source.function
        rows = source.text.splitlines()
        return source.first_line + next(n for n, row in enumerate(rows) if text in row)


@functools.cache
def _look(sample: Sample, target: str, keywords: tuple[tuple[str, Any], ...]) -> Exploration:
    return of_kernel(sample.kernel, *sample.args, ndrange=sample.ndrange, target=target, **dict(keywords))


def vector(dtype=pk.f32):
    return pk.spec(("n",), dtype)


MATRIX = pk.spec(("n", "m"), pk.f32)
SAMPLES = {
    "saxpy": Sample(saxpy, (vector(), vector(), vector(), pk.f32), ("n",)),
    "heat": Sample(heat, (MATRIX, MATRIX, MATRIX, pk.f32, pk.i64, pk.i64), ("n", "m")),
    "matmul": Sample(matmul, (MATRIX, MATRIX, MATRIX, pk.i64), ("n", "m")),
    "smooth": Sample(smooth, (vector(), vector(), pk.i64), ("n",)),
    "histogram": Sample(histogram, (vector(pk.i32), vector(pk.i32)), ("n",)),
}
HOSTILE = Sample(hostile, (vector(), vector()), ("n",))
# a file of its own: nobody wants a line of ten thousand columns in this one
_WIDE = (
    "pk = __import__('pykern')\n@pk.kernel\ndef wide(y, x):\n    i = pk.index()\n    y[i] = x[i]{}\n".format(
        " + x[i] * 1.0" * 40 + "  # " + "long " * 2_500
    )
)


def _wide() -> Any:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "wide.py")
    with open(path, "w") as file:
        file.write(_WIDE)
    names: dict[str, Any] = {}
    exec(compile(_WIDE, path, "exec"), names)
    return names["wide"]


LONG = Sample(_wide(), (vector(), vector()), ("n",))
