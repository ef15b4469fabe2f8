"""NumPy's functions that put arrays together and take them apart, and that name axes anew.

Comes in: a call. Goes out: a value made of slices, reshapes and concatenations.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend.program import arguments, shaping
from pykern.frontend.program.composition import Composer, is_given, number, numbers
from pykern.frontend.program.tensors import Shape
from pykern.frontend.program.values import Cell
from pykern.frontend.values import TupleValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def _moveaxis(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "moveaxis", "x source destination", args, keywords)
    x = Composer(t, node).array(given["x"])
    rank = len(x.shape)
    source, target = (arguments.axes(t, node, given[n], rank) for n in ("source", "destination"))
    if len(source) != len(target):
        raise t.type_error(
            node, f"{len(source)} axes are moved to {len(target)} places", "give as many places"
        )
    order = [a for a in range(rank) if a not in source]
    for place, axis in sorted(zip(target, source, strict=True)):
        order.insert(place, axis)
    return shaping.permuted(x, tuple(order))


def _flipped(name: str, axis: int) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        x = arguments.bind(t, node, name, "x", args, keywords)["x"]
        return Composer(t, node).call("flip", x, number(axis))

    return apply


def _rot90(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """A plane turned by quarters, from its first axis towards its second."""
    given = arguments.bind(t, node, "rot90", "x k= axes=", args, keywords)
    made = Composer(t, node)
    x = made.array(given["x"])
    quarters = arguments.integer(t, node, given["k"], "`k`") % 4 if is_given(given["k"]) else 1
    chosen = given["axes"] if is_given(given["axes"]) else numbers((0, 1))
    plane = arguments.axes(t, node, chosen, len(x.shape))
    if len(plane) != 2:
        raise t.type_error(node, f"`rot90` turns a plane of 2 axes, not of {len(plane)}", "write axes=(0, 1)")
    first, second = map(number, plane)
    if quarters == 0:
        return x.view(Cell(x.dtype, x.shape, x.ssa))
    if quarters == 2:
        return made.call("flip", x, TupleValue((first, second)))
    turned = made.call("flip", x, second) if quarters == 1 else x
    turned = made.call("swapaxes", turned, first, second)
    return turned if quarters == 1 else made.call("flip", turned, second)


def _atleast(rank: int) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        made = Composer(t, node)
        x = made.array(arguments.bind(t, node, f"atleast_{rank}d", "x", args, keywords)["x"])
        return made.reshaped(x, *(1,) * (rank - len(x.shape)), *x.shape)

    return apply


# -- put together, and taken apart --------------------------------------------------------------


def _stack_along(name: str) -> Callable:
    """hstack, vstack, dstack, column_stack: concatenation along an axis that small arrays are given."""

    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        made = Composer(t, node)
        value = arguments.bind(t, node, name, "arrays", args, keywords)["arrays"]
        if not isinstance(value, TupleValue) or not value.items:
            raise t.type_error(node, f"`{name}` takes a tuple of arrays", f"write np.{name}((a, b))")
        cells = [made.array(v) for v in value.items]
        ready = tuple(made.reshaped(c, *_lifted(name, c.shape)) for c in cells)
        axis = {"vstack": 0, "dstack": 2, "column_stack": 1}.get(name, int(len(ready[0].shape) > 1))
        return made.call("concatenate", TupleValue(ready), number(axis))

    return apply


def _lifted(name: str, shape: Shape) -> Shape:
    if name == "hstack":
        return shape or (1,)
    if name == "vstack":
        return (1,) * (2 - len(shape)) + shape
    if name == "column_stack":
        return shape if len(shape) > 1 else (*(shape or (1,)), 1)
    flat = (1,) * (2 - len(shape)) + shape
    return flat if len(flat) > 2 else (*flat, 1)


def _append(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "append", "x values axis=", args, keywords)
    made = Composer(t, node)
    both = [made.array(given["x"]), made.array(given["values"])]
    if not is_given(given["axis"]):
        flat = TupleValue(tuple(made.reshaped(c, -1) for c in both))
        return made.call("concatenate", flat, number(0))
    return made.call("concatenate", TupleValue(tuple(both)), given["axis"])


def _split(name: str, fixed: int | None = None) -> Callable:
    """split, array_split, hsplit, vsplit: a tuple of slices."""

    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        words = "x indices_or_sections axis=" if fixed is None else "x indices_or_sections"
        given = arguments.bind(t, node, name, words, args, keywords)
        made = Composer(t, node)
        x = made.array(given["x"])
        asked = number((fixed or 0) if len(x.shape) > 1 else 0) if fixed is not None else given["axis"]
        axis = arguments.axis(t, node, asked if is_given(asked) else number(0), len(x.shape))
        bounds = _bounds(t, node, name, given["indices_or_sections"], x.shape[axis])
        return TupleValue(tuple(made.part(x, axis, a, b) for a, b in itertools.pairwise(bounds)))

    return apply


def _bounds(t: ProgramTranslator, node: ast.Call, name: str, value: Value, length: int) -> list[int]:
    """Where the parts begin and end."""
    if isinstance(value, TupleValue):
        cuts = arguments.integers(t, node, value, "where an array is split")
        cuts = tuple(min(max(c + length * (c < 0), 0), length) for c in cuts)
        return [0, *cuts, length]
    count = arguments.integer(t, node, value, "the number of parts")
    if count < 1 or (name != "array_split" and length % count):
        raise t.type_error(node, f"an axis of {length} elements has no {count} equal parts",
                           "say where: np.split(x, (10, 20)); np.array_split takes unequal parts")  # fmt: skip
    each, more = divmod(length, count)
    return [k * each + min(k, more) for k in range(count + 1)]


def _meshgrid(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    made = Composer(t, node)
    unknown = keywords.keys() - {"indexing"}
    if unknown:
        raise t.type_error(
            node, f"`meshgrid` has no keyword `{min(unknown)}` in array programs", "leave it out"
        )
    vectors = [made.reshaped(made.array(v), -1) for v in args]
    swapped = getattr(keywords.get("indexing"), "value", "xy") == "xy" and len(vectors) > 1
    rank = len(vectors)
    places = [1, 0, *range(2, rank)] if swapped else list(range(rank))
    shape = [0] * rank
    for place, vector in zip(places, vectors, strict=True):
        shape[place] = vector.size
    wide = []
    for place, vector in zip(places, vectors, strict=True):
        lone = made.reshaped(vector, *(vector.size if a == place else 1 for a in range(rank)))
        wide.append(made.cell("copy", made.cell("broadcast_to", lone, numbers(tuple(shape)))))
    return TupleValue(tuple(wide))


def _size(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "size", "x axis=", args, keywords)
    x = Composer(t, node).array(given["x"])
    if not is_given(given["axis"]):
        return number(x.size)
    return number(math.prod(x.shape[a] for a in arguments.axes(t, node, given["axis"], len(x.shape))))


def _shape(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    return numbers(Composer(t, node).array(arguments.bind(t, node, "shape", "x", args, keywords)["x"]).shape)


def _ndim(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    return number(
        len(Composer(t, node).array(arguments.bind(t, node, "ndim", "x", args, keywords)["x"]).shape)
    )


def _block(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Nested lists of blocks: the innermost stand along the last axis, those around them along the one before it."""
    blocks = arguments.bind(t, node, "block", "arrays", args, keywords)["arrays"]
    made = Composer(t, node)
    depths = set(_depths(blocks))
    if len(depths) != 1:
        raise t.type_error(node, "the lists of blocks are not nested equally deep", "write [[a, b], [c, d]]")
    leaves = [made.array(v) for v in _leaves(blocks)]
    rank = max([*depths, *(len(x.shape) for x in leaves)])
    return _joined_blocks(made, blocks, rank, -max(depths))


