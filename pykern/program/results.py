"""The value a program returns, put together from the arrays of its results.

Comes in: `ProgramLayout.tree`, JSON. Goes out: a function from arrays to the value, and the checks of
``out=``. The form of the tree is told in `pykern.frontend.program.results`, which writes it.
"""

from __future__ import annotations

import collections
import functools
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pykern.arrays.foreign import check_numpy, several_places
from pykern.errors import ARRAY_MEMORY, LaunchError
from pykern.runtime.other_libraries import is_jax_array
from pykern.runtime.written import note_write, overlaps_itself
from pykern.types import BY_NAME

MOST_WORK: Any = 1000
"""Candidates that are tried to tell whether two strided arrays overlap."""

Builder = Callable[[list[Any]], Any]


def builder(tree: str, numbers: bool = True) -> Builder:
    """The function that rebuilds the value from the result arrays; without `numbers`, arrays stand for those, too."""
    node = json.loads(tree)
    if isinstance(node, dict) and node.get("array") == 0 and "complex" not in node:
        return lambda arrays: arrays[0]
    return lambda arrays: _build(node, arrays, numbers)


def _build(node: Any, arrays: list[Any], numbers: bool) -> Any:
    if node is None:
        return None
    if "complex" in node:
        return _complex(arrays[node["array"]], node["complex"])
    if "array" in node:
        return arrays[node["array"]]
    if "scalar" in node:
        if not numbers:
            return arrays[node["scalar"]]
        number = arrays[node["scalar"]][()]
        dtype = BY_NAME[node.get("dtype", "f64")]
        python = dtype.weak or (dtype.name == "bool" and not node.get("numpy"))
        return number.item() if python else number
    if "constant" in node:
        return constant(node)
    if "dict" in node:
        return {key: _build(item, arrays, numbers) for key, item in node["dict"].items()}
    items = [_build(item, arrays, numbers) for item in node["tuple"]]
    if "fields" in node:
        return struct(node["name"], tuple(node["fields"]))(*items)
    return items if "list" in node else tuple(items)


def _complex(parts: Any, kind: str) -> Any:
    """The complex array of these parts, the same memory; a number where the `kind` says so."""
    if is_jax_array(parts):
        return sys.modules["jax"].lax.complex(parts[..., 0], parts[..., 1])
    if not isinstance(parts, np.ndarray):
        raise LaunchError(
            "the result is complex, and arrays of a device are real",
            hint="return z.real and z.imag, or pass NumPy arrays: they are copied to the device and back",
        )
    whole = parts.view(np.complex64 if parts.dtype == np.float32 else np.complex128)[..., 0]
    return whole if kind == "array" else whole[()] if kind == "number" else complex(whole)


def has_complex(tree: str) -> bool:
    """Whether the value has complex numbers."""

    def found(node: Any) -> bool:
        if not isinstance(node, dict):
            return False
        return "complex" in node or any(map(found, (*node.get("tuple", ()), *node.get("dict", {}).values())))

    return found(json.loads(tree))


def is_flat(tree: str) -> bool:
    """Whether the value is an array or a number, or a plain tuple of these."""
    node = json.loads(tree)
    plain = isinstance(node, dict) and "tuple" in node and not {"list", "fields"} & node.keys()
    return all(_is_leaf(item) for item in (node["tuple"] if plain else [node]))


def _is_leaf(node: Any) -> bool:
    return node is None or not {"tuple", "dict"} & node.keys()


@functools.cache
def struct(name: str, fields: tuple[str, ...]) -> type:
    """The named tuple that stands for a named tuple or a dataclass: one class for each form, whoever builds it."""
    return collections.namedtuple(name, fields)


def constant(node: Any) -> Any:
    """What was known when compiling."""
    return BY_NAME[node["dtype"]].numpy.type(node["constant"]) if "dtype" in node else node["constant"]


def scalars_of(tree: str) -> frozenset[int]:
    """The results that are numbers."""

    def numbers(node: Any) -> Iterator[int]:
        if isinstance(node, dict):
            if "scalar" in node:
                yield node["scalar"]
            for item in (*node.get("tuple", ()), *node.get("dict", {}).values()):
                yield from numbers(item)

    return frozenset(numbers(json.loads(tree)))


def out_arrays(
    out: Any, count: int, shapes: list[tuple[int, ...]], dtypes: list[np.dtype], kind: type = np.ndarray
) -> list[Any]:
    """The arrays given as ``out=``, checked; arrays of a device are of the `kind` `pk.Array`. Raises `LaunchError`."""
    given = list(out) if isinstance(out, tuple | list) else [out]
    if len(given) != count:
        raise LaunchError(f"`out` holds {len(given)} arrays, and there are {count} results")
    for n, (array, shape, dtype) in enumerate(zip(given, shapes, dtypes, strict=False)):
        if not isinstance(array, kind):
            wanted, make = (
                ("arrays on the CPU", "np.empty")
                if kind is np.ndarray
                else ("arrays of the device", "pk.empty")
            )
            raise LaunchError(
                f"`out` takes {wanted}, and result {n} is given {type(array).__name__}",
                hint=f"make one: {make}({tuple(shape)}, ...), or leave `out` away",
            )
        if isinstance(array, np.ndarray) and array.dtype.kind == "c":
            raise LaunchError("`out` takes no complex arrays", hint="leave it out, and assign the result")
        if isinstance(array, np.ndarray):
            check_numpy("out", array)
        if array.shape != tuple(shape) or array.dtype != dtype:
            raise LaunchError(
                f"result {n} is {dtype}{list(shape)}, and `out` has {array.dtype}{list(array.shape)} for it",
                hint=f"make it so: np.empty({tuple(shape)}, np.{dtype})",
            )
        if not (array.flags.writeable if isinstance(array, np.ndarray) else not array.readonly):
            raise LaunchError(
                f"`out` has a read-only array for result {n}",
                hint="pass an array you own: np.empty(shape, dtype), or np.array(x) of one",
            )
        if overlaps_itself(geometry := array if isinstance(array, np.ndarray) else array.geometry()):
            raise several_places("out", geometry, f"result {n} would be written there")
        for other, before in enumerate(given[:n]):
            if _share(before, array):
                raise LaunchError(
                    f"`out` has memory for result {other} that it has for result {n}, too",
                    hint="give each result an array of its own",
                    code=ARRAY_MEMORY,
                )
    for array in given:
        note_write(array)
    return given


def _share(a: Any, b: Any) -> bool:
    """Whether two arrays have an element in common; False where that is hard to tell, and copies keep them apart."""
    if not isinstance(a, np.ndarray):
        if a._allocation is not b._allocation:
            return False
        a, b = a.geometry(), b.geometry()
    try:
        return np.may_share_memory(a, b) and np.shares_memory(a, b, max_work=MOST_WORK)
    except np.exceptions.TooHardError:
        return False
