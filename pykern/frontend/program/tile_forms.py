"""How a value depends on what is reduced along a tile, and on what a loop over tiles carries.

Comes in: SSA values, with marks at reductions along tiles and at values that a loop carries. Goes out: a `Form` for
each: a reduction whose parts one operator puts together, a carried value that was accumulated into, or some other
function of these. Indices of elements play no part: a tile's own axis is gone once it is reduced. Read next:
`tile_reductions`, which asks.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import Literal

from mlir import ir

Kind = Literal["fixed", "reduced", "carried", "other"]
ADD, MUL, MAX, MIN, AND, OR, XOR = "add", "mul", "max", "min", "and", "or", "xor"
IDEMPOTENT = (MAX, MIN, AND, OR)
"""Operators for which the same operand twice is as good as once."""
NOTHING: frozenset[object] = frozenset()


@dataclass(frozen=True)
class Form:
    """`op` is the operator of a reduction, or of what was accumulated into a carried value.

    `over`: the tiles that were reduced, or depended on in another way. `carries`: the loops whose carried values take
    part. `moves`: what was reduced depends on those, or on other reductions, as ``exp(x - running_maximum)`` does.
    `scaled`: a carried value was multiplied by what each tile gives. `wrong`: why it would show the number of tiles.
    """

    kind: Kind = "fixed"
    op: str | None = None
    over: frozenset[object] = NOTHING
    carries: frozenset[object] = NOTHING
    moves: bool = False
    scaled: bool = False
    wrong: str = ""
    constant: float | None = None
    """The number that a fixed value is, in all elements."""


FIXED = Form()
STAND_IN = "builtin.unrealized_conversion_cast"
"""The op of which a value is the same as another, but for what is known of it."""
_CONVERSIONS = {
    "arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp", "arith.extsi", "arith.extui", "arith.index_cast",
    "tensor.expand_shape", "tensor.collapse_shape", "tensor.extract_slice", "tensor.extract", "tensor.from_elements",
    "tensor.cast", "linalg.fill", STAND_IN,
}  # fmt: skip
_OPERATORS = {
    "arith.addf": ADD, "arith.addi": ADD, "arith.mulf": MUL, "arith.muli": MUL, "arith.maximumf": MAX,
    "arith.maxsi": MAX, "arith.maxui": MAX, "arith.maxnumf": MAX, "arith.minimumf": MIN, "arith.minsi": MIN,
    "arith.minui": MIN, "arith.minnumf": MIN, "arith.andi": AND, "arith.ori": OR, "arith.xori": XOR,
}  # fmt: skip
_NEUTRAL: dict[str | None, float] = {
    ADD: 0,
    MUL: 1,
    MAX: float("-inf"),
    MIN: float("inf"),
    OR: 0,
    XOR: 0,
    AND: 1,
}


MARK = "tile_mark"
"""The attribute of an op whose result has a `Mark`, by number: ops may be erased and made again."""


@dataclass
class Mark:
    """What is known of an op's result. `form`: given, until the loop is over that gave it. `by`: it is reduced by this
    operator along `tiles`."""

    form: Form | None = None
    by: str = ""
    tiles: frozenset[object] = NOTHING


@dataclass
class Forms:
    """Forms of the values of one kernel. `marks` has what is known from elsewhere.

    `open` has the tiles of now: what was reduced along those of a loop that is over is a value like any other.
    """

    open: Container[object] = ()
    marks: list[Mark] = field(default_factory=list)
    _known: dict[ir.Value, Form] = field(default_factory=dict)

    def mark(self, op: ir.Operation, mark: Mark) -> None:
        """Note something about the one result of an op."""
        op.attributes[MARK] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(self.marks))
        self.marks.append(mark)

    def mark_of(self, op: ir.Operation) -> Mark | None:
        return self.marks[ir.IntegerAttr(op.attributes[MARK]).value] if MARK in op.attributes else None

    def of(self, value: ir.Value) -> Form:
        """The form of a value, as marks are now."""
        self._known.clear()
        return self._of(value)

    def _of(self, value: ir.Value) -> Form:
        if value not in self._known:
            owner = value.owner
            self._known[value] = (
                FIXED if isinstance(owner, ir.Block) else self._result(owner.operation, value)
            )
        return self._known[value]

    def _result(self, op: ir.Operation, value: ir.Value) -> Form:
        mark = self.mark_of(op) or Mark()
        if mark.form is not None:
            return mark.form
        tiles = frozenset(tile for tile in mark.tiles if tile in self.open)
        if tiles:
            return _reduced(mark.by, tiles, self._contribution(op))
        if op.name == "linalg.generic":
            return self._body(op, [self._of(v) for v in op.operands])[value.result_number]  # type: ignore[attr-defined]
        if op.name in ("linalg.matmul", "linalg.batch_matmul"):
            return self._contribution(op)
        if op.regions and len(op.regions):
            return _mixed([self._of(v) for v in _outside(op)])
        return _scalar(op, [self._of(v) for v in op.operands])

    def _contribution(self, op: ir.Operation) -> Form:
        """What an op reduces, of one element."""
        given = [self._of(v) for v in op.operands]
        if op.name != "linalg.generic":
            return _product(given[0], given[1])
        return self._body(op, [*given[:-1], FIXED], starts=False)[0]

    def _body(self, op: ir.Operation, given: list[Form], starts: bool = True) -> list[Form]:
        """Forms of the results of a generic; without `starts` what is reduced is looked at alone."""
        block = op.regions[0].blocks[0]
        found = dict(zip(block.arguments, given, strict=True))
        output = block.arguments[len(given) - 1]

        def look(value: ir.Value) -> Form:
            return found[value] if value in found else self._of(value)

        for inner in block.operations:
            operands = [v for v in inner.operands if starts or v != output]
            if inner.operation.name == "linalg.yield":
                return [look(v) for v in operands]
            forms = [look(v) for v in operands]
            alone = len(forms) == 1 and len(inner.operands) == 2
            for result in inner.results:
                found[result] = forms[0] if alone else _scalar(inner.operation, forms)
        raise AssertionError("a generic ends with a yield")


def _outside(op: ir.Operation) -> list[ir.Value]:
    """What an op with regions reads from around it; of values of its own, too, whose forms are fixed."""
    found = list(op.operands)

    def note(inner: ir.Operation) -> ir.WalkResult:
        found.extend(inner.operands)
        return ir.WalkResult.ADVANCE

    op.walk(note)
    return found


def _reduced(by: str, tiles: frozenset[object], each: Form) -> Form:
    if each.kind == "fixed":
        return Form("reduced", by, tiles)
    if each.kind == "reduced" and each.op == by:
        return replace(each, over=each.over | tiles)
    if each.over <= tiles:
        return Form("reduced", by, tiles, each.carries, moves=True)
    return Form("other", over=each.over | tiles, carries=each.carries)


def _mixed(forms: list[Form]) -> Form:
    """Some function of all."""
    if all(f.kind == "fixed" for f in forms):
        return FIXED
    over = frozenset().union(*(f.over for f in forms))
    carries = frozenset().union(*(f.carries for f in forms))
    return Form("other", over=over, carries=carries)


def _scalar(op: ir.Operation, forms: list[Form]) -> Form:
    name = op.name
    if name == "arith.constant":
        return replace(FIXED, constant=_number(op))
    if name in _CONVERSIONS or _is_truth(op):
        return forms[0] if forms else FIXED
    if all(f.kind == "fixed" for f in forms):
        return FIXED
    if name in ("arith.subf", "arith.subi"):
        return _combined(ADD, forms[0], _negative(forms[1]))
    if name == "arith.negf":
        return _negative(forms[0])
    if name == "arith.divf":
        return _product(forms[0], forms[1]) if forms[0].kind != "fixed" else _mixed(forms)
    if name == "arith.select":
        return _chosen(*forms)
    by = _OPERATORS.get(name)
    if by == MUL:
        return _product(*forms)
    return _mixed(forms) if by is None else _combined(by, *forms)


def _number(op: ir.Operation) -> float | None:
    value = ir.Attribute(op.attributes["value"])
    if isinstance(value, ir.DenseElementsAttr) and value.is_splat:
        value = value.get_splat_value()
    return float(value.value) if isinstance(value, ir.IntegerAttr | ir.FloatAttr | ir.BoolAttr) else None


def _is_truth(op: ir.Operation) -> bool:
    """A bool as it is computed with, of one as memory holds it."""
    if op.name != "arith.cmpi" or len(op.operands) != 2 or str(op.operands[0].type) != "i8":
        return False
    made = op.operands[1].owner
    return (
        not isinstance(made, ir.Block)
        and made.operation.name == "arith.constant"
        and _number(made.operation) == 0
    )


def _negative(form: Form) -> Form:
    if form.kind == "reduced" and form.op == ADD:
        return form
    if form.kind == "fixed":
        return replace(form, constant=None if form.constant is None else -form.constant)
    return _mixed([form])


def _product(a: Form, b: Form) -> Form:
    if a.kind == "fixed":
        a, b = b, a
    if a.kind == "reduced" and b.kind == "fixed" and a.op == ADD:
        return a
    if a.kind == "carried" and b.kind == "fixed":
        wrong = "" if b.constant == 1 else "is multiplied by the same factor for each tile"
        return replace(a, wrong=a.wrong or wrong)
    if a.kind == "carried" and b.kind == "reduced" and b.op == MUL and a.op in (None, MUL):
        return replace(a, op=MUL, over=a.over | b.over)
    if a.kind == "carried" and a.op in (None, ADD) and b.carries:
        return replace(a, op=ADD, over=a.over | b.over, carries=a.carries | b.carries, scaled=True)
    if b.kind == "carried" and a.kind != "fixed":
        return _product(b, a) if a.kind != "carried" else _mixed([a, b])
    if a.kind == "reduced" and b.kind == "reduced" and a.op == b.op == MUL and a.over == b.over:
        return a
    return _mixed([a, b])


def _combined(by: str, a: Form, b: Form) -> Form:
    """`a` and `b` under an operator that reductions have."""
    for one, other in ((a, b), (b, a)):
        if one.kind == "fixed" and one.constant == _NEUTRAL[by]:
            return other
    if "carried" not in (a.kind, b.kind):
        one, other = (b, a) if a.kind == "fixed" else (a, b)
        if one.kind == "reduced" and one.op == by:
            if other.kind == "reduced" and other.op == by and other.over == one.over:
                return replace(one, carries=one.carries | other.carries, moves=one.moves or other.moves)
            if other.kind == "fixed" and by in IDEMPOTENT:
                return one
        return _mixed([a, b])
    one, other = (a, b) if a.kind == "carried" else (b, a)
    if one.op not in (None, by):
        return _mixed([a, b])
    if other.kind == "fixed":
        wrong = "" if by in IDEMPOTENT else "changes by the same amount for each tile"
        return replace(one, op=by, wrong=one.wrong or wrong)
    if other.kind == "reduced" and other.op == by:
        moves = one.moves or other.moves
        return replace(
            one, op=by, over=one.over | other.over, carries=one.carries | other.carries, moves=moves
        )
    if other.kind == "carried" or other.carries:
        return _mixed([a, b])
    return replace(
        one, op=by, wrong=one.wrong or "accumulates what is not reduced along the tile by the same operator"
    )


def _chosen(condition: Form, a: Form, b: Form) -> Form:
    if condition.kind == "fixed":
        for one, other in ((a, b), (b, a)):
            if one.kind == "reduced" and other.kind == "fixed" and other.constant == _NEUTRAL[str(one.op)]:
                return one
        if a.kind == b.kind == "reduced" and a.op == b.op and a.over == b.over:
            return replace(a, carries=a.carries | b.carries, moves=a.moves or b.moves)
        if a.kind == b.kind == "carried" and None in (a.op, b.op):
            return a if b.op is None else b
    return _mixed([condition, a, b])
