"""Products that name their axes: einsum, tensordot, inner, vdot, kron, cross.

Comes in: a call. Goes out: contractions of two arrays at a time, from the left: loops over the letters of the result,
then over those that are summed. A letter that one array has alone and the result has not is summed before.
"""

from __future__ import annotations

import ast
import string
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.promotion import promote
from pykern.frontend.program import arguments, contractions
from pykern.frontend.program.composition import Composer, is_given, number
from pykern.frontend.program.tensors import Input
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Text, TupleValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_ELLIPSIS = string.ascii_uppercase[::-1]
"""Letters for the axes of an ellipsis, the last axis first."""


# -- einsum -------------------------------------------------------------------------------------


def _einsum(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    unknown = keywords.keys() - {"optimize"}
    if unknown:
        raise t.type_error(
            node, f"`einsum` has no keyword `{min(unknown)}` in array programs", "leave it out"
        )
    if not args or not isinstance(args[0], Text):
        raise t.type_error(node, "`einsum` takes its subscripts as a constant text",
                           "write them first, as in np.einsum('ij,jk->ik', a, b)")  # fmt: skip
    made = Composer(t, node)
    cells = [made.array(v) for v in args[1:]]
    inputs, output = _subscripts(t, node, args[0].value, cells)
    _check_lengths(t, node, inputs, cells)
    terms = [_diagonals(made, c, letters) for c, letters in zip(cells, inputs, strict=True)]
    found, letters = terms[0]
    for k in range(1, len(terms)):
        later = set(output).union(*(own for _, own in terms[k + 1 :]))
        found, letters = _product(made, (found, letters), terms[k], later)
    found, letters = _summed(made, found, letters, set(output))
    order = numbers_of(letters, output)
    return made.call("transpose", found, TupleValue(order)) if order else found


def numbers_of(letters: str, wanted: str) -> tuple[Value, ...]:
    return tuple(number(letters.index(letter)) for letter in wanted)


def _subscripts(t: ProgramTranslator, node: ast.Call, text: str, cells: list[Cell]) -> tuple[list[str], str]:
    """The letters of each array and of the result; an ellipsis becomes letters of its own."""
    written, arrow, output = text.replace(" ", "").partition("->")
    parts = written.split(",")
    if len(parts) != len(cells):
        raise t.type_error(node, f"{len(parts)} subscripts are given for {len(cells)} arrays",
                           "give as many, with commas between: 'ij,jk->ik'")  # fmt: skip
    inputs, widest = [], 0
    for part, cell in zip(parts, cells, strict=True):
        count = len(cell.shape) - len(part.replace("...", ""))
        if count < 0 or (count and "..." not in part):
            raise t.type_error(node, f"the subscripts {part!r} name another number of axes than {cell.description} has",
                               "write one letter an axis, or ... for all others")  # fmt: skip
        inputs.append(part.replace("...", _ELLIPSIS[:count][::-1]))
        widest = max(widest, count if "..." in part else 0)
    rest = _ELLIPSIS[:widest][::-1]
    everything = "".join(inputs)
    if not arrow:
        named = [c for c in everything if c not in rest]
        output = rest + "".join(sorted(c for c in set(named) if named.count(c) == 1))
    output = output.replace("...", rest)
    wrong = [c for c in everything + output if c not in string.ascii_letters]
    missing = [c for c in output if c not in everything]
    if wrong or missing or len(set(output)) < len(output):
        raise t.type_error(node, f"{text!r} is no subscript that has a meaning",
                           "letters of the result stand once there, and in an array")  # fmt: skip
    return inputs, output


def _check_lengths(t: ProgramTranslator, node: ast.Call, inputs: list[str], cells: list[Cell]) -> None:
    lengths: dict[str, int] = {}
    for letters, cell in zip(inputs, cells, strict=True):
        for letter, length in zip(letters, cell.shape, strict=True):
            known = lengths.setdefault(letter, length)
            if known != length and letter not in string.ascii_uppercase:
                raise t.type_error(node, f"the axes `{letter}` have {known} and {length} elements",
                                   "axes of one letter are equally long")  # fmt: skip


def _diagonals(made: Composer, x: Cell, letters: str) -> tuple[Cell, str]:
    """A letter that stands twice in one array takes its diagonal."""
    for letter in sorted(set(letters)):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            rest = [a for a in range(len(letters)) if a not in (first, second)]
            order = TupleValue(tuple(number(a) for a in (first, second, *rest)))
            x = made.cell("diagonal", made.call("transpose", x, order))
            letters = "".join(letters[a] for a in rest) + letter
    return x, letters


def _summed(made: Composer, x: Cell, letters: str, kept: set[str]) -> tuple[Cell, str]:
    """Without the letters that nobody asks for any more."""
    gone = tuple(number(a) for a, letter in enumerate(letters) if letter not in kept)
    if not gone:
        return x, letters
    total = made.cell("sum", x, TupleValue(gone))
    return made.array(made.cast(total, x.dtype)), "".join(c for c in letters if c in kept)


def _product(made: Composer, a: tuple[Cell, str], b: tuple[Cell, str], later: set[str]) -> tuple[Cell, str]:
    """The product of two arrays; letters of both that are not needed later are summed."""
    x, left = _summed(made, *a, later | set(b[1]))
    y, right = _summed(made, *b, later | set(left))
    dtype = promote(x.dtype, y.dtype)
    x, y = (arguments.array(made.t, made.node, made.cast(c, dtype)) for c in (x, y))
    inner = [c for c in left if c in right and c not in later]
    batch = [c for c in left if c in right and c in later]
    outer = [c for c in left if c not in right], [c for c in right if c not in left]
    if not inner:
        return _elementwise(made, (x, left), (y, right))
    lengths = dict(zip(left + right, x.shape + y.shape, strict=True))
    if len(inner) == 1 and not batch:  # of matrices and vectors: what `@` is
        return _matrices(made, (x, left), (y, right), inner[0], outer)
    order = [*batch, *outer[0], *outer[1], *inner]
    inputs = [Input(c.dtype, c.ssa, tuple(order.index(s) for s in s_)) for c, s_ in ((x, left), (y, right))]
    shape = tuple(lengths[c] for c in order[: len(order) - len(inner)])
    found = contractions.contract(made.t, dtype, inputs, shape, len(inner))
    contractions.summed(made.t, made.node, [lengths[c] for c in inner], found)
    result = contractions.finish(made.t, made.node, found, dtype)
    return arguments.array(made.t, made.node, result), "".join(order[: len(order) - len(inner)])


def _matrices(
    made: Composer, a: tuple[Cell, str], b: tuple[Cell, str], inner: str, outer: tuple[list[str], list[str]]
) -> tuple[Cell, str]:
    (x, left), (y, right) = a, b
    x = made.cell("transpose", x, TupleValue(numbers_of(left, "".join(outer[0]) + inner)))
    y = made.cell("transpose", y, TupleValue(numbers_of(right, inner + "".join(outer[1]))))
    rows, columns, depth = x.shape[:-1], y.shape[1:], x.shape[-1]
    x = made.reshaped(x, -1 if depth else x.size, depth) if len(rows) > 1 else x
    y = made.reshaped(y, depth, -1 if depth else y.size) if len(columns) > 1 else y
    found = made.cell("matmul", x, y)
    return made.reshaped(found, *rows, *columns), "".join((*outer[0], *outer[1]))


def _elementwise(made: Composer, a: tuple[Cell, str], b: tuple[Cell, str]) -> tuple[Cell, str]:
    left, right = a[1], b[1]
    letters = left + "".join(c for c in right if c not in left)
    spread = []
    for cell, own in (a, b):
        there = [c for c in letters if c in own]
        cell = made.cell("transpose", cell, TupleValue(numbers_of(own, "".join(there)))) if there else cell
        spread.append(
            made.reshaped(cell, *(dict(zip(there, cell.shape, strict=True)).get(c, 1) for c in letters))
        )
    return made.array(made.op("*", *spread)), letters


# -- other names --------------------------------------------------------------------------------


def _tensordot(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "tensordot", "a b axes=", args, keywords)
    made = Composer(t, node)
    a, b = made.array(given["a"]), made.array(given["b"])
    axes = given["axes"] if is_given(given["axes"]) else number(2)
    if isinstance(axes, TupleValue):
        first, second = (
            arguments.axes(t, node, v, len(c.shape)) for v, c in zip(axes.items, (a, b), strict=True)
        )
    else:
        count = arguments.integer(t, node, axes, "the number of axes")
        first, second = tuple(range(len(a.shape) - count, len(a.shape))), tuple(range(count))
    if len(first) != len(second) or any(
        a.shape[i] != b.shape[j] for i, j in zip(first, second, strict=False)
    ):
        raise t.type_error(
            node, f"the axes of {a.description} and {b.description} do not match", "give equal lengths"
        )
    letters = iter(string.ascii_lowercase)
    left = [next(letters) for _ in a.shape]
    right = [left[first[second.index(j)]] if j in second else next(letters) for j in range(len(b.shape))]
    output = [c for i, c in enumerate(left) if i not in first] + [
        c for j, c in enumerate(right) if j not in second
    ]
    return _einsum(t, node, [Text(f"{''.join(left)},{''.join(right)}->{''.join(output)}"), a, b], {})


def _inner(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The last axis of both."""
    given = arguments.bind(t, node, "inner", "a b", args, keywords)
    made = Composer(t, node)
    a, b = made.array(given["a"]), made.array(given["b"])
    if not a.shape or not b.shape:
        return made.op("*", a, b)
    return _tensordot(t, node, [a, b, TupleValue((number(-1), number(-1)))], {})


def _vdot(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "vdot", "a b", args, keywords)
    made = Composer(t, node)
    return made.call("dot", *(made.reshaped(made.array(v), -1) for v in given.values()))


def _kron(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "kron", "a b", args, keywords)
    made = Composer(t, node)
    a, b = made.array(given["a"]), made.array(given["b"])
    rank = max(len(a.shape), len(b.shape))
    x, y = ((1,) * (rank - len(c.shape)) + c.shape for c in (a, b))
    wide = made.op("*", made.reshaped(a, *(n for length in x for n in (length, 1))),
                   made.reshaped(b, *(n for length in y for n in (1, length))))  # fmt: skip
    return made.reshaped(made.array(wide), *(m * n for m, n in zip(x, y, strict=True)))


def _cross(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "cross", "a b axis=", args, keywords)
    made = Composer(t, node)
    a, b = made.array(given["a"]), made.array(given["b"])
    axes = [
        arguments.axis(t, node, given["axis"] if is_given(given["axis"]) else number(-1), len(c.shape))
        for c in (a, b)
    ]
    if any(c.shape[axis] != 3 for c, axis in zip((a, b), axes, strict=True)):
        raise t.type_error(
            node, "`cross` takes vectors of 3 elements along the axis", "write products of 2 out"
        )
    u, v = ([made.element(c, axis, k) for k in range(3)] for c, axis in zip((a, b), axes, strict=True))
    parts = [
        made.op(
            "-", made.op("*", u[(k + 1) % 3], v[(k + 2) % 3]), made.op("*", u[(k + 2) % 3], v[(k + 1) % 3])
        )
        for k in range(3)
    ]
    return made.call("stack", TupleValue(tuple(parts)), number(max(axes)))


HANDLERS: dict[str, Callable] = {
    "einsum": _einsum, "tensordot": _tensordot, "inner": _inner, "vdot": _vdot, "kron": _kron, "cross": _cross,
}  # fmt: skip
