"""Compiled entries for launches on devices: from the second launch of a kind on, no Python runs between.

Comes in: a launch that went through Python, and its code. Goes out: an entry in the kernel object, bound to the
driver's functions, and the cells by which entries know arrays. Kinds that have none: kernels that report, take structs,
bring a tape or size shared memory, drivers without `Direct` (Vulkan). What an entry checks and calls:
`pykern.lowering.gpu.host_entry`.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pykern.arrays.array import Array
from pykern.arrays.view import covered
from pykern.data.abi import (
    ARRAY_CELLS,
    BIND_CELLS,
    MANY_ITEMS,
    MOST_COUNT,
    array_kind,
    array_slots,
    grid_axes,
)
from pykern.data.artifact import Artifact
from pykern.data.runtime_source import DeviceEntrySource
from pykern.data.source import ArraySpec, KernelSource, Parameter, ScalarSpec, StaticSpec
from pykern.data.target import CPU
from pykern.launching.device_kinds import facts, has_many
from pykern.obtain.code import compiled
from pykern.runtime.launchable import SUPPORTED
from pykern.runtime.loader import load_entry
from pykern.runtime.stream import default_stream
from pykern.runtime.written import overlaps_itself, owner_of
from pykern.types import NUMBERS, from_numpy

if TYPE_CHECKING:
    from pykern.launching.launch import Launcher
    from pykern.runtime.registry import Opened

_bound: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""The cells of entries, by address; in a child of a fork they take no call, and drivers say why."""
KEYWORDS = frozenset({"ndrange", "stream", "workgroup"})
"""What a call of an entry may name."""


def register(array: Array) -> None:
    """Let entries know an array: see `pykern.data.abi.ARRAY_CELLS`."""
    size, allocation = array.itemsize, array._allocation
    odd = array.offset % size or any(s % size for s in array.strides)
    direct = allocation.pool.driver.direct
    here = array.device_name == "cpu"
    dtype = from_numpy(array.dtype)
    if odd or dtype is None or (direct is None and not here):
        return
    if here and owner_of(array.geometry()) is not None:
        return  # its writes are counted, in Python
    strided = not array.contiguous
    low, high = covered(array)
    place = allocation.place
    users = allocation.users_cell()
    if here:
        assert allocation._users is not None
        allocation._users.value = -1
    memory = 0 if direct is None else direct.memory(allocation.memory)
    if direct is not None and direct.form == "addresses":
        memory += array.offset
    aligned, small = facts(array)
    fixed = array.readonly or (strided and overlaps_itself(array.geometry()))  # then no entry writes it
    cells = {
        "users": users,
        "kind": array_kind(
            NUMBERS[dtype.name], array.ndim, strided, allocation.pool.number, fixed, aligned, small
        ),
        "host": id(array.geometry()) if here else 0,  # kept by the array
        "memory": memory,
        "offset": array.offset // size,
        "low": place + low,
        "high": place + high,
    }
    words = [cells[name] for name in ARRAY_CELLS] + list(array.shape)
    words += [s // size for s in array.strides] if strided else []
    array._launch = bytes((ctypes.c_int64 * len(words))(*words))


def offer(
    launcher: Launcher, opened: Opened, artifact: Artifact, source: KernelSource, keywords: frozenset[str]
) -> None:
    """Put an entry in place for calls of this kind, where there can be one."""
    direct, device = opened.driver.direct, artifact.device
    if direct is None or device is None or not SUPPORTED or not _has_entry(source, artifact, keywords):
        return
    given = sorted(keywords & KEYWORDS)
    launch = source.launch if "workgroup" in given else replace(source.launch, workgroup=())
    parameters = tuple(_used(source.parameters, artifact))
    kernel = replace(
        source, parameters=parameters, launch=launch, passes=(), bounds=artifact.bounds, target=CPU
    )
    facts = source.target.facts
    made = compiled(DeviceEntrySource(kernel, direct.form, tuple(given), facts))
    handle, kept = direct.code(opened.code(artifact))
    try:
        entry = load_entry(made.binary)
    except OSError:  # there is no room for it: calls go through Python
        return
    size = artifact.workgroup
    x, y, z = size[-1], size[-2] if len(size) > 1 else 1, 1
    for n in size[:-2]:
        z *= n
    stream = default_stream(opened.name)
    values = {
        "device": opened.pool.number,
        "code": handle,
        "launch": direct.launch,
        "enter": direct.enter,
        "context": direct.context,
        "flush": direct.flush,
        "stream": ctypes.addressof(stream._cells),
        **dict(zip(("group_x", "group_y", "group_z"), (x, y, z), strict=True)),
        **dict(zip(("grid_x", "grid_y", "grid_z"), opened.info.max_grid, strict=True)),
        "least": MANY_ITEMS if source.target.many else 0,
        "most": MOST_COUNT if source.target.many or not has_many(source.target) else MANY_ITEMS - 1,
    }
    cells = [values[name] for name in BIND_CELLS] + list(device.covered(size))
    bound = (ctypes.c_int64 * len(cells))(*cells)
    entry.bind(bound)
    _bound[ctypes.addressof(bound)] = bound
    launcher.cache.entries.add_direct(entry.address, source, len(facts), (entry, bound, kept, artifact))


def _has_entry(source: KernelSource, artifact: Artifact, keywords: frozenset[str]) -> bool:
    device, launch = artifact.device, source.launch
    assert device is not None
    if not keywords <= KEYWORDS or artifact.reports or device.tape is not None or source.options.debug:
        return False
    if not source.noalias or not launch.plain or launch.shared or device.dynamic_shared:
        return False
    if "ndrange" not in keywords and launch.ndrange is None:
        return False
    if "workgroup" in keywords and not launch.workgroup:
        return False
    words = launch.rank + grid_axes(launch.rank)
    for parameter in source.parameters:
        spec = parameter.spec
        if isinstance(spec, ArraySpec):
            words += array_slots(spec.rank, spec.strided) + device.offsets
        elif isinstance(spec, ScalarSpec):
            words += 1
        elif not isinstance(spec, StaticSpec) or type(spec.value) is not int:
            return False
    return words == len(device.arguments)


def _used(parameters: tuple[Parameter, ...], artifact: Artifact) -> Any:
    """Parameters that say what the kernel does with them, not what it may do."""
    uses = iter(artifact.uses)
    for parameter in parameters:
        if isinstance(parameter.spec, ArraySpec):
            use = next(uses)
            yield replace(parameter, spec=_compared(parameter), reads=use.reads, writes=use.writes)
        else:
            yield parameter
    assert not list(itertools.islice(uses, 1)), "an array that no parameter is"


def _compared(parameter: Parameter) -> ArraySpec:
    """The array with the lengths that chose the code: the entry is for no others."""
    assert isinstance(parameter.spec, ArraySpec)
    return parameter.spec if parameter.annotated else replace(parameter.spec, shape=parameter.lengths)


def _let_go() -> None:
    for cells in _bound.values():
        cells[BIND_CELLS.index("device")] = -1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
