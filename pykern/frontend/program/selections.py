"""``x[mask]`` with a mask of bools: the elements where it is true, of which only the run knows how many there are.

Comes in: an index, operators, functions, assignments. Goes out: a `Selection`, which keeps the whole array beside the
mask. So everything that is the same for each element is computed of whole arrays, a reduction puts what changes nothing
in the other places, and ``x[mask] = value`` chooses. Where the number of elements itself would be a shape, as in
``np.concatenate((x[mask], y))``, the program is refused.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from pykern.errors import KernelTypeError
from pykern.frontend import mathematics
from pykern.frontend.program import elementwise, operators
from pykern.frontend.program.composition import Composer, number, numbers
from pykern.frontend.program.reductions import REDUCTIONS
from pykern.frontend.program.tensors import reshape
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Extension, Scalar, Value, describe
from pykern.types import bool_

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

METHODS = ("sum", "prod", "max", "min", "mean", "any", "all", "var", "std", "astype", "copy", "clip", "round")
_EACH = {"where", "clamp", "cast", *operators.HANDLERS}
"""Functions of each element, beside those of numbers."""


@dataclass(frozen=True)
class Selection(Extension):
    """The elements of `cell` where `mask`, of the shape of its first axes, is true."""

    cell: Cell
    mask: Cell

    @property
    def description(self) -> str:
        return f"the elements of {self.cell.description} that a mask selects"


@dataclass(frozen=True)
class SelectionMethod(Extension):
    """``x[mask].sum`` before it is called."""

    selection: Selection
    name: str

    @property
    def description(self) -> str:
        return f"the method `{self.name}` of {self.selection.description}"


def select(t: ProgramTranslator, node: ast.AST, x: Cell, mask: Cell) -> Selection:
    """``x[mask]``, a copy as NumPy's is."""
    _check(t, node, x, mask)
    return Selection(Cell(x.dtype, x.shape, x.ssa, x.name), Cell(mask.dtype, mask.shape, mask.ssa))


def _check(t: ProgramTranslator, node: ast.AST, x: Cell, mask: Cell) -> None:
    if mask.shape != x.shape[: len(mask.shape)]:
        raise t.type_error(node, f"a mask of the shape {mask.shape} does not fit {x.description}",
                           "its axes are the first ones of the array")  # fmt: skip


def write(t: ProgramTranslator, node: ast.AST, x: Cell, mask: Cell, value: Value) -> None:
    """``x[mask] = value``: a number, an array for the axes behind the mask's, or a selection by the same mask."""
    _check(t, node, x, mask)
    if t.tile is not None and x.born < t.tile.begin:
        t.tile.accesses.write(x, frozenset(), node)
    if isinstance(value, Selection):
        if not is_same(value.mask.ssa, mask.ssa) or value.cell.shape != x.shape:
            raise t.type_error(node, "the elements that one mask selects are written where another one is true",
                               "select and write by one mask, or choose: pk.where(mask, a, b)")  # fmt: skip
        value = value.cell
    elif isinstance(value, Cell) and value.size != 1 and len(value.shape) > len(x.shape) - len(mask.shape):
        raise t.type_error(node, f"{describe(value)} is written where a mask is true, and only the run knows how many "
                           "elements that are", "choose from a whole array: x[mask] = a[mask]")  # fmt: skip
    elif isinstance(value, Cell) and value.size == 1:
        value = Cell(value.dtype, (), reshape(value.ssa, value.dtype, value.shape, ()), is_scalar=True)
    elif not isinstance(value, Cell | Scalar):
        raise t.type_error(
            node, f"`x[mask] = ...` takes an array or a number, not {describe(value)}", "write a number"
        )
    given = elementwise.broadcast_to(t, node, value, x.dtype, x.shape)
    made = Composer(t, node)  # type: ignore[arg-type]
    chosen = made.array(made.call("where", _wide(made, mask, x), given, Cell(x.dtype, x.shape, x.ssa)))
    t.write(node, x, chosen.ssa)