def _joined_blocks(made: Composer, blocks: Value, rank: int, axis: int) -> Cell:
    if not isinstance(blocks, TupleValue):
        x = made.array(blocks)
        return made.reshaped(x, *(1,) * (rank - len(x.shape)), *x.shape)
    parts = tuple(_joined_blocks(made, b, rank, axis + 1) for b in blocks.items)
    return made.cell("concatenate", TupleValue(parts), number(rank + axis))


def _depths(blocks: Value) -> list[int]:
    """How many lists stand around each block."""
    if not isinstance(blocks, TupleValue):
        return [0]
    return [1 + depth for b in blocks.items for depth in _depths(b)] or [-1]


def _leaves(blocks: Value) -> list[Value]:
    return [leaf for b in blocks.items for leaf in _leaves(b)] if isinstance(blocks, TupleValue) else [blocks]


HANDLERS: dict[str, Callable] = {
    "rot90": _rot90, "block": _block, "moveaxis": _moveaxis,
    "fliplr": _flipped("fliplr", 1), "flipud": _flipped("flipud", 0),
    **{f"atleast_{rank}d": _atleast(rank) for rank in (1, 2)}, "append": _append, "meshgrid": _meshgrid,
    **{name: _stack_along(name) for name in ("hstack", "vstack", "dstack", "column_stack")},
    "split": _split("split"), "array_split": _split("array_split"),
    "hsplit": _split("hsplit", 1), "vsplit": _split("vsplit", 0), "size": _size, "shape": _shape, "ndim": _ndim,
}  # fmt: skip
