"""The way of a launch on a device with a driver: arguments to memory and slots, groups, reports.

Comes in: the values of a call and the device they were bound for. Goes out: an `Event`. NumPy arguments are
copied to the device, and back where the kernel writes them: right, and slow; then the call waits.
The order of the slots is that of `pykern.data.abi`, "Device code".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pykern.arrays.array import Array
from pykern.arrays.creation import array as copied
from pykern.arrays.creation import from_dlpack
from pykern.arrays.foreign import element_type
from pykern.data.abi import GRID_AXES, array_slots, grid_axes
from pykern.data.artifact import Artifact, DeviceCode
from pykern.data.index_space import LaunchShape
from pykern.data.launch_bounds import refuse_outside
from pykern.data.source import ArgSpec, ArraySpec, KernelSource, ScalarSpec, leaves
from pykern.errors import DIFFERENT_DEVICES, WORKGROUP, DeviceError, LaunchError
from pykern.launching.arguments import Passed, is_array, pass_value
from pykern.launching.bounds import given_numbers
from pykern.launching.checks import check_writable_arrays, note_writes, overlap_in_part, overlapping_arrays
from pykern.launching.device_entries import offer, register
from pykern.launching.device_kinds import fitted, known_arguments, known_kind, known_numbers, memory_and_slots
from pykern.launching.device_report import Report
from pykern.launching.device_tape import TapeArguments, TapedLaunch, told_by_slots
from pykern.launching.launch_kind import LaunchKind
from pykern.launching.repeats import Put, Repeats
from pykern.launching.warned import warn
from pykern.runtime.driver import Memory
from pykern.runtime.event import COMPLETED, Event
from pykern.runtime.graph import current_graph, refuse_in_graph
from pykern.runtime.other_libraries import is_opencl_array, is_opencl_memory
from pykern.runtime.registry import Opened
from pykern.runtime.registry import opened as opened_device
from pykern.runtime.stream import Stream, checked_stream
from pykern.types import BY_NAME

if TYPE_CHECKING:
    from pykern.launching.launch import Launcher, OnDevice
    from pykern.launching.launched import LaunchedKernel

Triple = tuple[int, int, int]
Slots = Callable[[Stream], "list[Memory | int]"]


@dataclass
class Places:
    """Where the arrays of a call lie: each `pk.Array` as it is, of others a copy, one for each view."""

    device: str
    may_copy: bool
    arrays: list[Array] = field(default_factory=list)
    hosts: list[np.ndarray | None] = field(default_factory=list)
    owners: list[Any] = field(default_factory=list)
    """What was passed for each array, or NumPy's view of it."""
    _copies: dict[tuple, Array] = field(default_factory=dict)

    def __call__(self, name: str, value: Any) -> np.ndarray | None:
        """The geometry of an array on the device; None for what is no array."""
        if isinstance(value, Array) and value.device_name != "cpu":
            self._add(value, None, value)
        elif (host := is_array(name, value)) is None:
            return None
        elif isinstance(host, np.ndarray):
            element_type(name, host.dtype)
            self._add(self._copy(name, host), host, host)
        elif is_opencl_array(value) or is_opencl_memory(value):
            from pykern.arrays.opencl import taken  # here: seldom

            self._add(taken(name, value), None, value)
        else:
            self._add(from_dlpack(value), None, value)
        array = self.arrays[-1]
        if array.device_name != self.device:
            raise DeviceError(
                f"`{name}` lives on {array.device_name}, and this launch runs on {self.device}",
                hint=f"move it: {name.partition('.')[0]}.to({self.device!r})",
                code=DIFFERENT_DEVICES,
            )
        array.memory  # noqa: B018 - a freed array is refused here
        return array.geometry()

    def _add(self, array: Array, host: np.ndarray | None, owner: Any) -> None:
        self.arrays.append(array)
        self.hosts.append(host)
        self.owners.append(owner)

    def _copy(self, name: str, host: np.ndarray) -> Array:
        if not self.may_copy:
            raise DeviceError(
                f"`{name}` lives on cpu, and other arguments live on {self.device}",
                hint=f"move it: pk.asarray({name}, device={self.device!r}); or say device={self.device!r} "
                "in the launch: then it is copied there and back",
                code=DIFFERENT_DEVICES,
            )
        key = (host.ctypes.data, host.shape, host.strides, host.dtype)
        if key not in self._copies:
            refuse_in_graph("a call with NumPy arguments on a device")
            self._copies[key] = copied(host, device=self.device)
        return self._copies[key]


