"""Arrays as kernels on the reference device see them: elements only, checked, stored by pykern's rules."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pykern.errors import KernelTypeError, LaunchError, OutOfBounds
from pykern.runtime import reference
from pykern.runtime.races import ATOMIC, READ, WRITE
from pykern.runtime.reference_indices import inside, whole_index
from pykern.runtime.reference_place import is_place, written_as_constant
from pykern.runtime.reference_rows import Rows, copied
from pykern.runtime.written import note_write, overlaps_itself
from pykern.types import DType, bool_, complex_type, from_numpy

ALONE = "alone"
"""Of memory that one work-item has for itself."""


class ReferenceArray(Rows):
    """A NumPy array behind the rules of kernels: full indices, nothing outside, no slices.

    A negative index is outside, unless it is written as a constant (``x[-1]``): then it counts from the
    end. That is told from the source, see `reference_place`.
    """

    __slots__ = (
        "_array",
        "_dtype",
        "_is_part",
        "_name",
        "_reads",
        "_refused",
        "_shared_by",
        "_told",
        "_writes",
    )

    def __init__(
        self,
        array: np.ndarray,
        name: str,
        reads: bool = True,
        writes: bool = True,
        refused: LaunchError | None = None,
        shared_by: Any = None,
    ) -> None:
        """`refused` is what writing it raises: another array lies over a part of it. `shared_by` is who accesses it:
        None for all work-items, a group, or `ALONE`."""
        dtype = from_numpy(array.dtype) or complex_type(array.dtype)
        if dtype is None:
            raise KernelTypeError(f"`{name}` holds {array.dtype}, which kernels do not support")
        self._array, self._name, self._dtype = array, name, dtype
        self._reads, self._writes = reads, writes
        self._refused, self._shared_by = refused, shared_by
        self._told = self._is_part = False

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self._array.shape

    @property
    def size(self) -> int:
        return self._array.size

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        return self._dtype

    def __getitem__(self, index: Any) -> Any:
        index = _without_whole(index, self._array.ndim)
        if self._is_of_part(index):
            return self._part(index)
        if not self._reads:
            raise KernelTypeError(
                f"`{self._name}` is annotated pk.Out: the kernel may not read it", hint="annotate it pk.InOut"
            )
        place = self._checked(index)
        self._note(READ, place)
        element = self._array[place]
        return np.float32(element) if self._dtype.is_storage else element

    def _is_of_part(self, index: Any) -> bool:
        items = index if isinstance(index, tuple) else (index,)
        return len(items) < self._array.ndim or any(isinstance(part, slice) for part in items)

    @property
    def T(self) -> Any:  # noqa: N802
        return self._view(self._array.T, f"{self._name}.T")

    def _part(self, index: Any) -> ReferenceArray:
        """``x[i]`` of an array with more dimensions, and slices: a view, which is indexed as an array of its own."""
        place = self._checked(index, whole=False)
        if not place:
            return self
        return self._view(self._array[place], f"{self._name}[{', '.join(map(_shown, place))}]")

    def _view(self, array: np.ndarray, name: str) -> ReferenceArray:
        part = ReferenceArray(array, name, self._reads, self._writes, self._refused, self._shared_by)
        part._is_part = True
        return part

    def __setitem__(self, index: Any, value: Any) -> None:
        index = _without_whole(index, self._array.ndim)
        if self._is_of_part(index):
            self._part(index).fill(value)
            return
        self._store(self._checked(index), value, WRITE)

    def fill(self, value: Any) -> None:
        """All elements: a number for each, or those of a row or tuple. Raises `KernelTypeError` for another shape, and
        for a whole array that other work-items have, too."""
        if not self._is_part and self._shared_by is not ALONE:
            raise KernelTypeError(f"each work-item would write all of {self!r}", hint="write x[i] = value")
        rank = value.ndim if isinstance(value, Rows) else int(isinstance(value, tuple))
        if rank > self.ndim:
            raise KernelTypeError(
                f"{value!r} has more dimensions than {self!r}", hint="write a loop over the rows"
            )
        if rank == self.ndim and len(value) != len(self):
            raise KernelTypeError(f"rows of {len(self)} and of {len(value)} elements do not go together",
                                  hint="give both the same length")  # fmt: skip
        if isinstance(value, Rows):
            value = copied(value)  # all is read before one is written
        for place in range(len(self)):
            item = value[place] if rank == self.ndim else value
            if self.ndim > 1:
                self._part(place).fill(item)
            else:
                self._store((place,), item, WRITE)

    def update(self, index: Any, change: Callable[[Any], Any]) -> Any:
        """Put ``change(old)`` in place of an element as one; gives the old value."""
        place = self._checked(index)
        old = self._array[place]
        old = np.float32(old) if self._dtype.is_storage else old
        self._store(place, change(old), ATOMIC)
        return old

    def _store(self, place: tuple[int, ...], value: Any, kind: str) -> None:
        if not self._writes:
            raise KernelTypeError(
                f"`{self._name}` is annotated pk.In: the kernel may not write it", hint="annotate it pk.InOut"
            )
        if not self._array.flags.writeable:
            raise LaunchError(
                f"`{self._name}` is read-only, and the kernel writes it",
                hint=f"pass a copy: np.array({self._name})",
            )
        if self._refused is not None:
            raise self._refused
        if not self._told:
            self._told = True
            if overlaps_itself(self._array):
                raise LaunchError(
                    f"`{self._name}` has several positions at one place in memory, and the kernel writes it",
                    hint=f"pass a copy: np.array({self._name})",
                )
            note_write(self._array)
        if not isinstance(value, bool | int | float | complex | np.generic):
            raise KernelTypeError(
                f"a scalar is needed here, not {type(value).__name__}", hint="write x[i] = a number, or a row"
            )
        if type(value) is int and self._dtype.is_integer and self._dtype != bool_:
            reference.refuse_unfit(value, self._dtype)
        made = reference.stored(value, self._dtype)
        self._note(kind, place, made)
        self._array[place] = made

    def _note(self, kind: str, place: tuple[int, ...], made: Any = None) -> None:
        """Tell who looks for races, where somebody does."""
        item = reference.current()
        if item is None or item.launch.races is None or self._shared_by is ALONE:
            return
        array = self._array
        address = array.__array_interface__["data"][0] + sum(map(operator.mul, place, array.strides))
        changes = kind != WRITE or made.tobytes() != array[place].tobytes()
        shown = f"`{self._name}[{', '.join(map(str, place))}]`"
        item.launch.races.touch(item, kind, (address, self._shared_by), shown, changes)

    def _checked(self, index: Any, whole: bool = True) -> tuple[Any, ...]:
        items = index if isinstance(index, tuple) else (index,)
        shape = self._array.shape if whole else self._array.shape[: len(items)]
        if len(items) != len(shape):
            raise KernelTypeError(
                f"`{self._name}` has {len(shape)} dimensions, and {len(items)} indices are given"
            )
        place: tuple[Any, ...] = tuple(
            self._within(item, d) if isinstance(item, slice) else self._integer(item)
            for d, item in enumerate(items)
        )
        if not all(isinstance(i, slice) or 0 <= i < n for i, n in zip(place, shape, strict=True)):
            self._refuse_outside(place)
        return place

    def _within(self, part: slice, dimension: int) -> slice:
        """A slice, which lies inside; a bound that is a negative constant counts from the end."""
        bounds = [self._integer(bound) for bound in (part.start, part.stop) if bound is not None]
        running = reference.current()
        if all(bound >= 0 or _counts_from_end(bound, dimension, running) for bound in bounds):
            return inside(part, self._array.shape[dimension])
        raise OutOfBounds(
            f"a slice of `{self._name}` begins or ends at {min(bounds)}",
            hint="a negative bound counts from the end where it is a constant",
        )

    def _integer(self, item: Any) -> int:
        if not isinstance(item, bool | np.bool_) and hasattr(item, "__index__"):
            return operator.index(item)
        raise KernelTypeError(
            f"`{self._name}` is indexed by {item!r}; an index must be an integer",
            hint="use pk.cast(x, pk.i64) to cut off the fraction",
        )

    def _refuse_outside(self, place: tuple[Any, ...]) -> None:
        """Raise, unless what is negative counts from the end."""
        shape = self._array.shape
        item = reference.current()
        if all(
            isinstance(i, slice) or (-n <= i < n and (i >= 0 or _counts_from_end(i, d, item)))
            for d, (i, n) in enumerate(zip(place, shape, strict=True))
        ):
            return
        shown = place[0] if len(place) == 1 else place
        whole = shape[0] if len(shape) == 1 else shape
        raise OutOfBounds(
            f"index {shown} is outside of `{self._name}`, whose shape is {whole}",
            hint="guard the access, or launch with a smaller ndrange",
        )

    def __repr__(self) -> str:
        return f"<{self._name}: {self._dtype.name}{list(self.shape)}>"


def _shown(part: Any) -> str:
    return f"{part.start}:{part.stop}" if isinstance(part, slice) else str(part)


def _without_whole(index: Any, rank: int) -> Any:
    """``x[i, :]`` is ``x[i]``; what `...` stands for in front of an index."""
    items = list(index) if isinstance(index, tuple) else [index]
    if any(part is Ellipsis for part in items):
        items = list(whole_index(index, rank))
    if len(items) > rank:
        return index
    while items and (items[-1] is Ellipsis or (isinstance(items[-1], slice) and items[-1] == slice(None))):
        items.pop()
    return tuple(items)


def _counts_from_end(index: int, dimension: int, item: reference.WorkItem | None) -> bool:
    """Whether a negative index of the access that runs is a constant."""
    known = None if item is None else item.launch.from_end
    if known is not None:
        return is_place(known, dimension)
    return written_as_constant(index, frozenset() if item is None else item.launch.static)
