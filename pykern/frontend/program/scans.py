"""cumsum, cumprod, and ``accumulate`` of ufuncs: a loop along the axis, which carries what has been summed up so far.

Comes in: a call. Goes out: the value of a function of the language itself, which is translated like a user's. So it is
differentiated, fused and run on devices as a loop that the user writes. The order of a sum is that of the elements.
Types are those of `reductions`: small integers add up in 64 bits; f16 and bf16 add up in f32, and each result is
rounded.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pykern.data.source import Builtin, FunctionSource
from pykern.frontend.program import arguments, shaping
from pykern.frontend.program.elementwise import cast
from pykern.frontend.program.reductions import REDUCTIONS
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import FunctionValue, NoneValue, Scalar, Value
from pykern.passes.ir.values import defining
from pykern.passes.tensor.read_transposed import transposed_axes
from pykern.types import DType, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

SCANS = {
    "cumsum": ("sum", "so_far + {next}"), "cumprod": ("prod", "so_far * {next}"),
    "add.accumulate": ("sum", "so_far + {next}"), "multiply.accumulate": ("prod", "so_far * {next}"),
    "maximum.accumulate": ("max", "maximum(so_far, {next})"), "minimum.accumulate": ("min", "minimum(so_far, {next})"),
}  # fmt: skip
"""The reduction that the last of the results is, and how one more element is taken in."""
NAMES = tuple(SCANS)
_TEXT = """\
def {name}(x, start):
    result = empty_like(x)
    so_far = full(({lengths}), start, x.dtype)
    for k in loop_range(x.shape[{axis}]):
        so_far = {taken_in}
        result[{index}] = so_far
    return result
"""
_BUILTINS = ("empty_like", "full", "loop_range", "maximum", "minimum")


def call(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """``pk.cumsum(x, axis)`` and ``x.cumsum(axis)``; without an axis, over the flattened array."""
    given = arguments.bind(t, node, name, "x axis=", args, keywords)
    x = arguments.array(t, node, given["x"])
    if isinstance(given["axis"], NoneValue) and "." in name:  # NumPy's ufuncs go along the first axis
        given["axis"] = Scalar(weak_int, const=0)
    if isinstance(given["axis"], NoneValue):
        refuse(t, node, x.shape, f"`{name}` goes along")
        x, axis = shaping.reshaped(t, node, x, (-1,)), 0
    else:
        axis = arguments.one_axis(t, node, name, given["axis"], len(x.shape))
    refuse(t, node, [x.shape[axis]], f"`{name}` goes along")
    reduction, taken_in = SCANS[name]
    rule = REDUCTIONS[reduction]
    works, gives = rule.works_in(x.dtype), rule.gives(x.dtype)
    if 0 in x.shape:
        return cast(t, node, x, gives)
    x, axis, order = _untransposed(x, axis)
    function = FunctionValue(_function(name, taken_in, len(x.shape), axis))
    found = t.called_with(node, function, [cast(t, node, x, works), _start(reduction, works)], {})
    assert isinstance(found, Cell)
    return cast(t, node, shaping.permuted(found, order), gives)


def _untransposed(x: Cell, axis: int) -> tuple[Cell, int, tuple[int, ...]]:
    """What a transposition was made of, the axis in it, and the order of its axes that gives the transposition: along
    that axis of it memory is as near."""
    op = None if x.ssa is None else defining(x.ssa)
    axes = transposed_axes(op) if op is not None and op.name == "linalg.generic" else []
    if op is None or not axes:
        return x, axis, tuple(range(len(x.shape)))
    source = Cell(x.dtype, tuple(x.shape[a] for a in axes), op.operands[0])
    return source, axes.index(axis), tuple(axes.index(a) for a in range(len(axes)))


def _start(reduction: str, works: DType) -> Scalar:
    """What changes no element, also of negative zeros."""
    zero = -0.0 if works.is_float else 0
    return Scalar(works, const=zero if reduction == "sum" else REDUCTIONS[reduction].start(works))


def _function(name: str, taken_in: str, rank: int, axis: int) -> FunctionSource:
    lengths = "".join(f"x.shape[{d}], " for d in range(rank) if d != axis)
    index = ":, " * axis + "k"
    plain = name.replace(".", "_")
    taken_in = taken_in.format(next=f"x[{index}]")
    text = _TEXT.format(name=plain, lengths=lengths, axis=axis, taken_in=taken_in, index=index)
    return FunctionSource(plain, f"<pykern.{name}>", 1, text, tuple((b, Builtin(b)) for b in _BUILTINS))