def launch(launcher: Launcher, where: OnDevice, values: list[tuple[str, Any]], shape: LaunchShape) -> Event:
    """Launch one index space. Raises what the arguments, the compiler or the driver raise."""
    kernel = launcher.kernel
    opened = opened_device(where.device)
    stream = checked_stream(where.stream, opened.name)
    key = None if launcher.cache.needs_lengths else known_kind(kernel, opened, values, shape)
    found = launcher.cache.on_devices.get(key) if key is not None else None
    if found is not None:
        warn(found.artifact, shape)
        if found.artifact.bounds.checks:
            found.refuse_outside(known_numbers(kernel, values, shape))
        slots = known_arguments(kernel, values, found.artifact)
        arrays = [value for _, value in values if type(value) is Array]
        event = _start(_work(launcher, found, arrays, slots, shape), stream, kernel.options.debug)
        _repeated(launcher, found, where.keywords, arrays)
        if opened.driver.direct is None and event is not COMPLETED and shape.shared is None:
            cache = launcher.cache
            cache.repeats = cache.repeats or Repeats()
            cache.repeats.record(_put(kernel, found, slots, shape, stream))
        return event
    places = Places(opened.name, where.may_copy)
    kind = kind_of(kernel, opened, values, shape, places)
    passed = kind.passed
    artifact, source = launcher.device_artifact(kind, opened.info.tuned_as)
    _check_writes(launcher, artifact, passed, places)
    warn(artifact, shape)
    code = DeviceKernel(opened, artifact, source)
    code.refuse_outside(given_numbers(passed, shape))
    note_writes(artifact.uses, places.owners)
    key = None if launcher.cache.needs_lengths else key
    if key is not None and key[1] == id(source.function):  # names may have changed meanwhile
        launcher.cache.on_devices[key] = code  # which keeps the function that the key holds the address of
    slots = _flattened(passed, places.arrays, artifact)
    work = _work(launcher, code, places.arrays, slots, shape)
    copied_back = [
        (host, array)
        for host, array, use in zip(places.hosts, places.arrays, artifact.uses, strict=True)
        if host is not None and use.writes
    ]
    copies = any(host is not None for host in places.hosts)
    event = _start(work, stream, copies or kernel.options.debug)
    for host, array in copied_back:
        np.copyto(host, array.numpy())
    if not copies:
        _repeated(launcher, code, where.keywords, places.arrays)
    return event


def kind_of(
    kernel: LaunchedKernel, opened: Opened, values: list[tuple[str, Any]], shape: LaunchShape, places: Places
) -> LaunchKind:
    """What kind a launch on a device is; `places` learns where its arrays lie."""
    passed = [pass_value(name, v, kernel.annotations.get(name), places) for name, v in values]
    for item in passed:
        check_dtypes(item.parameter.name, item.parameter.spec, opened)
    return LaunchKind(
        passed, shape, fitted(opened.info.target, places.arrays, shape.space, opened.info.max_grid)
    )


@dataclass(frozen=True)
class DeviceKernel:
    """What launches of a kind run on a device, and what that was made of."""

    opened: Opened
    artifact: Artifact
    source: KernelSource
    within: list[int] = field(default_factory=list, compare=False)
    """The numbers of the launch before, which was right."""

    def refuse_outside(self, numbers: list[int]) -> None:
        """Raise where a launch with these numbers goes outside of its arrays."""
        if numbers != self.within:
            refuse_outside(self.artifact.bounds, numbers)
            self.within[:] = numbers


