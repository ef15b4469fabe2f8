"""Copies between arrays of one device whose elements do not lie side by side: by a small kernel, element by element.

Comes in: two arrays of one shape and dtype. Goes out: the launch; the kernel is compiled once for each rank and size
of an element, which travels as an integer. False where the device has no such integer, or a kernel no such rank.
"""

from __future__ import annotations

from pykern.api.kernel import kernel
from pykern.arrays.copying import as_integers
from pykern.arrays.view import ArrayView
from pykern.language import index
from pykern.runtime.stream import Stream

MOST_DIMENSIONS = 4


@kernel
def copy_1(to, source):
    i = index()
    to[i] = source[i]


@kernel
def copy_2(to, source):
    i, j = index()
    to[i, j] = source[i, j]


@kernel
def copy_3(to, source):
    i, j, k = index()
    to[i, j, k] = source[i, j, k]


@kernel
def copy_4(to, source):
    i, j, k, n = index()
    to[i, j, k, n] = source[i, j, k, n]


_KERNELS = {1: copy_1, 2: copy_2, 3: copy_3, 4: copy_4}


def copied_by_kernel(to: ArrayView, source: ArrayView, stream: Stream, waits: bool) -> bool:
    """Copy; `waits` makes the copy come after everything put so far into any stream that uses the arrays."""
    views = as_integers(to), as_integers(source)
    made = _KERNELS.get(to.ndim)
    if made is None or views[0] is None or views[1] is None:
        return False
    if to.size == 0:
        return True
    if waits:
        to._allocation.wait_for_users(stream.native)
        source._allocation.wait_for_users(stream.native)
    made(*views, ndrange=to.shape, stream=stream)
    return True
