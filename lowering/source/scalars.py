"""Ops without side effects as expressions: arith, math, and the places of work-items.

Comes in: an op and the expressions of its operands. Goes out: its own. One function for each kind of op; `expression`
chooses among them by the op's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.source.expressions import (
    AND,
    LOOSE,
    OR,
    PRODUCT,
    SUM,
    Expression,
    binary,
    both,
    call,
    comparison,
    negated,
    prefix,
)
from pykern.lowering.source.language import MODERATE, Language
from pykern.lowering.source.pairs import Pairs
from pykern.passes.analysis.integer_ranges import width
from pykern.passes.ir.values import made_by

_SIGNED = {
    "addi": ("+", SUM),
    "subi": ("-", SUM),
    "muli": ("*", PRODUCT),
    "divsi": ("/", PRODUCT),
    "remsi": ("%", PRODUCT),
}
_UNSIGNED = {"divui": ("/", PRODUCT), "remui": ("%", PRODUCT), "shli": ("<<", LOOSE), "shrui": (">>", LOOSE)}
_SHIFTS = ("shli", "shrui")
_FLOATS = {"addf": ("+", SUM), "subf": ("-", SUM), "mulf": ("*", PRODUCT), "divf": ("/", PRODUCT)}
_BITS = {"andi": "&", "ori": "|", "xori": "^"}
_WRAPPING = {"addi", "subi", "muli"}
_COMPARED = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FIRST_UNSIGNED = 6
_ORDERED = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<="}
_UNORDERED = {9: "<=", 10: "<", 11: ">=", 12: ">"}
"""Unordered comparisons, and the ordered one that each is the opposite of."""
_ORDERED_EQUAL, _ORDERED_UNEQUAL, _ALL_NUMBERS, _UNORDERED_EQUAL, _UNEQUAL, _ANY_NAN = 1, 6, 7, 8, 13, 14
_EXTREMES = {"minsi": "<", "maxsi": ">", "minui": "<", "maxui": ">"}
_SHIFTS_BY = (*_SHIFTS, "shrsi")
_CASTS = ("index_cast", "index_castui", "extsi", "extui", "trunci", "uitofp", "sitofp", "bitcast")
"""Ops that read the type that an operand has in the text."""
_WITHOUT_SIGN = ("arith.divui", "arith.remui", "arith.shrui")
_UNFITTED = (*_BITS, *_EXTREMES, "shrsi", "select", "fptosi")
"""Ops whose expressions have the type of their operands, whatever the result is kept in."""

Operands = list[Expression]


class Scalars:
    """Expressions of one language. `plain` tells of an op whether its signed arithmetic cannot overflow, `natural` of a
    value whether it is proved not to be negative, `kind_of` the type that a value has in the text: an index that is
    proved to be small is one of 32 bits."""

    def __init__(
        self,
        language: Language,
        plain: Callable[[ir.Operation], bool],
        natural: Callable[[ir.Value], bool],
        kind_of: Callable[[ir.Value], ir.Type],
    ) -> None:
        self.language = language
        self.plain = plain
        self.natural = natural
        self.kind_of = kind_of
        self.pairs = Pairs(language.helpers, kind_of) if language.pairs else None

    def expression(self, op: ir.Operation, operands: Operands) -> Expression:
        """Raises `TargetError` for an op that has no form in source."""
        dialect, _, name = op.name.partition(".")
        if op.name in ("gpu.thread_id", "gpu.block_id"):
            axis = "xyz".index(str(op.attributes["dimension"])[-2])
            place = self.language.place(name.removesuffix("_id"), axis)
            return self.language.place_as(self.kind_of(op.results[0]), place)
        if self.pairs is not None and (self.pairs.concern(op) or self._wants_all_bits(op)):
            return self.pairs.expression(op, operands)
        if dialect == "math":
            operands = [self._whole(value, each) for value, each in zip(op.operands, operands, strict=True)]
            if name == "fma" and all(made_by(value, "arith.constant") for value in op.operands):
                # naga does not compute it of constants of 64 bits
                operands[0] = self.language.hidden(operands[0], op.operands[0].type)
            if kern.MODERATE in op.attributes:
                name = f"{MODERATE}{name}"
            value = self.language.function(name, op.results[0].type, operands)
            value = value if self.language.mixes else self._fitted(op, value)
            return self.language.rounded(value, op) if name == "fma" else value
        found = getattr(self, f"_{name}", None) or self._by_table(name)
        if dialect != "arith" or found is None:
            raise TargetError(f"`{op.name}` has no form in {self.language.name}", span_of(op.location))
        if self.language.mixes or name in _CASTS:
            return found(op, operands)
        value = found(op, self._alike(op, operands))
        return self._fitted(op, value) if name in _UNFITTED else value

    def converted(self, value: Expression, kind: ir.Type, wanted: ir.Type) -> Expression:
        """A value that is assigned to what has another type in the text: languages that mix types do it alone."""
        if self.pairs is not None:
            return self.pairs.of(value, kind) if width(wanted) == 64 else value
        is_apart = is_wide(wanted) and width(kind) < 64 and not self.language.mixes
        return self.language.cast(wanted, value) if is_apart else value

    def _alike(self, op: ir.Operation, x: Operands) -> Operands:
        """Numbers of 64 bits that are kept in 32, as the widest that the op takes and gives."""
        kinds = [self.kind_of(value) for value in op.operands]
        wide = [is_wide(value.type) for value in op.operands]
        if op.name.partition(".")[2] in _SHIFTS_BY:
            wide[1] = False  # languages take any number of bits to shift by
        wanted = [kind for kind, is_one in zip(kinds, wide, strict=True) if is_one]
        wanted += [self.kind_of(result) for result in op.results if is_wide(result.type)]
        wanted += [ir.IntegerType.get_signless(64)] * self._wants_all_bits(op)
        if not wanted or max(map(width, wanted)) < 64:
            return x
        whole = max(wanted, key=width)
        return [
            self.language.cast(whole, each) if is_one and width(kind) < 64 else each
            for each, kind, is_one in zip(x, kinds, wide, strict=True)
        ]

    def _fitted(self, op: ir.Operation, value: Expression) -> Expression:
        """What was computed in 64 bits, in 32 where the text keeps it so."""
        (result,) = op.results
        kept = self.kind_of(result)
        given = [width(self.kind_of(each)) for each in op.operands if is_wide(each.type)]
        is_whole = op.name.startswith(("math.", "arith.fpto")) or max(given, default=0) == 64
        return (
            self.language.cast(kept, value)
            if is_wide(result.type) and width(kept) < 64 and is_whole
            else value
        )

    def _whole(self, value: ir.Value, operand: Expression) -> Expression:
        """An argument of a function in all of its bits: functions are chosen by the types of what they are given."""
        kept = self.kind_of(value)
        is_kept_small = isinstance(value.type, ir.IntegerType) and width(kept) < width(value.type)
        return self.language.cast(value.type, operand) if is_kept_small else operand

    def _by_table(self, name: str) -> Callable[[ir.Operation, Operands], Expression] | None:
        if name in _SIGNED:
            return self._signed
        if name in _UNSIGNED:
            return self._unsigned
        if name in _FLOATS:
            return self._float
        if name in _BITS:
            return self._bits
        if name in _EXTREMES:
            return self._extreme
        return None

    # -- integers --------------------------------------------------------------------------------

    def _signed(self, op: ir.Operation, x: Operands) -> Expression:
        name, kind = op.name.partition(".")[2], op.results[0].type
        operator, level = _SIGNED[name]
        if name in _WRAPPING and not self.language.wraps and not self.plain(op):
            return self._by_unsigned(operator, level, self.kind_of(op.results[0]), x)
        left, right = self._as_wide(op, x)
        if name == "addi" and right.text.startswith("-") and right.text[1:].isdigit():
            return binary(left, "-", Expression(right.text[1:]), level)
        if is_wide(kind):
            return self._index_result(op, binary(left, operator, right, level))
        return self._narrowed(binary(left, operator, right, level), kind)

    def _as_wide(self, op: ir.Operation, x: Operands) -> Operands:
        """Operands of index arithmetic, one of them in 64 bits where the result needs them and neither has them."""
        widths = [width(self.kind_of(operand)) for operand in op.operands]
        wanted = self.kind_of(op.results[0])
        if not is_wide(op.results[0].type) or max(widths) >= width(wanted) or not self.language.mixes:
            return x
        return [self.language.cast(wanted, x[0]), *x[1:]]

    def _index_result(self, op: ir.Operation, value: Expression) -> Expression:
        """In 32 bits where that is the value's type and operands had more."""
        wanted = self.kind_of(op.results[0])
        has_more = any(width(self.kind_of(operand)) > width(wanted) for operand in op.operands)
        return self.language.cast(wanted, value) if has_more else value

    def _by_unsigned(self, operator: str, level: int, kind: ir.Type, x: Operands) -> Expression:
        """Unsigned numbers wrap around where signed ones would have no meaning."""
        narrow = (
            isinstance(kind, ir.IntegerType) and kind.width < 32
        )  # which C computes in 32 bits with a sign
        unsigned = ir.IntegerType.get_signless(32) if narrow else kind
        left, right = (self.language.to_unsigned(unsigned, each) for each in x)
        return self.language.signed(kind, binary(left, operator, right, level))

    def _unsigned(self, op: ir.Operation, x: Operands) -> Expression:
        name, kind = op.name.partition(".")[2], self.kind_of(op.results[0])
        operator, level = _UNSIGNED[name]
        unsigned = self._widest(op)
        if self._wants_all_bits(op):
            unsigned = ir.IntegerType.get_signless(64)
        elif name == "shrui":
            x = [x[0], self._amount(op, x[1])]
        if name != "shli" and all(map(self.natural, op.operands)):  # there is no sign to lose
            right = self.language.shift(x[1]) if name in _SHIFTS else x[1]
            left, right = self._as_wide(op, [x[0], right])
            return self._index_result(op, binary(left, operator, right, level))
        left = self.language.to_unsigned(unsigned, x[0])
        if width(kind) < width(unsigned) and not self.language.mixes:
            other = self.language.unsigned_shift if name in _SHIFTS else self.language.to_unsigned
            whole = binary(left, operator, other(unsigned, x[1]), level)
            return self.language.cast(kind, self.language.signed(unsigned, whole))
        if name == "shli" and x[0].text.isdigit() and width(unsigned) > 32:
            left = prefix(f"({self.language.unsigned(unsigned)})", x[0])  # what is shifted decides the width
        other = self.language.unsigned_shift if name in _SHIFTS else self.language.to_unsigned
        return self.language.signed(kind, binary(left, operator, other(unsigned, x[1]), level))

    def _wants_all_bits(self, op: ir.Operation) -> bool:
        """Whether 32 bits that hold a number below 0 are too few: without its sign it is one of 64 bits."""
        return (
            op.name in _WITHOUT_SIGN
            and is_wide(op.results[0].type)
            and not all(map(self.natural, op.operands))
        )

    def _widest(self, op: ir.Operation) -> ir.Type:
        """The widest type of what an op takes and gives."""
        return max((self.kind_of(value) for value in (*op.operands, *op.results)), key=width)

    def _shrsi(self, op: ir.Operation, x: Operands) -> Expression:
        by = self.language.shift(self._amount(op, x[1]))
        return self._narrowed(binary(x[0], ">>", by, LOOSE), op.results[0].type)

    def _amount(self, op: ir.Operation, by: Expression) -> Expression:
        """How far to shift right: a number of 64 bits that is kept in 32 has nothing left behind its last bit."""
        kept = is_wide(op.results[0].type) and width(self.kind_of(op.operands[0])) == 32
        if not kept or (by.text.isdigit() and int(by.text) < 32):
            return by
        most = Expression("31")
        return self.language.select(comparison(by, "<", most), by, most)

    def _bits(self, op: ir.Operation, x: Operands) -> Expression:
        name, kind = op.name.partition(".")[2], op.results[0].type
        if str(kind) != "i1":
            return self._narrowed(binary(x[0], _BITS[name], x[1], LOOSE), kind)
        if name == "xori":
            return negated(x[0]) if x[1].text == "true" else comparison(x[0], "!=", x[1])
        return both(x[0], *(("&&", x[1], AND) if name == "andi" else ("||", x[1], OR)))

    def _narrowed(self, value: Expression, kind: ir.Type) -> Expression:
        """C computes what is below 32 bits in 32."""
        small = isinstance(kind, ir.IntegerType) and 1 < kind.width < 32
        return self.language.resized(kind, value, ir.IntegerType.get_signless(32)) if small else value

    def _extreme(self, op: ir.Operation, x: Operands) -> Expression:
        name = op.name.partition(".")[2]
        left, right = x
        if name.endswith("ui"):
            unsigned = self._widest(op)
            left, right = (self.language.to_unsigned(unsigned, each) for each in x)
        return self.language.select(comparison(left, _EXTREMES[name], right), *x)

    def _cmpi(self, op: ir.Operation, x: Operands) -> Expression:
        predicate, kind = ir.IntegerAttr(op.attributes["predicate"]).value, op.operands[0].type
        if str(kind) == "i1" and predicate < 2 and x[1].text in ("true", "false"):
            return x[0] if (x[1].text == "true") == (predicate == 0) else negated(x[0])
        if str(kind) == "i1" and predicate > 1:
            whole = [self.language.cast(ir.IntegerType.get_signless(32), each) for each in x]
            x = whole if predicate >= _FIRST_UNSIGNED else whole[::-1]  # true is -1 with a sign
        elif predicate >= _FIRST_UNSIGNED:
            unsigned = max(map(self.kind_of, op.operands), key=width)
            x = [self.language.to_unsigned(unsigned, each) for each in x]
        return comparison(x[0], _COMPARED[predicate], x[1])

    # -- floats ----------------------------------------------------------------------------------

    def _cmpf(self, op: ir.Operation, x: Operands) -> Expression:
        predicate, kind = ir.IntegerAttr(op.attributes["predicate"]).value, op.operands[0].type
        left, right = x
        if left == right and predicate in (
            _ORDERED_EQUAL,
            _UNEQUAL,
        ):  # compilers take such a test for granted
            predicate = _ANY_NAN if predicate == _UNEQUAL else _ALL_NUMBERS
        if predicate in _ORDERED:
            return comparison(left, _ORDERED[predicate], right)
        if predicate in _UNORDERED:
            return negated(comparison(left, _UNORDERED[predicate], right))
        if predicate == _UNEQUAL:
            unequal = comparison(left, "!=", right)
            return unequal if self.language.unequal_to_nan else prefix("!", comparison(left, "==", right))
        if predicate in (_ALL_NUMBERS, _ANY_NAN):
            sides = x if left != right else [left]
            found = [self.language.is_nan(each, kind) for each in sides]
            any_nan = found[0] if len(found) == 1 else both(found[0], "||", found[1], OR)
            return any_nan if predicate == _ANY_NAN else prefix("!", any_nan)
        if predicate in (_ORDERED_UNEQUAL, _UNORDERED_EQUAL):
            unequal = both(comparison(left, "<", right), "||", comparison(left, ">", right), OR)
            return unequal if predicate == _ORDERED_UNEQUAL else prefix("!", unequal)
        return Expression("true" if predicate else "false")

    def _float(self, op: ir.Operation, x: Operands) -> Expression:
        operator, level = _FLOATS[op.name.partition(".")[2]]
        if operator in "-/" and x[0] == x[1]:
            x = [x[0], self.language.hidden(x[1], op.results[0].type)]
        return self.language.rounded(binary(x[0], operator, x[1], level), op)

    def _negf(self, op: ir.Operation, x: Operands) -> Expression:
        return prefix("-", x[0])

    def _remf(self, op: ir.Operation, x: Operands) -> Expression:
        return self.language.function("fmod", op.results[0].type, x)

    def _minnumf(self, op: ir.Operation, x: Operands) -> Expression:
        return call("fmin", *x)

    def _maxnumf(self, op: ir.Operation, x: Operands) -> Expression:
        return call("fmax", *x)

    # -- both ------------------------------------------------------------------------------------

    def _select(self, op: ir.Operation, x: Operands) -> Expression:
        condition, one, other = x
        if str(op.results[0].type) == "i1":
            if one.text == "true":
                return both(condition, "||", other, OR)
            if other.text == "false":
                return both(condition, "&&", one, AND)
        return self.language.select(*x)

    def _bitcast(self, op: ir.Operation, x: Operands) -> Expression:
        given, wanted = op.operands[0].type, op.results[0].type
        return x[0] if given == wanted else self.language.bits(x[0], given, wanted)

    def _cast(self, op: ir.Operation, x: Operands) -> Expression:
        return self.language.cast(op.results[0].type, x[0])

    _extf = _truncf = _fptosi = _cast

    def _sitofp(self, op: ir.Operation, x: Operands) -> Expression:
        value = x[0] if x[0].widened is None else x[0].widened[0]  # the same number
        return self.language.cast(op.results[0].type, value)

    def _integer_cast(self, op: ir.Operation, x: Operands) -> Expression:
        given, wanted, value = self.kind_of(op.operands[0]), self.kind_of(op.results[0]), x[0]
        if given == wanted:
            return value
        if value.widened is not None:
            inner, kind = value.widened
            if width(wanted) <= width(kind):
                return inner if wanted == kind else self.language.resized(wanted, inner, kind)
        cast = self.language.resized(wanted, value, given)
        return replace(cast, widened=(value, given)) if width(wanted) > width(given) > 1 else cast

    _index_cast = _extsi = _trunci = _integer_cast

    def _from_unsigned(self, op: ir.Operation, x: Operands) -> Expression:
        given, wanted = self.kind_of(op.operands[0]), self.kind_of(op.results[0])
        if str(given) == "i1":
            return self.language.cast(wanted, x[0])
        return self.language.from_unsigned(wanted, self.language.to_unsigned(given, x[0]))

    _extui = _uitofp = _index_castui = _from_unsigned

    def _fptoui(self, op: ir.Operation, x: Operands) -> Expression:
        kind = self.kind_of(op.results[0])
        return self.language.cast(kind, self.language.unsigned_of_float(kind, x[0]))


def is_wide(kind: ir.Type) -> bool:
    """Whether a type has 64 bits: the text may do with 32 where the number is proved to be small."""
    return isinstance(kind, ir.IndexType) or (isinstance(kind, ir.IntegerType) and kind.width == 64)