def _put(
    kernel: LaunchedKernel, code: DeviceKernel, flattened: Slots, shape: LaunchShape, stream: Stream
) -> Put | None:
    """What a launch has put into its stream, where the next one like it can do the same."""
    opened, artifact = code.opened, code.artifact
    device = artifact.device
    assert device is not None
    if artifact.reports or device.tape is not None or kernel.options.debug:
        return None
    group, grid = _groups(artifact, shape)
    arguments, axes = [*flattened(stream), *shape.slots], grid_axes(len(shape.space))
    made = [([*arguments, *first[:axes]], part) for first, part in parts(grid, opened.info.max_grid)]
    return Put(stream, kernel.captured()[0], opened.driver, opened.code(artifact), made, group)


def _groups(artifact: Artifact, shape: LaunchShape) -> tuple[Triple, Triple]:
    """The size of a group, and how many there are."""
    assert artifact.device is not None
    covered = artifact.device.covered(artifact.workgroup)
    counts = tuple(-(-n // g) for n, g in zip(shape.counts, covered, strict=True))
    return along_axes(artifact.workgroup), along_axes(counts)


def _repeated(launcher: Launcher, code: DeviceKernel, keywords: frozenset[str], arrays: list[Array]) -> None:
    """Once more of a kind: the second launch makes its entry, and arrays are told to entries."""
    opened, artifact = code.opened, code.artifact
    if opened.driver.direct is None:
        return
    key = artifact.key, opened.name, keywords
    count = launcher.cache.counts.get(key, 0)
    if count < 2 and current_graph() is None:
        launcher.cache.counts[key] = count + 1
        if count == 1:
            offer(launcher, opened, artifact, code.source, keywords)
    elif current_graph() is None:
        launcher.cache.entries.refresh(code.source)
    if count >= 1:
        for array in arrays:
            if array._launch is None:
                register(array)


def _start(work: Callable[[Stream], None] | None, stream: Stream, waits: bool) -> Event:
    """Put the launch into the stream, or into the graph that is captured."""
    if work is None:
        return COMPLETED
    captured = current_graph()
    if captured is not None:
        captured.add(stream, work)
        return COMPLETED
    work(stream)
    event = stream.launched()
    if waits:
        event.wait()
    return event


def _work(
    launcher: Launcher, code: DeviceKernel, arrays: list[Array], flattened: Slots, shape: LaunchShape
) -> Callable[[Stream], None] | None:
    """What puts the launch into a stream; None where there are no work-items."""
    if shape.empty:
        return None
    opened, artifact = code.opened, code.artifact
    device = artifact.device
    assert device is not None
    loaded, slots = opened.code(artifact), shape.slots
    group, grid = _groups(artifact, shape)
    if math.prod(group) > opened.info.max_group:
        raise LaunchError(
            f"a group of {artifact.workgroup} is more than the {opened.info.max_group} work-items "
            f"that {opened.name} has in one",
            hint="give a smaller workgroup=",
            code=WORKGROUP,
        )
    _check_shared(opened, artifact, shape.shared or 0)
    sizes = [] if shape.shared is None else [shape.shared]
    axes = grid_axes(len(shape.space))

    def run(stream: Stream) -> None:
        arguments = flattened(stream)

        def attempt(tape: TapeArguments, most: Triple) -> Callable[[], None]:
            report = Report(opened, artifact, stream, launcher.kernel.text) if artifact.reports else None
            behind = report.arguments(device.offsets) if report is not None else []
            for first, part in parts(grid, most):
                opened.driver.launch(
                    stream.native,
                    loaded,
                    [*arguments, *sizes, *tape(first), *slots, *first[:axes], *behind],
                    part,
                    group,
                    dynamic_bytes(device, shape.shared),
                )
            return report.ask if report is not None else lambda: None

        if device.tape is None:
            attempt(lambda first: [], opened.info.max_grid)()
            return
        written = [array for array, use in zip(arrays, artifact.uses, strict=True) if use.writes]
        key = artifact.key, opened.name, told_by_slots(device.tape, device, arguments, [*sizes, *slots])
        TapedLaunch(opened, stream, device, grid, group, written, launcher.cache.tapes, key).run(attempt)

    return run


def dynamic_bytes(device: DeviceCode, shared: int | None) -> int:
    """What the launch adds to a group's shared memory; of several arrays each begins at a multiple of 16 bytes."""
    if not shared or device.dynamic_arrays == 1:
        return shared or 0
    return -(-shared // 16) * 16 * device.dynamic_arrays


def _check_shared(opened: Opened, artifact: Artifact, asked: int) -> None:
    """Refuse what a group cannot share: drivers tell it late, or not at all."""
    assert artifact.device is not None
    own, most = artifact.device.shared_bytes, opened.info.shared_bytes
    if most and own > most:
        raise LaunchError(
            f"`{artifact.kernel}` takes {own} bytes of shared memory, and {opened.name} has {most} for a group",
            hint="share less: a smaller pk.shared, a smaller workgroup",
        )
    left = most - own if most else asked
    room = artifact.resources.get("max_dynamic_shared")
    left = min(left, room) if isinstance(room, int) else left
    if asked > left:
        raise LaunchError(
            f"`{artifact.kernel}`: shared_bytes={asked}, and {left} are left for a group on {opened.name}",
            hint="share less, or in parts",
        )


# -- arguments -------------------------------------------------------------------------------------


def _flattened(passed: list[Passed], arrays: list[Array], artifact: Artifact) -> Slots:
    """The arguments in the order of `pykern.data.abi`, once the stream is known."""
    assert artifact.device is not None
    offsets = artifact.device.offsets

    def flattened(stream: Stream) -> list[Memory | int]:
        found: list[Memory | int] = []
        there = iter(arrays)
        for item in passed:
            slots = iter(item.slots)
            for spec in leaves(item.parameter.spec):
                if isinstance(spec, ScalarSpec):
                    found.append(next(slots))
                    continue
                found += memory_and_slots(next(there), stream, offsets)
                for _ in range(array_slots(spec.rank, spec.strided)):
                    next(slots)
        return found

    return flattened


EMULATED = ("bf16", "f8e4m3", "f8e5m2")
"""Kept as integers and computed in f32 where a device has no such type."""


def check_dtypes(name: str, spec: ArgSpec, opened: Opened) -> None:
    known = opened.info.dtypes
    for leaf in leaves(spec):
        if not known or not isinstance(leaf, ArraySpec) or leaf.dtype in EMULATED:
            continue
        if leaf.dtype not in known:
            float_ = "f32" if BY_NAME[leaf.dtype].is_float else "i32"
            raise DeviceError(
                f"`{name}` holds {leaf.dtype}, which {opened.name} ({opened.info.name}) does not compute with",
                hint=f"convert it: x.astype(np.{BY_NAME[float_].numpy.name})",
            )


def _check_writes(launcher: Launcher, artifact: Artifact, passed: list[Passed], places: Places) -> None:
    names = [item.parameter.name for item in passed for _ in item.arrays]
    check_writable_arrays(
        launcher.kernel.__name__,
        artifact.uses,
        [
            (name, array.geometry() if host is None else host)
            for name, array, host in zip(names, places.arrays, places.hosts, strict=True)
        ],
    )
    hosts = {n: h for n, h in enumerate(places.hosts) if h is not None}
    for a, b, same in overlapping_arrays(list(hosts.values())):
        numbers = list(hosts)
        first, second = numbers[a], numbers[b]
        if not same and (artifact.uses[first].writes or artifact.uses[second].writes):
            raise overlap_in_part(launcher.kernel.__name__, names[first], names[second])


# -- groups ----------------------------------------------------------------------------------------


def along_axes(sizes: tuple[int, ...]) -> Triple:
    """Sizes of dimensions as x, y, z: the last is x, all before the last two go along z."""
    x, y = sizes[-1], sizes[-2] if len(sizes) > 1 else 1
    return x, y, math.prod(sizes[:-2])


def parts(grid: Triple, most: Triple) -> Iterator[tuple[Triple, Triple]]:
    """A grid cut where it is longer than a device allows: the first group of each part, and its length."""
    ranges = [range(0, grid[axis], most[axis]) for axis in range(GRID_AXES)]
    for z, y, x in itertools.product(ranges[2], ranges[1], ranges[0]):
        first = (x, y, z)
        a, b, c = (min(grid[n] - first[n], most[n]) for n in range(GRID_AXES))
        yield first, (a, b, c)
