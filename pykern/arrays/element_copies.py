"""Copies between arrays of one device whose elements do not lie side by side: by a small kernel, element by element.

Comes in: two arrays of one shape and dtype. Goes out: the launch; the kernel is compiled once for each rank and size
of an element, which travels as an integer. False where the device has no such integer, or a kernel no such rank.
"""

from __future__ import annotations

import numpy as np

import pykern as pk
from pykern.arrays.array import Array
from pykern.runtime import registry
from pykern.runtime.stream import Stream

MOST_DIMENSIONS = 4


@pk.kernel
def copy_1(to, source):
    i = pk.index()
    to[i] = source[i]


@pk.kernel
def copy_2(to, source):
    i, j = pk.index()
    to[i, j] = source[i, j]


@pk.kernel
def copy_3(to, source):
    i, j, k = pk.index()
    to[i, j, k] = source[i, j, k]


@pk.kernel
def copy_4(to, source):
    i, j, k, n = pk.index()
    to[i, j, k, n] = source[i, j, k, n]


_KERNELS = {1: copy_1, 2: copy_2, 3: copy_3, 4: copy_4}


def copied_by_kernel(to: Array, source: Array, stream: Stream, waits: bool) -> bool:
    """Copy; `waits` makes the copy come after everything put so far into any stream that uses the arrays."""
    views = as_integers(to), as_integers(source)
    kernel = _KERNELS.get(to.ndim)
    if kernel is None or views[0] is None or views[1] is None:
        return False
    if to.size == 0:
        return True
    if waits:
        to._allocation.wait_for_users(stream.native)
        source._allocation.wait_for_users(stream.native)
    kernel(*views, ndrange=to.shape, stream=stream)
    return True


def as_integers(array: Array) -> Array | None:
    """The array with its elements as unsigned integers; None where its device has none of that size."""
    known = registry.split(array.device_name)[0] in registry.KINDS
    size = array.itemsize
    if not known or size not in (1, 2, 4, 8) or array.offset % size or any(s % size for s in array.strides):
        return None
    dtypes = registry.info(array.device_name).dtypes
    if dtypes and f"u{8 * size}" not in dtypes:
        return None
    return Array(array._allocation, array.shape, np.dtype(f"u{size}"), array.strides, array.offset)
