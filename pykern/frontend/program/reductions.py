"""sum, prod, max, min, mean, var, std, any, all, argmax, argmin: linalg.generic with reduction loops.

Types are NumPy's: small integers add up in 64 bits; f16 and bf16 accumulate in f32 and are rounded once.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir.dialects import arith

from pykern.data.promotion import sum_type
from pykern.frontend import arithmetic, mathematics
from pykern.frontend.casts import convert, integer_range, materialise
from pykern.frontend.program import arguments
from pykern.frontend.program.composition import Composer, is_given, number, numbers
from pykern.frontend.program.elementwise import apply
from pykern.frontend.program.tensors import (
    PARALLEL,
    REDUCTION,
    Input,
    Output,
    fill,
    generic,
    loop_index,
    reshape,
)
from pykern.frontend.program.tile_forms import ADD, AND, MAX, MIN, MUL, OR
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import NoneValue, Scalar, TupleValue, Value
from pykern.types import DType, bool_, f32, f64, i64

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

Combine = Callable[[Scalar, Scalar], Scalar]


@dataclass(frozen=True)
class Reduction:
    """How elements are put together: from `start`, in the type `works_in`, to the type `gives`."""

    start: Callable[[DType], object]
    combine: Combine
    works_in: Callable[[DType], DType]
    gives: Callable[[DType], DType]
    of_nothing: bool = True
    """Whether no elements at all have a result."""


def _summed(dtype: DType) -> DType:
    return dtype if dtype.is_float else sum_type(dtype)


def _mean_type(dtype: DType) -> DType:
    return dtype if dtype.is_float else f64


def _least(dtype: DType) -> object:
    return -math.inf if dtype.is_float else False if dtype == bool_ else integer_range(dtype)[0]


def _greatest(dtype: DType) -> object:
    return math.inf if dtype.is_float else True if dtype == bool_ else integer_range(dtype)[1]


def _same(dtype: DType) -> DType:
    return dtype


def _operator(symbol: str) -> Combine:
    return lambda a, b: arithmetic.binary(symbol, a, b)


def _bool(_: DType) -> DType:
    return bool_


REDUCTIONS = {
    "sum": Reduction(lambda d: 0, _operator("+"), sum_type, _summed),
    "prod": Reduction(lambda d: 1, _operator("*"), sum_type, _summed),
    "max": Reduction(_least, arithmetic.maximum, _same, _same, of_nothing=False),
    "min": Reduction(_greatest, arithmetic.minimum, _same, _same, of_nothing=False),
    "any": Reduction(lambda d: False, _operator("|"), _bool, _bool),
    "all": Reduction(lambda d: True, _operator("&"), _bool, _bool),
}
NAMES = (*REDUCTIONS, "mean", "var", "std", "argmax", "argmin")
_KEYWORDS = {
    "sum": " dtype= initial= where=", "prod": " dtype= initial= where=", "max": " initial= where=",
    "min": " initial= where=", "any": " where=", "all": " where=", "mean": " dtype= where=", "var": " ddof=",
    "std": " ddof=",
}  # fmt: skip
_BY = {"sum": ADD, "prod": MUL, "max": MAX, "min": MIN, "any": OR, "all": AND}
_TOGETHER = {"sum": "+", "prod": "*", "max": "maximum", "min": "minimum"}
"""The operator or function that puts an initial value and a reduction together."""


def call(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """``pk.sum(x, axis, keepdims)`` and its like; also of the methods, `x` first."""
    given = arguments.bind(t, node, name, "x axis= keepdims=" + _KEYWORDS.get(name, ""), args, keywords)
    x = arguments.array(t, node, given["x"])
    keepdims = arguments.flag(t, node, given["keepdims"], "`keepdims`")
    axes = arguments.axes(t, node, given["axis"], len(x.shape))
    wholes = name not in REDUCTIONS  # the mean of means is none, and no tile knows its place
    if wholes:
        refuse(t, node, (x.shape[a] for a in axes), f"`{name}` goes along")
    if name in ("argmax", "argmin"):
        return _arg(t, node, name, x, given["axis"], keepdims)
    if name in ("var", "std"):
        return _spread(t, node, name, x, axes, keepdims, given["ddof"])
    made = Composer(t, node)
    dtype = arguments.dtype(t, node, given["dtype"], x.dtype) if is_given(given.get("dtype")) else None
    x = x if dtype is None else made.array(made.cast(x, dtype))
    mask = given.get("where")
    if name == "mean":
        if not is_given(mask):
            return _mean(t, node, x, axes, keepdims, dtype)
        return _mean_where(
            made, x, made.array(mask), TupleValue(tuple(map(number, axes))), number(keepdims), dtype
        )
    initial = given.get("initial")
    if is_given(mask):
        if not REDUCTIONS[name].of_nothing and not is_given(initial):
            raise t.type_error(node, f"`{name}` of no elements has no value, and `where` may choose none",
                               "give an `initial` value")  # fmt: skip
        x = _chosen(made, name, x, made.array(mask))
    found = reduce(t, node, name, x, axes, keepdims, dtype, is_given(initial))
    if not is_given(initial):
        return found
    start = made.cast(t.as_scalar(node, initial), found.dtype)
    together = _TOGETHER[name]
    return (
        made.call(together, found, start)
        if together in ("maximum", "minimum")
        else made.op(together, found, start)
    )


def _chosen(made: Composer, name: str, x: Cell, mask: Cell) -> Cell:
    """`x` where `mask` is true, and elsewhere what changes nothing."""
    if mask.dtype != bool_:
        raise made.t.type_error(
            made.node, f"`where` takes bools, not {mask.description}", "compare: where=x > 0"
        )
    mask = made.cell("broadcast_to", mask, numbers(x.shape))
    return made.cell("where", mask, x, Scalar(x.dtype, const=REDUCTIONS[name].start(x.dtype)))


def _mean_where(
    made: Composer, x: Cell, mask: Cell, axis: Value, keepdims: Value, dtype: DType | None
) -> Value:
    """The sum of the elements where `mask` is true, divided by how many they are."""
    gives = _mean_dtype(made.t, made.node, x, dtype)
    works = f32 if gives.bits == 16 else gives
    along = {"axis": axis, "keepdims": keepdims}
    chosen = made.cast(_chosen(made, "sum", x, mask), works)
    counted = made.call("sum", made.call("broadcast_to", mask, numbers(x.shape)), **along)
    return made.cast(made.op("/", made.call("sum", chosen, **along), made.cast(counted, works)), gives)


def reduce(
    t: ProgramTranslator,
    node: ast.AST,
    name: str,
    x: Cell,
    axes: tuple[int, ...],
    keepdims: bool,
    dtype: DType | None = None,
    has_initial: bool = False,
) -> Cell:
    """`dtype` is that of the result, NumPy's unless it is given; with an initial value no elements have a result."""
    rule = REDUCTIONS[name]
    _refuse_nothing(t, node, name, x, axes, rule.of_nothing or has_initial)
    works, gives = rule.works_in(x.dtype), dtype or rule.gives(x.dtype)
    ssa = _reduced(rule, x, works, axes)
    if t.tile is not None:
        t.tile.reductions.reduces(t, node, f"`{name}` goes along", (x.shape[a] for a in axes), _BY[name], ssa)
    return _finish(t, node, Cell(works, _left(x, axes), ssa), gives, x, axes, keepdims)


