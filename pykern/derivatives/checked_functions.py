"""A kernel or an array program as a function of a list of numbers and arrays, with its derivatives; for `check_grads`.

`results(values)` gives the floats that come out, `forward` their tangents, `reverse` the gradients; `narrowest()` what
float types numbers are rounded to on the way. Values are copied: the caller's keep what they hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np

from pykern.api.lowered import KEYWORDS
from pykern.derivatives.autodiff import Autodiff, Dup
from pykern.derivatives.gradients import floats, jvp, vjp
from pykern.derivatives.trees import leaves, rebuilt
from pykern.launching.complex_arguments import parts_of
from pykern.types import BY_NAME, DType, from_numpy

_ROUNDED = re.compile(r"arith\.truncf .* to (?:tensor<.*x)?(bf16|f16|f32|f8E4M3FN|f8E5M2)")
_NAMES: dict[str, str] = {"f8E4M3FN": "f8e4m3", "f8E5M2": "f8e5m2"}


class Checked(Protocol):
    def results(self, values: Sequence[Any]) -> list[Any]: ...
    def forward(self, values: Sequence[Any], tangents: dict[int, Any]) -> list[Any]: ...
    def reverse(self, values: Sequence[Any], cotangents: list[Any], active: list[int]) -> dict[int, Any]: ...
    def narrowest(self, values: Sequence[Any]) -> list[DType]: ...
    def name_of(self, result: int, names: list[str], values: Sequence[Any]) -> str: ...


@dataclass(frozen=True)
class CheckedKernel:
    """From the arguments of a launch to the float arrays after it."""

    kernel: Any
    level: str
    launch: dict[str, Any]

    def results(self, values: Sequence[Any]) -> list[np.ndarray]:
        copies = [_copy(v) for v in values]
        self.kernel(*copies, **self.launch)
        return [v for v in copies if is_float_array(v)]

    def forward(self, values: Sequence[Any], tangents: dict[int, Any]) -> list[np.ndarray]:
        shadows = {n: _shadow(values[n], t) for n, t in tangents.items()}
        passed = [Dup(_copy(v), shadows[n]) if n in shadows else _copy(v) for n, v in enumerate(values)]
        Autodiff(self.kernel, "forward", self.level)(*passed, **self.launch)
        return [shadows[n] for n, v in enumerate(values) if is_float_array(v)]

    def reverse(self, values: Sequence[Any], cotangents: list[Any], active: list[int]) -> dict[int, Any]:
        given = iter(cotangents)
        shadows = {n: _shadow(values[n], next(given) if is_float_array(values[n]) else 0.0) for n in active}
        copies = [_copy(v) for v in values]
        passed = [Dup(v, shadows[n]) if n in shadows else v for n, v in enumerate(copies)]
        Autodiff(self.kernel, "reverse", self.level)(*passed, **self.launch)
        for before, after in zip(values, copies, strict=True):
            if is_float_array(before) and not np.array_equal(wide(before), wide(after), equal_nan=True):
                raise AssertionError("the reverse launch changed an array other than a shadow")
        return shadows

    def name_of(self, result: int, names: list[str], values: Sequence[Any]) -> str:
        """What a result is called: the array that the kernel leaves."""
        return [name for name, v in zip(names, values, strict=True) if is_float_array(v)][result]

    def narrowest(self, values: Sequence[Any]) -> list[DType]:
        options = {name: self.launch[name] for name in KEYWORDS if name in self.launch}
        if isinstance(options.get("ndrange"), list):  # several index spaces, one kernel
            options["ndrange"] = options["ndrange"][0]
        return _rounded_to(self.kernel.lower(*map(_copy, values), **options).stages[0].text)


@dataclass(frozen=True)
class CheckedProgram:
    """From the leaves of a program's arguments to the float leaves of its value."""

    program: Any
    args: tuple

    def results(self, values: Sequence[Any]) -> list[Any]:
        return list(map(_parts, floats(self.program(*self._formed(values)))))

    def forward(self, values: Sequence[Any], tangents: dict[int, Any]) -> list[Any]:
        given = self._formed([tangents.get(n, v) for n, v in enumerate(values)])
        moved = [any(n in tangents for n in inside) for inside in self._places()]
        given = tuple(g if moves else None for g, moves in zip(given, moved, strict=True))
        return list(map(_parts, floats(jvp(self.program, self._formed(values), given)[1])))

    def reverse(self, values: Sequence[Any], cotangents: list[Any], active: list[int]) -> dict[int, Any]:
        value, pull = vjp(self.program, *self._formed(values))
        given = tuple(_whole(c, leaf) for c, leaf in zip(cotangents, floats(value), strict=True))
        found: dict[int, Any] = {}
        for part, inside in zip(pull(given), self._places(), strict=True):
            if part is not None:
                found |= dict(zip(inside, (leaf for _, leaf in leaves(part)), strict=True))
        return {n: np.asarray(found[n]) for n in active}

    def name_of(self, result: int, names: list[str], values: Sequence[Any]) -> str:
        return f"result {result}"

    def narrowest(self, values: Sequence[Any]) -> list[DType]:
        lower = getattr(self.program, "lower", None)
        return [] if lower is None else _rounded_to(lower(*self._formed(values)).stages[0].text)

    def _formed(self, values: Sequence[Any]) -> tuple:
        """The arguments with other leaves."""
        others = iter(map(_copy, values))
        return tuple(rebuilt(arg, others) for arg in self.args)

    def _places(self) -> list[range]:
        """For each argument the numbers of its leaves."""
        ends = list(accumulate((len(list(leaves(arg))) for arg in self.args), initial=0))
        return [range(*pair) for pair in pairwise(ends)]


def _parts(value: Any) -> Any:
    """A complex number or array as the array of its parts; others as they are."""
    return parts_of(np.asarray(value)) if np.iscomplexobj(value) else value


def _whole(parts: Any, like: Any) -> Any:
    """What `_parts` made, as it was."""
    return np.asarray(parts).view(like.dtype)[..., 0] if np.iscomplexobj(like) else parts


def is_float_array(value: Any) -> bool:
    known = from_numpy(value.dtype) if isinstance(value, np.ndarray) else None
    return known is not None and known.is_float


def is_real(value: Any) -> bool:
    """Whether it is a NumPy array of floats or a float: what can be moved a little."""
    known = from_numpy(value.dtype) if isinstance(value, np.generic) else None
    return is_float_array(value) or type(value) is float or (known is not None and known.is_float)


def wide(value: Any) -> Any:
    """The number or array in float64; others as they are."""
    if is_float_array(value):
        return value.astype(np.float64)
    return float(value) if is_real(value) else value


def like(value: Any, other: Any) -> Any:
    """A number or array in the type of `other`."""
    if isinstance(other, np.ndarray):
        return np.asarray(value).astype(other.dtype)
    return type(other)(value)


def _shadow(value: Any, number: Any) -> np.ndarray:
    """An array of its own that holds the derivative `number` of `value`."""
    kind = value.dtype if isinstance(value, np.ndarray | np.generic) else np.float64
    return np.array(np.broadcast_to(np.asarray(number), np.shape(value))).astype(kind)


def _rounded_to(text: str) -> list[DType]:
    """The float types that numbers of a program are rounded to, from its IR."""
    names: set[str] = set(_ROUNDED.findall(text))
    return [BY_NAME[_NAMES.get(name, name)] for name in names]


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
