"""Arrays as kernels on the reference device see them: elements only, checked, stored by pykern's rules."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pykern.errors import KernelTypeError, LaunchError, OutOfBounds
from pykern.runtime import reference
from pykern.types import DType, from_numpy


class ReferenceArray:
    """A NumPy array behind the rules of kernels: full indices, nothing outside, no slices.

    An index below 0 is outside, except for -1 .. -length written by a constant in compiled kernels;
    Python cannot tell the two apart here, so negative indices are refused only under the length.
    """

    __slots__ = ("_array", "_dtype", "_name")

    def __init__(self, array: np.ndarray, name: str) -> None:
        dtype = from_numpy(array.dtype)
        if dtype is None:
            raise KernelTypeError(f"`{name}` holds {array.dtype}, which kernels have not")
        self._array, self._name, self._dtype = array, name, dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def size(self) -> int:
        return self._array.size

    @property
    def dtype(self) -> DType:
        return self._dtype

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Any:
        return self._array[self._checked(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._checked(index)
        if not self._array.flags.writeable:
            raise LaunchError(
                f"`{self._name}` is read-only, and the kernel writes it", hint="pass a copy: x.copy()"
            )
        self._array[place] = reference.cast(value, self._dtype)

    def _checked(self, index: Any) -> tuple[int, ...]:
        items = index if isinstance(index, tuple) else (index,)
        shape = self._array.shape
        if len(items) != len(shape):
            raise KernelTypeError(
                f"`{self._name}` has {len(shape)} dimensions, and {len(items)} indices are given"
            )
        try:
            place = tuple(operator.index(item) for item in items)
        except TypeError:
            raise KernelTypeError(f"`{self._name}` is indexed by {index!r}; an index is an integer") from None
        if not all(-n <= i < n for i, n in zip(place, shape, strict=True)):
            shown = place[0] if len(place) == 1 else place
            whole = shape[0] if len(shape) == 1 else shape
            raise OutOfBounds(f"index {shown} is outside of `{self._name}`, whose shape is {whole}")
        return place

    def __repr__(self) -> str:
        return f"<{self._name}: {self._dtype.name}{list(self.shape)}>"