def _mean_dtype(t: ProgramTranslator, node: ast.AST, x: Cell, dtype: DType | None) -> DType:
    if dtype is not None and not dtype.is_float:
        raise t.type_error(
            node, f"a mean is a float, not {dtype.name}", "cast the result: x.mean().astype(np.int64)"
        )
    return dtype or _mean_type(x.dtype)


def _mean(
    t: ProgramTranslator,
    node: ast.AST,
    x: Cell,
    axes: tuple[int, ...],
    keepdims: bool,
    dtype: DType | None = None,
) -> Cell:
    gives = _mean_dtype(t, node, x, dtype)
    works = f32 if gives.bits == 16 else gives
    total = Cell(works, _left(x, axes), _reduced(REDUCTIONS["sum"], x, works, axes))
    count = math.prod(x.shape[a] for a in axes)
    by = Scalar(works, const=float(count))
    mean = apply(t, node, [total], lambda e: arithmetic.binary("/", e[0], by, t.fastmath))
    assert isinstance(mean, Cell)
    return _finish(t, node, mean, gives, x, axes, keepdims)


def _spread(
    t: ProgramTranslator,
    node: ast.AST,
    name: str,
    x: Cell,
    axes: tuple[int, ...],
    keepdims: bool,
    ddof: Value,
) -> Cell:
    """The mean of the squared distances from the mean, as NumPy has it, or its root."""
    gives = _mean_type(x.dtype)
    works = f32 if gives.bits == 16 else gives
    wide = _applied(t, node, [x], lambda e: convert(e[0], works))
    mean = _mean(t, node, wide, axes, True)

    def square(elements: list[Scalar]) -> Scalar:
        distance = arithmetic.binary("-", elements[0], elements[1], t.fastmath)
        return arithmetic.binary("*", distance, distance, t.fastmath)

    squares = _applied(t, node, [wide, mean], square)
    total = Cell(works, _left(x, axes), _reduced(REDUCTIONS["sum"], squares, works, axes))
    less = 0 if isinstance(ddof, NoneValue) else arguments.integer(t, node, ddof, "`ddof`")
    by = Scalar(works, const=float(max(0, math.prod(x.shape[a] for a in axes) - less)))

    def divided(elements: list[Scalar]) -> Scalar:
        value = arithmetic.binary("/", elements[0], by, t.fastmath)
        root = mathematics.apply("sqrt", [value], t.fastmath) if name == "std" else value
        assert isinstance(root, Scalar)
        return root

    return _finish(t, node, _applied(t, node, [total], divided), gives, x, axes, keepdims)


