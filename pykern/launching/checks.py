"""What a launch is refused for: devices that differ, memory that it may not write, or that overlaps.

Comes in: the values of a call, and what the code does with its arrays. Goes out: the device of the launch, pairs of
arrays that share memory; else `DeviceError` or `LaunchError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from pykern.arrays.foreign import several_places
from pykern.data.artifact import ArgumentUse
from pykern.data.source import ArgSpec, ArraySpec, StructSpec
from pykern.errors import ARRAY_MEMORY, DIFFERENT_DEVICES, DeviceError, LaunchError
from pykern.launching.arguments import Passed, arrays_of, homes
from pykern.obtain.variant import Variant
from pykern.runtime.devices import checked, current_device
from pykern.runtime.written import note_write, overlaps_itself

SHARED_LIMIT = 1 << 30
"""Bytes of shared memory beyond which a launch is taken for a mistake: each thread has its own."""
OVERLAP_WORK: Any = 100_000
"""Steps spent on an exact answer whether two strided views share an element; beyond, they do."""


def shared_bytes(given: Any) -> int | None:
    """The checked `shared_bytes=` of a launch, None where there is none."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise LaunchError(
            f"shared_bytes is a number of bytes, not {given!r}",
            hint="write an integer, as in shared_bytes=4 * 256",
        )
    if not 0 <= given <= SHARED_LIMIT:
        raise LaunchError(f"shared_bytes={given!r} is outside of 0..{SHARED_LIMIT}", hint="ask for less")
    return int(given)


def device_of(values: list[tuple[str, Any]], given: Any, stream: Any) -> str:
    """The device of a launch: where its arrays live, else as asked for in the call, by its stream, or around it.

    Raises `DeviceError`, which names both, where these differ.
    """
    asked = None if given is None else checked(given)
    if stream is not None:
        home = getattr(stream, "device", None)
        if home is None:
            raise LaunchError(f"stream={stream!r} is no pk.Stream", hint="make one: pk.Stream(device)")
        if asked is not None and asked != home.name and not {asked, home.name} <= {"cpu", "python"}:
            raise DeviceError(
                f"the launch is asked for on {asked}, and its stream is on {home.name}",
                hint=f"make a stream there: pk.Stream({asked!r})",
                code=DIFFERENT_DEVICES,
            )
        asked = asked or home.name
    found = homes(values)
    if not found:
        return asked or current_device()
    names = list(found)
    for name in names:
        if found[name] != found[names[0]]:
            raise DeviceError(
                f"`{names[0]}` lives on {found[names[0]]}, and `{name}` on {found[name]}",
                hint=f"move one of them: {name}.to({found[names[0]]!r})",
                code=DIFFERENT_DEVICES,
            )
    if asked is not None and asked != found[names[0]]:
        raise DeviceError(
            f"`{names[0]}` lives on {found[names[0]]}, and the launch is asked for on {asked}",
            hint=f"move it: {names[0]}.to({asked!r})",
            code=DIFFERENT_DEVICES,
        )
    return found[names[0]]


def check_writable(variant: Variant, passed: list[Passed]) -> None:
    """Refuse read-only arrays that the kernel writes."""
    check_writable_arrays(variant.source.function.name, variant.artifact.uses, list(arrays_of(passed)))


def check_writable_arrays(
    kernel: str, uses: tuple[ArgumentUse, ...], arrays: list[tuple[str, np.ndarray]]
) -> None:
    """The same, for arrays with their names."""
    for (name, array), use in zip(arrays, uses, strict=True):
        if use.writes and not array.flags.writeable:
            raise LaunchError(
                f"`{name}` is read-only, and `{kernel}` writes it",
                hint=f"pass a copy: np.array({name}), or an array you own",
                code=ARRAY_MEMORY,
            )
        if use.writes and overlaps_itself(array):
            raise several_places(name, array, f"`{kernel}` writes it")


def overlap_in_part(kernel: str, first: str, second: str) -> LaunchError:
    """The error for two arguments that share some memory, of which the kernel writes one."""
    return LaunchError(
        f"`{first}` and `{second}` overlap in part, and `{kernel}` writes one of them",
        hint="pass a copy: x.copy()",
        code=ARRAY_MEMORY,
    )


def note_writes(uses: tuple[ArgumentUse, ...], arrays: Iterable[Any]) -> None:
    """Tell the owners of the arrays that are written."""
    for array, use in zip(arrays, uses, strict=True):
        if use.writes:
            note_write(array)


def names_in(spec: ArgSpec, name: str) -> Iterator[str]:
    """What the arrays of an argument are called."""
    if isinstance(spec, ArraySpec):
        yield name
    elif isinstance(spec, StructSpec):
        for field, inner in spec.fields:
            yield from names_in(inner, f"{name}.{field}")


def overlapping(passed: list[Passed]) -> Iterator[tuple[int, int, bool]]:
    """Pairs of arrays that share memory, by number, and whether they are one and the same view."""
    return overlapping_arrays([array for _, array in arrays_of(passed)])


def overlapping_arrays(arrays: list[np.ndarray]) -> Iterator[tuple[int, int, bool]]:
    """The same, for arrays."""
    for (a, x), (b, y) in combinations(enumerate(arrays), 2):
        if not np.may_share_memory(x, y):
            continue
        same = x.ctypes.data == y.ctypes.data and x.shape == y.shape and x.strides == y.strides
        if same or _share(x, y):
            yield a, b, same and x.dtype == y.dtype


def _share(x: np.ndarray, y: np.ndarray) -> bool:
    try:
        return np.shares_memory(x, y, max_work=OVERLAP_WORK)
    except np.exceptions.TooHardError:
        return True
