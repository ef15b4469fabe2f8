"""The reference device: the kernel's own Python function, one work-item at a time.

Comes in: the function, its arguments, the index space. Breakpoints, prints and exceptions are where the
user wrote them. Groups run in row-major order, and so do the work-items of a group; a work-item that has
returned counts as having reached every further barrier. A kernel without barriers and collectives is
a plain loop in the calling thread; otherwise read on in `reference_group`. Arrays are `reference_array`,
numbers `reference`.

Operators and functions of numbers are those of compiled kernels (`pykern.launching.reference_rewrite`); the power of
Python's own integers and arithmetic between numbers that are written stay Python's.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pykern.data.locations import SourceSpan
from pykern.errors import (
    NEGATIVE_POWER,
    WORKGROUP,
    AssertionFailed,
    KernelError,
    KernelTypeError,
    LaunchError,
)
from pykern.runtime import reference
from pykern.runtime.deadline import Deadline
from pykern.runtime.races import Races
from pykern.runtime.reference import Launch
from pykern.runtime.reference_array import ReferenceArray
from pykern.runtime.reference_group import Group, WorkItem
from pykern.runtime.reference_names import SHARED_NAMES, meets
from pykern.runtime.reference_place import span_of
from pykern.types import DType, IntentAnnotation, named_type, static

DEFAULT_GROUPS = {1: (64,), 2: (8, 8), 3: (4, 4, 4)}

MOST_ITEMS = 1024
"""Work-items of a group that shares memory, as many as GPUs have at most."""


def run(
    function: Any,
    args: list[Any],
    *,
    ndrange: tuple[tuple[int, int, int], ...],
    workgroup: tuple[int, ...] = (),
    debug: bool = False,
    shared_bytes: int | None = None,
    subgroup_size: int = 32,
    nan: bool = False,
    races: bool = False,
    timeout: float | None = None,
    annotations: Mapping[str, Any] | None = None,
    rewrite: Callable[[Any], Any] = lambda function: function,
    refused: Mapping[str, LaunchError] | None = None,
    from_end: frozenset[tuple[str, int, int, int]] | None = None,
) -> None:
    """Run a launch. `ndrange` holds (start, step, count) per dimension.
    `rewrite` gives the function that computes by the rules of kernels; `refused`: what writing an
    array of this name raises; `from_end`: where constants count from the end, if the compiler has looked at them.

    Raises what the kernel raises; an access outside of an array is `OutOfBounds`, a failed assert
    `AssertionFailed`. With `debug`, shared and private memory begin as NaN or nonsense. With `nan`, an operation that
    makes a NaN is `NotANumber`; with `races`, accesses without an order are a `DataRace`; a launch of more than
    `timeout` seconds is `TimedOut`.
    """
    rank = len(ndrange)
    counts = tuple(count for _, _, count in ndrange)
    size = workgroup or DEFAULT_GROUPS.get(rank, (1,) * (rank - 1) + (64,))
    known = annotations or {}
    statics = frozenset(name for name, annotation in known.items() if annotation is static)
    if math.prod(size) > MOST_ITEMS and meets(function, names=SHARED_NAMES):
        raise LaunchError(
            f"a group of {math.prod(size)} work-items, and most devices have at most {MOST_ITEMS} in one",
            hint="give a smaller workgroup=",
            code=WORKGROUP,
        )
    noted = Races() if races else None
    launch = Launch(
        counts, size, subgroup_size, debug, shared_bytes,
        static=statics, from_end=from_end, nan=nan, races=noted,
    )  # fmt: skip
    deadline = Deadline(timeout)
    if shared_bytes is not None and not meets(function, names=SHARED_NAMES):
        raise _unwanted(function)
    positional = function.__code__.co_argcount
    names = function.__code__.co_varnames[: positional + function.__code__.co_kwonlyargcount]
    whole = refused or {}
    wrapped = [_wrap(value, name, whole, known.get(name)) for value, name in zip(args, names, strict=True)]
    named = dict(zip(names[positional:], wrapped[positional:], strict=True))

    runs = rewrite(function)

    def call(item: WorkItem) -> None:
        token = reference.enter(item)
        try:
            with np.errstate(all="ignore"), deadline.watched():
                runs(*wrapped[:positional], **named)
        finally:
            reference.leave(token)

    try:
        _groups(launch, ndrange, call, meets(function))
        if shared_bytes is not None and all(counts) and not launch.sized:
            raise _unwanted(function)
    except KernelError as error:
        if error.span is None:
            error.span = span_of(error.__traceback__)
        raise
    except ValueError as error:
        if "negative integer powers" not in str(error):
            raise
        raise AssertionFailed(f"assertion failed: {NEGATIVE_POWER}", span_of(error.__traceback__)) from error
    except TypeError as error:
        if "numpy boolean" not in str(error) and "'positive'" not in str(error):
            raise
        raise _of_bools(str(error), span_of(error.__traceback__)) from error
    except AssertionError as error:
        reason = f"assertion failed: {error}" if str(error) else "assertion failed"
        raise AssertionFailed(reason, span_of(error.__traceback__)) from error


def _of_bools(reason: str, span: SourceSpan | None) -> KernelTypeError:
    """NumPy's refusal of ``-`` between or before bools, and of ``+`` before one, as compiled kernels tell it."""
    if "positive" in reason:
        return KernelTypeError("`+` takes a number, not bool", span, "use int(a)")
    if "negative" in reason:
        return KernelTypeError("`-` takes a number, not bool", span, "use `not a`, or -int(a)")
    return KernelTypeError(
        "`-` takes numbers, not bool and bool", span, "use a ^ b or a != b, or int(a) - int(b)"
    )


