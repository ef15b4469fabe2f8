"""Ops on integers of 64 bits as expressions of a language that has 32: each such number is a pair.

Comes in: an op, the expressions of its operands, and the types that these have in the text: what is proved to fit in 32
bits has 32. Goes out: its own expression, which calls functions of `pair_functions`. Read next: `scalars`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir

from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.source.expressions import (
    ATOM,
    COMPARISON,
    PRODUCT,
    SUM,
    Expression,
    binary,
    call,
    prefix,
)
from pykern.lowering.source.wgsl_functions import add_function
from pykern.passes.analysis.integer_ranges import width

PAIR = "vec2<u32>"
_CALLED = {
    "addi": "add64", "subi": "sub64", "muli": "mul64", "divsi": "div64", "divui": "udiv64", "remsi": "rem64",
    "remui": "urem64",
}  # fmt: skip
_OF_LOW_BITS = {"addi": ("+", SUM), "subi": ("-", SUM), "muli": ("*", PRODUCT)}
_SHIFTS = {"shli": "shl64", "shrui": "ushr64", "shrsi": "shr64"}
_BITS = {"andi": "&", "ori": "|", "xori": "^"}
_EXTREMES = {"minsi": ("less64", 0), "maxsi": ("less64", 1), "minui": ("uless64", 0), "maxui": ("uless64", 1)}
_SWAPPED, _OPPOSITE = (1, 2), (1, 3)
"""Of `<`, `<=`, `>` and `>=`: those that are `<` of the operands in the other order, and those that are the opposite of
one."""

Operands = list[Expression]


@dataclass
class Pairs:
    """Expressions of pairs. `helpers` gets the functions that they call, `kind_of` gives the type of a value in the
    text."""

    helpers: dict[str, str]
    kind_of: Callable[[ir.Value], ir.Type]

    def concern(self, op: ir.Operation) -> bool:
        """Whether a value of an op is a pair."""
        return any(self._is_pair(value) for value in (*op.operands, *op.results))

    def expression(self, op: ir.Operation, x: Operands) -> Expression:
        """Raises `TargetError` for an op that has no form."""
        name = op.name.partition(".")[2]
        found = getattr(self, f"_{name}", None) or self._by_table(name)
        if any(isinstance(v.type, ir.F64Type) for v in (*op.operands, *op.results)):
            raise TargetError(
                "WGSL has no type f64", span_of(op.location), hint="use a smaller type on this target"
            )
        if found is None:
            raise TargetError(f"`{op.name}` of 64 bits has no form in WGSL", span_of(op.location))
        return found(op, x)

    def of(self, value: Expression, kind: ir.Type) -> Expression:
        """A number of 32 bits with its sign, or of 64, as a pair."""
        if width(kind) == 64 or isinstance(kind, ir.F64Type):
            return value
        if value.text.removeprefix("-").isdigit():
            return pair_of(int(value.text))
        return self._call("i64_of_i32", value)

    # -- what they share -------------------------------------------------------------------------

    def _is_pair(self, value: ir.Value) -> bool:
        return width(self.kind_of(value)) == 64 or isinstance(value.type, ir.F64Type)

    def _call(self, name: str, *operands: Expression) -> Expression:
        add_function(name, self.helpers)
        return call(name, *operands)

    def _operands(self, op: ir.Operation, x: Operands) -> Operands:
        """All as pairs."""
        values = list(op.operands)[-len(x) :]
        return [self.of(each, self.kind_of(value)) for each, value in zip(x, values, strict=True)]

    def _low(self, value: Expression, kind: ir.Type) -> Expression:
        """The last 32 bits of a number, with their sign."""
        return (
            value
            if width(kind) < 64
            else call("bitcast<i32>", Expression(f"{value.within(ATOM)}.x").over(value))
        )

    def _lows(self, op: ir.Operation, x: Operands) -> Operands:
        return [self._low(each, self.kind_of(value)) for each, value in zip(x, op.operands, strict=True)]

    def _result(self, op: ir.Operation, pair: Expression) -> Expression:
        """In 32 bits where the text has the result in them."""
        return pair if self._is_pair(op.results[0]) else self._low(pair, ir.IntegerType.get_signless(64))

    def _by_table(self, name: str) -> Callable[[ir.Operation, Operands], Expression] | None:
        if name in _CALLED:
            return self._called
        if name in _SHIFTS:
            return self._shift
        if name in _BITS:
            return self._by_bits
        return self._extreme if name in _EXTREMES else None

    # -- integers --------------------------------------------------------------------------------

    def _called(self, op: ir.Operation, x: Operands) -> Expression:
        name = op.name.partition(".")[2]
        if name in _OF_LOW_BITS and not self._is_pair(op.results[0]):
            operator, level = _OF_LOW_BITS[name]
            left, right = self._lows(op, x)
            return binary(left, operator, right, level)
        return self._result(op, self._call(_CALLED[name], *self._operands(op, x)))

    def _shift(self, op: ir.Operation, x: Operands) -> Expression:
        amount = self._low(x[1], self.kind_of(op.operands[1]))
        by = Expression(f"{amount.text}u") if amount.text.isdigit() else call("u32", amount)
        value = self.of(x[0], self.kind_of(op.operands[0]))
        return self._result(op, self._call(_SHIFTS[op.name.partition(".")[2]], value, by))

    def _by_bits(self, op: ir.Operation, x: Operands) -> Expression:
        operator = _BITS[op.name.partition(".")[2]]
        both = self._operands(op, x) if self._is_pair(op.results[0]) else self._lows(op, x)
        return binary(both[0], operator, both[1], 1)

    def _extreme(self, op: ir.Operation, x: Operands) -> Expression:
        function, second = _EXTREMES[op.name.partition(".")[2]]
        left, right = self._operands(op, x)
        ordered = self._call(function, left, right)
        pair = call("select", *((left, right) if second else (right, left)), ordered)
        return self._result(op, pair)

    def _absi(self, op: ir.Operation, x: Operands) -> Expression:
        return self._result(op, self._call("abs64", *self._operands(op, x)))

    def _cmpi(self, op: ir.Operation, x: Operands) -> Expression:
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        left, right = self._operands(op, x)
        if predicate < 2:
            sides = binary(left, "==!="[2 * predicate :][:2], right, COMPARISON)
            return call("any" if predicate else "all", sides)
        function = "less64" if predicate < 6 else "uless64"
        relation = (predicate - 2) % 4
        less = self._call(function, *((right, left) if relation in _SWAPPED else (left, right)))
        return prefix("!", less) if relation in _OPPOSITE else less

    def _select(self, op: ir.Operation, x: Operands) -> Expression:
        one, other = self._operands(op, x[1:])
        return self._result(op, call("select", other, one, x[0]))

    # -- conversions -----------------------------------------------------------------------------

    def _signed_cast(self, op: ir.Operation, x: Operands) -> Expression:
        """To more bits, or to fewer."""
        (value,), given, wanted = x, self.kind_of(op.operands[0]), self.kind_of(op.results[0])
        if width(wanted) == 64:
            return self.of(value, given)
        if width(wanted) == 1:
            return Expression(f"({value.within(ATOM)}.x & 1u) != 0u", COMPARISON).over(value)
        low = self._low(value, given)
        if width(wanted) == 32:
            return low
        return Expression(f"extractBits({low.text}, 0u, {width(wanted)}u)").over(low)

    _index_cast = _extsi = _trunci = _signed_cast

    def _unsigned_cast(self, op: ir.Operation, x: Operands) -> Expression:
        """Zeros in front."""
        (value,), given, wanted = x, self.kind_of(op.operands[0]), self.kind_of(op.results[0])
        if width(given) == 64 or width(wanted) < 64:
            return self._signed_cast(op, x)
        bits = call("u32" if width(given) == 1 else "bitcast<u32>", value)
        kept = width(op.operands[0].type)
        if 1 < kept < 32:
            bits = binary(bits, "&", Expression(f"{(1 << kept) - 1:#x}u"), 1)
        return call(PAIR, bits, Expression("0u"))

    _extui = _index_castui = _unsigned_cast

    def _to_float(self, op: ir.Operation, x: Operands) -> Expression:
        """Numbers that f16 holds are exact in f32."""
        function = "f32_of_i64" if op.name.endswith("sitofp") else "f32_of_u64"
        number = self._call(function, *self._operands(op, x))
        return number if isinstance(op.results[0].type, ir.F32Type) else call("f16", number)

    _sitofp = _uitofp = _to_float

    def _to_integer(self, op: ir.Operation, x: Operands) -> Expression:
        function = "i64_of_f32" if op.name.endswith("fptosi") else "u64_of_f32"
        number = x[0] if isinstance(op.operands[0].type, ir.F32Type) else call("f32", x[0])
        return self._result(op, self._call(function, number))

    _fptosi = _fptoui = _to_integer


def pair_of(number: int) -> Expression:
    """A constant."""
    return Expression(f"{PAIR}({_half(number)}, {_half(number >> 32)})")


def _half(number: int) -> str:
    bits = number & 0xFFFFFFFF
    return f"{bits}u" if bits < 1 << 16 else f"{bits:#x}u"