def _applied(t: ProgramTranslator, node: ast.AST, values: list[Value], function: Callable) -> Cell:
    made = apply(t, node, values, function)
    assert isinstance(made, Cell)
    return made


def _reduced(rule: Reduction, x: Cell, works: DType, axes: tuple[int, ...]):
    left = _left(x, axes)
    start = fill(Scalar(works, const=rule.start(works)), works, left)
    iterators = [REDUCTION if a in axes else PARALLEL for a in range(len(x.shape))]
    kept = tuple(a for a in range(len(x.shape)) if a not in axes)
    [ssa] = generic(
        iterators,
        [Input(x.dtype, x.ssa, tuple(range(len(x.shape))))],
        [Output(works, left, kept, start)],
        lambda elements, so_far: [rule.combine(so_far[0], convert(elements[0], works))],
    )
    return ssa


def _left(x: Cell, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for a, n in enumerate(x.shape) if a not in axes)


def _finish(
    t: ProgramTranslator,
    node: ast.AST,
    made: Cell,
    gives: DType,
    x: Cell,
    axes: tuple[int, ...],
    keepdims: bool,
) -> Cell:
    """Round to the type of the result, and put reduced axes back as ones where they are kept."""
    if made.dtype != gives:
        rounded = apply(t, node, [made], lambda e: convert(e[0], gives))
        assert isinstance(rounded, Cell)
        made = rounded
    shape = made.shape
    if keepdims:
        shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape))
    return Cell(gives, shape, reshape(made.ssa, gives, made.shape, shape), is_scalar=not shape)


def _refuse_nothing(
    t: ProgramTranslator, node: ast.AST, name: str, x: Cell, axes: tuple[int, ...], allowed: bool
) -> None:
    if not allowed and any(x.shape[a] == 0 for a in axes):
        raise t.type_error(node, f"`{name}` of no elements has no value ({x.description})")


# -- where the extreme lies ---------------------------------------------------------------------


def _arg(t: ProgramTranslator, node: ast.AST, name: str, x: Cell, axis: Value, keepdims: bool) -> Cell:
    """The first place of the extreme; the first NaN where there is one."""
    rank = len(x.shape)
    flat = isinstance(axis, NoneValue)
    axes = (*range(rank),) if flat else (arguments.one_axis(t, node, name, axis, rank),)
    source = x
    if flat and rank != 1:  # the place in the flattened array
        source = Cell(x.dtype, (x.size,), reshape(x.ssa, x.dtype, x.shape, (x.size,)))
    along = axes[0] if source is x else 0
    _refuse_nothing(t, node, name, source, (along,), False)
    worst = _least(x.dtype) if name == "argmax" else _greatest(x.dtype)
    left = _left(source, (along,))
    kept = tuple(a for a in range(len(source.shape)) if a != along)

    def body(elements: list[Scalar], so_far: list[Scalar]) -> list[Scalar]:
        better = arithmetic.binary(">" if name == "argmax" else "<", elements[0], so_far[0])
        if x.dtype.is_float:
            nan, had = (mathematics.apply("isnan", [v], False) for v in (elements[0], so_far[0]))
            assert isinstance(nan, Scalar) and isinstance(had, Scalar)
            first = arithmetic.binary("&", nan, arithmetic.logical_not(had))
            better = arithmetic.binary("|", better, first)
        place = convert(loop_index(along), i64)
        return [_select(better, elements[0], so_far[0]), _select(better, place, so_far[1])]

    outputs = [
        Output(x.dtype, left, kept, fill(Scalar(x.dtype, const=worst), x.dtype, left)),
        Output(i64, left, kept, fill(Scalar(i64, const=0), i64, left)),
    ]
    iterators = [REDUCTION if a == along else PARALLEL for a in range(len(source.shape))]
    inputs = [Input(x.dtype, source.ssa, tuple(range(len(source.shape))))]
    _, ssa = generic(iterators, inputs, outputs, body)
    shape = left
    if keepdims:
        shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape))
    return Cell(i64, shape, reshape(ssa, i64, left, shape), is_scalar=not shape)


def _select(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    chosen = arith.SelectOp(materialise(condition), materialise(a), materialise(b))
    return Scalar(a.dtype, chosen.result)