def _unwanted(function: Any) -> LaunchError:
    return LaunchError(
        f"`{function.__name__}` is launched with shared_bytes, and has no shared array to size by it",
        hint="write pk.shared(None, dtype) in the kernel, or leave shared_bytes out",
    )


def _groups(launch: Launch, ranges: Any, call: Callable[[WorkItem], None], barriers: bool) -> None:
    for group in _places(launch.groups):
        items = (WorkItem(launch, ranges, group, local) for local in _locals(launch, group))
        if barriers:
            Group(list(items), call).run()
        else:
            for item in items:
                call(item)


def _places(lengths: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All coordinates, the last one fastest; one after the other, as there may be more than memory holds."""
    if not lengths:
        yield ()
        return
    for first in range(lengths[0]):
        for others in _places(lengths[1:]):
            yield first, *others


def _locals(launch: Launch, group: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Local coordinates of a group's work-items that are inside of the ndrange."""
    active = (
        range(min(w, n - g * w)) for n, w, g in zip(launch.counts, launch.workgroup, group, strict=True)
    )
    return itertools.product(*active)


def _wrap(value: Any, name: str, refused: Mapping[str, LaunchError], annotation: Any = None) -> Any:
    """An argument as the kernel sees it: arrays behind the rules, scalars as annotated, structs inside."""
    reads = writes = True
    if isinstance(annotation, IntentAnnotation):
        reads, writes, annotation = annotation.reads, annotation.writes, annotation.of
    if isinstance(value, np.ndarray):
        return ReferenceArray(value, name, reads, writes, refused.get(name))
    if isinstance(value, bool | int | float | np.generic):
        if isinstance(annotation, DType):
            return annotation.numpy.type(value)
        if annotation in (int, float, bool):
            return annotation(value)
        return np.uint64(value) if type(value) is int and value >= 2**63 else value
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None) or range(len(value))
        items = [_wrap(item, f"{name}.{n}", refused) for n, item in zip(names, value, strict=True)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        wrapped = copy.copy(value)
        for field in dataclasses.fields(value):
            inner = _wrap(getattr(value, field.name), f"{name}.{field.name}", refused)
            object.__setattr__(wrapped, field.name, inner)
        return wrapped
    return named_type(value) or value