def _wide(made: Composer, mask: Cell, x: Cell) -> Cell:
    """The mask with axes for all of the array."""
    return made.reshaped(mask, *mask.shape, *(1,) * (len(x.shape) - len(mask.shape)))


# -- functions of selections --------------------------------------------------------------------


def operator(t: ProgramTranslator, node: ast.AST, symbol: str, operands: list[Value]) -> Value:
    """An operator between selections by one mask, and numbers."""
    return _of_each(t, node, operands, lambda given: t.operator(node, symbol, *given))


def call(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """A function of the language, of which an argument is a selection."""
    if name in REDUCTIONS or name in ("mean", "var", "std"):
        return _reduced(t, node, name, args, keywords)
    made = Composer(t, node)
    if name in ("len", "size", "count_nonzero") and len(args) == 1 and not keywords:
        chosen = args[0]
        assert isinstance(chosen, Selection)
        counted = chosen.mask if name != "count_nonzero" else _also(made, chosen)
        return made.call("sum", counted)
    if name in mathematics.NAMES or name in mathematics.OF_NUMPY or name in _EACH:
        return _of_each(t, node, args, lambda given: made.call(name, *given, **keywords))
    raise t.type_error(node, f"`{name}` is not available of elements that a mask selects: only the run knows how many "
                       "there are", "compute with them, reduce them, write them back: x[mask] = f(x[mask]); or choose "
                       "with pk.where(mask, a, b)")  # fmt: skip


def _also(made: Composer, chosen: Selection) -> Value:
    return made.op("&", _wide(made, chosen.mask, chosen.cell), operators.truth(made, chosen.cell))


def refuse_index(t: ProgramTranslator, node: ast.AST) -> KernelTypeError:
    """``x[mask][0]``."""
    return t.type_error(node, "elements that a mask selects have no places of their own: only the run knows how many "
                        "there are", "reduce them, write them back, or choose with pk.where(mask, a, b)")  # fmt: skip


def refuse_result(t: ProgramTranslator, node: ast.AST) -> KernelTypeError:
    """``return x[mask]``."""
    return t.type_error(node, "a program does not return elements that a mask selects: only the run knows how many "
                        "there are", "return the mask as well, and select outside: y[m]")  # fmt: skip


def method(t: ProgramTranslator, node: ast.Call, bound: SelectionMethod, args: list, keywords: dict) -> Value:
    """``x[mask].sum()``: the function with the selection first."""
    name = {"clip": "clamp", "astype": "cast"}.get(bound.name, bound.name)
    return bound.selection if name == "copy" else call(t, node, name, [bound.selection, *args], keywords)


def attribute(t: ProgramTranslator, node: ast.Attribute, value: Selection) -> Value:
    if node.attr == "dtype":
        return t.cell_attribute(node, value.cell)
    if node.attr in METHODS:
        return SelectionMethod(value, node.attr)
    if node.attr == "size" and len(value.mask.shape) == len(value.cell.shape):
        call_ = ast.copy_location(ast.Call(node, [], []), node)
        return Composer(t, call_).call("sum", value.mask)
    raise t.type_error(node, f"`{node.attr}` of elements that a mask selects is not available: only the run knows how "
                       "many there are", f"there are {', '.join(METHODS)}, and their number: mask.sum()")  # fmt: skip


def _of_each(t: ProgramTranslator, node: ast.AST, operands: list[Value], function) -> Selection:
    chosen = [o for o in operands if isinstance(o, Selection)]
    mask, shape = chosen[0].mask, chosen[0].cell.shape
    for other in chosen[1:]:
        if not is_same(other.mask.ssa, mask.ssa):
            raise t.type_error(node, "the elements that two masks select are put together",
                               "select by one mask, or choose from whole arrays with pk.where")  # fmt: skip
    for other in operands:
        if isinstance(other, Cell) and len(other.shape) > len(shape) - len(mask.shape) and other.size != 1:
            raise t.type_error(node, f"{describe(other)} is put together with elements that a mask selects, and only "
                               "the run knows how many there are", "select of both: x[mask] + y[mask]")  # fmt: skip
    value = function([o.cell if isinstance(o, Selection) else o for o in operands])
    if not isinstance(value, Cell) or value.shape[: len(mask.shape)] != mask.shape:
        raise t.type_error(node, "this gives no array of selected elements", "select after it")
    return Selection(value, mask)


def _reduced(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """Over the selected elements; of axes behind those of the mask, each alone where ``axis=0`` says so."""
    chosen, made = args[0], Composer(t, node)
    assert isinstance(chosen, Selection)
    rank = len(chosen.mask.shape)
    given = {**dict(zip(("axis",), args[1:], strict=False)), **keywords}
    axis = given.pop("axis", None)
    if given or len(args) > 2 or (isinstance(axis, Scalar) and axis.const != 0):
        raise t.type_error(node, f"`{name}` of selected elements goes over all of them, or along axis 0",
                           "leave the other arguments out")  # fmt: skip
    along = {}
    if isinstance(axis, Scalar):
        along = {"axis": numbers(tuple(range(rank)))}
    x, wide = chosen.cell, _wide(made, chosen.mask, chosen.cell)
    if name in ("var", "std"):
        mean = _reduced(t, node, "mean", args, keywords)
        apart = made.op("-", x, mean)
        spread = _reduced(t, node, "mean", [Selection(made.array(made.op("*", apart, apart)), chosen.mask), *args[1:]],
                          keywords)  # fmt: skip
        return made.call("sqrt", spread) if name == "std" else spread
    if name == "mean":
        total = _reduced(t, node, "sum", args, keywords)
        count = made.call("sum", made.call("broadcast_to", wide, numbers(x.shape)), **along)
        return made.op("/", total, count if not x.dtype.is_float else made.cast(count, x.dtype))
    rule = REDUCTIONS[name]
    nothing = (
        Scalar(x.dtype, const=rule.start(x.dtype)) if name not in ("any", "all") else number(name == "all")
    )
    value: Value = x if name not in ("any", "all") or x.dtype == bool_ else operators.truth(made, x)
    return made.call(name, made.call("where", wide, value, nothing), **along)


# -- equal masks --------------------------------------------------------------------------------


def is_same(a: ir.Value, b: ir.Value) -> bool:
    """Whether two values are computed alike: ``x > 0``, written twice while `x` holds the same."""
    return _alike(a, b, {})


def _alike(a: ir.Value, b: ir.Value, known: dict[ir.Value, ir.Value]) -> bool:
    if a == b or (a in known and known[a] == b):
        return True
    if isinstance(a, ir.BlockArgument) or isinstance(b, ir.BlockArgument):
        return False
    first, second = a.owner.operation, b.owner.operation
    number_ = [r == a for r in first.results].index(True)
    if number_ >= len(second.results) or second.results[number_] != b or not _alike_ops(first, second, known):
        return False
    known[a] = b
    return True


def _alike_ops(a: ir.Operation, b: ir.Operation, known: dict[ir.Value, ir.Value]) -> bool:
    if a.name != b.name or len(a.operands) != len(b.operands) or len(a.regions) != len(b.regions):
        return False
    if _attributes(a) != _attributes(b):
        return False
    if not all(_alike(x, y, known) for x, y in zip(a.operands, b.operands, strict=True)):
        return False
    return all(_alike_regions(x, y, known) for x, y in zip(a.regions, b.regions, strict=True))


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _alike_regions(a: ir.Region, b: ir.Region, known: dict[ir.Value, ir.Value]) -> bool:
    blocks = list(a.blocks), list(b.blocks)
    if len(blocks[0]) != len(blocks[1]):
        return False
    for x, y in zip(*blocks, strict=True):
        if [r.type for r in x.arguments] != [r.type for r in y.arguments]:
            return False
        known.update(zip(x.arguments, y.arguments, strict=True))
        if len(list(x.operations)) != len(list(y.operations)):
            return False
        for p, q in zip(x.operations, y.operations, strict=True):
            if not _alike_ops(p.operation, q.operation, known):
                return False
            known.update(zip(p.operation.results, q.operation.results, strict=True))
    return True
