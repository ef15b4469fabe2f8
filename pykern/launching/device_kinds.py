"""The short way of a launch on a device: calls of a kind that was launched before.

Comes in: the values of a call. Goes out: a key that decides the code, and the slots of the arguments, without
specs, sources or hashes of them. None where a call needs a closer look: structs, NumPy arrays, borrowed or
shared memory, static parameters, annotated lengths. Then `pykern.launching.on_device` goes the long way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pykern.arrays.array import Array
from pykern.arrays.view import covered
from pykern.data.abi import MANY_ITEMS, SMALL_COUNT
from pykern.data.index_space import Extent, LaunchShape
from pykern.data.target import Target, parse
from pykern.launching.bounds import launch_numbers
from pykern.launching.scalar_arguments import scalar_bits
from pykern.runtime.driver import Memory
from pykern.runtime.written import overlaps_itself
from pykern.types import ArrayAnnotation, IntentAnnotation, static

if TYPE_CHECKING:
    from pykern.data.artifact import Artifact
    from pykern.launching.launched import LaunchedKernel
    from pykern.runtime.registry import Opened
    from pykern.runtime.stream import Stream

_NUMBERS = (float, int, bool)
ADDRESSED = ("nvvm", "rocdl")
ALIGNMENT = 16
SMALL = SMALL_COUNT
"""Elements from the first to the last of an array, for code that computes positions in 32 bits."""


def known_kind(
    kernel: LaunchedKernel, opened: Opened, values: list[tuple[str, Any]], shape: LaunchShape
) -> Any:
    """What decides the code of a call, as something to look up; None where it takes a closer look."""
    kinds: list[Any] = []
    seen = []
    for name, value in values:
        annotation = kernel.annotations.get(name)
        if annotation is not None and _decides(annotation):
            return None
        if type(value) is Array:
            allocation = value._allocation
            if allocation.pool is not opened.pool or any(allocation is other for other in seen):
                return None
            seen.append(allocation)
            kinds += _described(value)[0], facts(value)
            if kinds[-2] is None:
                return None
        elif type(value) is int and not -(2**63) <= value < 2**63:
            return None
        elif type(value) in _NUMBERS or isinstance(value, np.generic):
            kinds.append(type(value))
        else:
            return None
    # Where a launch's lengths are facts for the compiler, they are part of its kind.
    counts = shape.counts if kernel.ndrange is not None or kernel.derivatives else len(shape.counts)
    function, _ = kernel.captured()
    whole = _is_whole(shape.space, opened.info.max_grid)
    sizes = _is_small(shape.space), whole, _are_alike(value for _, value in values), _are_many(shape.space)
    launch = counts, shape.plain, shape.unit, sizes, shape.workgroup, shape.shared is None
    return opened.name, id(function), function.name, launch, tuple(kinds)


def known_arguments(kernel: LaunchedKernel, values: list[tuple[str, Any]], artifact: Artifact) -> Any:
    """The arguments of a call that `known_kind` has a key for, once the stream is known."""
    assert artifact.device is not None
    offsets = artifact.device.offsets

    def slots(stream: Stream) -> list[Memory | int]:
        found: list[Memory | int] = []
        for name, value in values:
            if type(value) is Array:
                found += memory_and_slots(value, stream, offsets)
            else:
                found.append(scalar_bits(name, value, kernel.annotations.get(name)))
        return found

    return slots


def known_numbers(kernel: LaunchedKernel, values: list[tuple[str, Any]], shape: LaunchShape) -> list[int]:
    """The numbers by which the launch is checked: see `pykern.data.launch_bounds`."""
    numbers: list[int] = []
    for name, value in values:
        if type(value) is Array:
            numbers += value.shape
        else:
            numbers.append(scalar_bits(name, value, kernel.annotations.get(name)))
    return numbers + launch_numbers(shape)


def memory_and_slots(array: Array, stream: Stream, offsets: bool) -> list[Memory | int]:
    """An array as arguments: its memory, lengths and, where it is not dense, strides.

    Where there are no offsets the memory begins at the array.
    """
    memory = array._allocation.used_on(stream.native)
    _, first, lengths = _described(array)
    if offsets:
        return [memory, first, *lengths]
    if array.offset:
        memory = Memory(memory.handle, memory.nbytes - array.offset, memory.address + array.offset)
    return [memory, *lengths]


def _described(array: Array) -> tuple[Any, int, tuple[int, ...]]:
    """Kind, first element and lengths (and strides) of an array; made once."""
    if array._described is None:
        size = array.itemsize
        strided = not array.contiguous
        strides = tuple(s // size for s in array.strides) if strided else ()
        odd = array.offset % size or any(s % size for s in array.strides)
        apart = not strided or not overlaps_itself(array.geometry())
        fixed = array._allocation.borrowed or odd or array.readonly or not apart
        kind = None if fixed else (array.dtype.name, array.ndim, strided)
        array._described = (kind, array.offset // size, (*array.shape, *strides))
    return array._described


def facts(array: Array) -> tuple[bool, bool]:
    """Whether it begins at a multiple of 16 bytes, and whether positions of its elements fit in 32 bits."""
    if array._facts is None:
        low, high = covered(array)
        address = array.memory.address + array.offset
        aligned = bool(array.memory.address) and address % ALIGNMENT == 0
        # Devices without addresses count from the start of the memory, others from the first element.
        array._facts = aligned, max(high, array.offset - low) // array.itemsize < SMALL
    return array._facts


def fitted(
    name: str, arrays: Iterable[Array], space: tuple[Extent, ...], max_grid: tuple[int, ...] = (0, 0, 0)
) -> Target:
    """The target of a device, by name, with what is true of a launch: code that relies on it is compiled when it is
    first launched. `max_grid`: how many groups the device takes in one grid."""
    target, arrays = parse(name), list(arrays)
    if target.family not in (*ADDRESSED, "spirv"):
        return target
    told = [facts(array) for array in arrays]
    return replace(
        target,
        aligned=target.family in ADDRESSED and all(aligned for aligned, _ in told),
        small=_is_small(space) and all(small for _, small in told),
        whole=_is_whole(space, max_grid),
        alike=bool(space) and _are_alike(arrays),
        many=has_many(target) and _are_many(space),
    )


def suits(target: Target, array: Array) -> bool:
    """Whether what code for `target` relies on is true of an array."""
    aligned, small = facts(array)
    return (aligned or not target.aligned) and (small or not target.small)


def _is_small(space: tuple[Extent, ...]) -> bool:
    return all(extent.count <= SMALL_COUNT for extent in space)


def has_many(target: Target) -> bool:
    """Whether there is code for launches of many work-items, beside that for few."""
    return target.family in ADDRESSED


def _are_many(space: tuple[Extent, ...]) -> bool:
    return math.prod(extent.count for extent in space) >= MANY_ITEMS


def _is_whole(space: tuple[Extent, ...], max_grid: tuple[int, ...]) -> bool:
    """Whether a grid of groups of one work-item would not be cut along y and z, where there are these."""
    if len(space) < 2:
        return False
    *outer, y = [extent.count for extent in space[:-1]]
    return y <= max_grid[1] and math.prod(outer) <= max_grid[2]


def _are_alike(values: Iterable[Any]) -> bool:
    """Whether dense arrays of a rank have the same lengths, and there are several."""
    lengths: dict[int, tuple[int, ...]] = {}
    several = False
    for value in values:
        if type(value) is Array and value.ndim > 1 and value.contiguous:
            several = several or value.ndim in lengths
            if lengths.setdefault(value.ndim, value.shape) != value.shape:
                return False
    return several


def _decides(annotation: Any) -> bool:
    """Whether an annotation makes the value part of the kind, or asks for certain lengths."""
    if isinstance(annotation, IntentAnnotation):
        annotation = annotation.of
    if isinstance(annotation, ArrayAnnotation):
        return any(length is not None for length in annotation.shape)
    return annotation is static
