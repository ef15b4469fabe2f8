"""Python's operators on scalars: promotion of NumPy 2, meaning of Python.

``//`` and ``%`` round toward minus infinity; an integer divided by zero gives 0 (as NumPy), a shift
by the width or more gives 0 or the sign. Nothing here can trap at run time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, math

from pykern.data.promotion import promote, true_divide
from pykern.frontend.casts import can_hold, constant, convert, fits, integer_range, materialise
from pykern.frontend.values import OperandError, Scalar
from pykern.types import DType, bool_, f32, i8, i64, u64, weak_float, weak_int

FOLD: dict[str, Callable] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "<<": operator.lshift,
    ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

_SIGNED = dict(zip(COMPARISONS, ("slt", "sle", "sgt", "sge", "eq", "ne"), strict=True))
_UNSIGNED = dict(zip(COMPARISONS, ("ult", "ule", "ugt", "uge", "eq", "ne"), strict=True))
_FLOAT = dict(zip(COMPARISONS, ("OLT", "OLE", "OGT", "OGE", "OEQ", "UNE"), strict=True))


def binary(op: str, a: Scalar, b: Scalar, fastmath: bool = False) -> Scalar:
    """``a op b``. Raises `OperandError` where Python or NumPy would refuse."""
    if (
        a.is_const
        and b.is_const
        and (a.dtype.weak or a.dtype == bool_)
        and (b.dtype.weak or b.dtype == bool_)
    ):
        return fold(op, a, b)
    if op in COMPARISONS:
        return _compare(op, a, b)
    if op == "/":
        dtype = true_divide(a.dtype, b.dtype)
        return _float_binary(op, convert(a, dtype), convert(b, dtype), fastmath)
    if op == "**":
        return _power(a, b, fastmath)
    dtype = promote(a.dtype, b.dtype)
    if dtype == bool_ and op == "-":
        raise OperandError("`-` takes numbers, not bool and bool", "use a ^ b or a != b, or int(a) - int(b)")
    if dtype == bool_ and op in ("//", "%", "<<", ">>"):
        dtype = i8  # NumPy's
    a, b = fitting(a, dtype), fitting(b, dtype)
    left, right = convert(a, dtype), convert(b, dtype)
    if dtype.is_float:
        if op in ("&", "|", "^", "<<", ">>"):
            raise OperandError(f"`{op}` needs integers, not {a.dtype.name} and {b.dtype.name}",
                               "cast the float first, as in pk.i64(x)")  # fmt: skip
        return _float_binary(op, left, right, fastmath)
    if op in ("+", "-", "*") and left.is_const and right.is_const:
        return convert(fold(op, left, right), dtype)  # which may be a length
    return Scalar(dtype, _INTEGER[op](materialise(left), materialise(right), dtype))


def fold(op: str, a: Scalar, b: Scalar) -> Scalar:
    """Python's own arithmetic on constants."""
    try:
        return python_constant(FOLD[op](a.const, b.const))
    except (ArithmeticError, ValueError) as error:
        raise OperandError(f"`{a.const!r} {op} {b.const!r}`: {error}", "change the constants") from None


def python_constant(value: object) -> Scalar:
    """A Python bool, int or float as a weak constant."""
    if isinstance(value, bool):
        return Scalar(bool_, const=value)
    if isinstance(value, int):
        if not fits(value, weak_int) and not fits(value, u64):
            raise OperandError(f"the integer {value} needs more than 64 bits", "write it as a float")
        return Scalar(weak_int, const=value)
    if isinstance(value, float):
        return Scalar(weak_float, const=value)
    raise OperandError(
        f"a {type(value).__name__} constant has no type in kernels", "use numbers, bools and tuples"
    )


def negate(a: Scalar, fastmath: bool = False) -> Scalar:
    if a.is_const and a.dtype.weak:
        return python_constant(-a.const)
    if a.dtype == bool_ and not a.is_const:
        raise OperandError("`-` takes a number, not bool", "use `not a`, or -int(a)")
    if a.dtype == bool_:
        a = convert(a, weak_int)
    if a.dtype.is_float:
        return Scalar(a.dtype, arith.NegFOp(materialise(a)).result)
    return Scalar(a.dtype, arith.SubIOp(constant(0, a.dtype), materialise(a)).result)


def plus(a: Scalar) -> Scalar:
    """``+a``. Raises `OperandError` for a bool, as NumPy does."""
    if a.dtype == bool_ and not a.is_const:
        raise OperandError("`+` takes a number, not bool", "use int(a)")
    return convert(a, weak_int) if a.dtype == bool_ else a


def invert(a: Scalar) -> Scalar:
    """``~a``: bitwise for integers, logical for bool (as NumPy's)."""
    if a.dtype.is_float:
        raise OperandError(f"`~` needs an integer, not {a.dtype.name}", "cast it first, as in pk.i64(x)")
    if a.is_const and a.dtype == weak_int:
        return python_constant(~a.const)
    ones = constant(1 if a.dtype == bool_ else -1, a.dtype)
    return Scalar(a.dtype, arith.XOrIOp(materialise(a), ones).result)


def truth(a: Scalar) -> Scalar:
    """The bool Python would see."""
    return convert(a, bool_)


def logical_not(a: Scalar) -> Scalar:
    a = truth(a)
    if a.is_const:
        return Scalar(bool_, const=not a.const)
    return Scalar(bool_, arith.XOrIOp(a.ssa, constant(True, bool_)).result)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    return _extremum(a, b, arith.MinimumFOp, arith.MinSIOp, arith.MinUIOp, min)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    return _extremum(a, b, arith.MaximumFOp, arith.MaxSIOp, arith.MaxUIOp, max)


def _extremum(a: Scalar, b: Scalar, of_float, of_signed, of_unsigned, of_const) -> Scalar:
    if a.is_const and b.is_const and a.dtype.weak and b.dtype.weak:
        return python_constant(of_const(a.const, b.const))
    dtype = promote(a.dtype, b.dtype)
    a, b = fitting(a, dtype), fitting(b, dtype)
    left, right = materialise(convert(a, dtype)), materialise(convert(b, dtype))
    if dtype.is_integer and not dtype.weak and any(v.dtype == weak_int and not v.is_const for v in (a, b)):
        chosen = _compare("<" if of_const is min else ">", a, b)  # as what they are: the type may not hold it
        return Scalar(dtype, arith.SelectOp(materialise(chosen), left, right).result)
    made = of_float if dtype.is_float else of_unsigned if dtype.kind in "bu" else of_signed
    return Scalar(dtype, made(left, right).result)


def flags(fastmath: bool) -> ir.Attribute:
    """Contraction is always allowed (it only drops a rounding); the rest is asked for."""
    return ir.Attribute.parse(
        "#arith.fastmath<reassoc,nsz,arcp,contract,afn>" if fastmath else "#arith.fastmath<contract>"
    )


def fitting(a: Scalar, dtype: DType) -> Scalar:
    """The operand itself. NumPy refuses a Python integer that the type of both cannot hold: raises `OperandError`."""
    if not can_hold(dtype, a):
        low, high = integer_range(dtype)
        raise OperandError(
            f"the constant {a.const} does not fit {dtype.name} ({low} .. {high})",
            f"cast the other operand to a wider type, as in pk.i64(...), or the constant, as in pk.{dtype.name}(...)",
        )
    return a


def element(value: Scalar, dtype: DType) -> Scalar:
    """A value as an element of an array. Raises `OperandError` for a constant that the type does not hold."""
    if not can_hold(dtype, value):
        low, high = integer_range(dtype)
        raise OperandError(
            f"the constant {value.const} does not fit {dtype.name} ({low} .. {high})",
            f"store it in an array of a wider type, or cast it, as in pk.{dtype.name}({value.const}), which wraps",
        )
    return convert(value, dtype)


def _float_binary(op: str, a: Scalar, b: Scalar, fastmath: bool) -> Scalar:
    if op not in _FLOAT_OPS and a.dtype.bits < 32:  # several steps, and rounded once as NumPy does
        wide = _float_binary(op, convert(a, f32), convert(b, f32), fastmath)
        return convert(wide, a.dtype)
    dtype, left, right = a.dtype, materialise(a), materialise(b)
    mode = flags(fastmath)
    if op in _FLOAT_OPS:
        return Scalar(dtype, _FLOAT_OPS[op](left, right, fastmath=mode).result)
    # Python's % takes the sign of the divisor; // is the floor of the exact quotient.
    remainder = arith.RemFOp(left, right).result
    nil = constant(0.0, dtype)
    differs = arith.CmpFOp(arith.CmpFPredicate.UNE, remainder, nil).result
    negative = arith.CmpFOp(arith.CmpFPredicate.OLT, right, nil).result
    below = arith.CmpFOp(arith.CmpFPredicate.OLT, remainder, nil).result
    wrong_sign = arith.AndIOp(differs, arith.XOrIOp(negative, below).result).result
    if op == "%":
        moved = arith.SelectOp(wrong_sign, arith.AddFOp(remainder, right).result, remainder).result
        # zero with the divisor's sign, by arithmetic on the remainder: its derivative is that of the remainder
        sign = math.CopySignOp(constant(1.0, dtype), right).result
        positive = arith.AddFOp(arith.MulFOp(sign, remainder).result, nil).result
        signed_zero = arith.MulFOp(sign, positive).result
        return Scalar(dtype, arith.SelectOp(differs, moved, signed_zero).result)
    quotient = arith.DivFOp(arith.SubFOp(left, remainder).result, right).result
    moved = arith.SelectOp(wrong_sign, arith.SubFOp(quotient, constant(1.0, dtype)).result, quotient).result
    floor = math.FloorOp(moved).result
    far = arith.CmpFOp(
        arith.CmpFPredicate.OGT, arith.SubFOp(moved, floor).result, constant(0.5, dtype)
    ).result
    rounded = arith.SelectOp(far, arith.AddFOp(floor, constant(1.0, dtype)).result, floor).result
    exact = arith.DivFOp(left, right).result
    is_nil = arith.CmpFOp(arith.CmpFPredicate.OEQ, moved, nil).result
    signed = arith.SelectOp(is_nil, math.CopySignOp(nil, exact).result, rounded).result  # 0.0 has a sign
    by_zero = arith.CmpFOp(arith.CmpFPredicate.OEQ, right, nil).result
    return Scalar(dtype, arith.SelectOp(by_zero, exact, signed).result)


_FLOAT_OPS = {"+": arith.AddFOp, "-": arith.SubFOp, "*": arith.MulFOp, "/": arith.DivFOp}


def _floor_divide(a: ir.Value, b: ir.Value, dtype: DType) -> ir.Value:
    safe, by_zero = _safe_divisor(a, b, dtype)
    divide = arith.DivUIOp if dtype.kind == "u" else arith.FloorDivSIOp
    quotient = divide(a, safe).result
    return quotient if by_zero is None else arith.SelectOp(by_zero, constant(0, dtype), quotient).result


def _modulo(a: ir.Value, b: ir.Value, dtype: DType) -> ir.Value:
    safe, by_zero = _safe_divisor(a, b, dtype)
    if dtype.kind == "u":
        remainder = arith.RemUIOp(a, safe).result
    else:
        truncated = arith.RemSIOp(a, safe).result
        nil = constant(0, dtype)
        differs = arith.CmpIOp(arith.CmpIPredicate.ne, truncated, nil).result
        signs = arith.CmpIOp(arith.CmpIPredicate.slt, arith.XOrIOp(truncated, safe).result, nil).result
        moved = arith.AddIOp(truncated, safe).result
        remainder = arith.SelectOp(arith.AndIOp(differs, signs).result, moved, truncated).result
    return remainder if by_zero is None else arith.SelectOp(by_zero, constant(0, dtype), remainder).result


def _safe_divisor(a: ir.Value, b: ir.Value, dtype: DType) -> tuple[ir.Value, ir.Value | None]:
    """A divisor that cannot trap: 1 in place of 0, and of -1 under the least integer."""
    owner = b.owner
    if isinstance(owner, ir.Operation | ir.OpView) and owner.operation.name == "arith.constant":
        value = ir.IntegerAttr(owner.operation.attributes["value"]).value
        if value not in (0, -1):
            return b, None
    one = constant(1, dtype)
    by_zero = arith.CmpIOp(arith.CmpIPredicate.eq, b, constant(0, dtype)).result
    unsafe = by_zero
    if dtype.kind == "i":
        least = arith.CmpIOp(arith.CmpIPredicate.eq, a, constant(integer_range(dtype)[0], dtype)).result
        minus = arith.CmpIOp(arith.CmpIPredicate.eq, b, constant(-1, dtype)).result
        overflow = arith.AndIOp(least, minus).result
        # the least integer stays itself, as it does under NumPy: dividing by 1 says so
        unsafe = arith.OrIOp(by_zero, overflow).result
    return arith.SelectOp(unsafe, one, b).result, by_zero


def _shift_left(a: ir.Value, b: ir.Value, dtype: DType) -> ir.Value:
    kept = arith.SelectOp(_too_far(b, dtype), constant(0, dtype), a).result
    return arith.ShLIOp(kept, _safe_amount(b, dtype)).result


def _shift_right(a: ir.Value, b: ir.Value, dtype: DType) -> ir.Value:
    if dtype.kind == "u":
        kept = arith.SelectOp(_too_far(b, dtype), constant(0, dtype), a).result
        return arith.ShRUIOp(kept, _safe_amount(b, dtype)).result
    most = arith.SelectOp(_too_far(b, dtype), constant(dtype.bits - 1, dtype), b).result
    return arith.ShRSIOp(a, most).result


def _too_far(b: ir.Value, dtype: DType) -> ir.Value:
    return arith.CmpIOp(arith.CmpIPredicate.uge, b, constant(dtype.bits, dtype)).result


def _safe_amount(b: ir.Value, dtype: DType) -> ir.Value:
    """The amount modulo the width. Choosing 0 behind the shift instead would need no mask, but LLVM 22's backend for
    NVIDIA takes that for the clamping shift of PTX, also where the amount has more than its 32 bits."""
    return arith.AndIOp(b, constant(dtype.bits - 1, dtype)).result


def _plain(made: Callable) -> Callable[[ir.Value, ir.Value, DType], ir.Value]:
    return lambda a, b, dtype: made(a, b).result


def _bool_or_integer(of_bool: Callable, of_integer: Callable) -> Callable:
    """NumPy's bool adds as `or` and multiplies as `and`."""
    return lambda a, b, dtype: (of_bool if dtype == bool_ else of_integer)(a, b).result


_INTEGER: dict[str, Callable[[ir.Value, ir.Value, DType], ir.Value]] = {
    "+": _bool_or_integer(arith.OrIOp, arith.AddIOp),
    "-": _plain(arith.SubIOp),
    "*": _bool_or_integer(arith.AndIOp, arith.MulIOp),
    "&": _plain(arith.AndIOp),
    "|": _plain(arith.OrIOp),
    "^": _plain(arith.XOrIOp),
    "//": _floor_divide,
    "%": _modulo,
    "<<": _shift_left,
    ">>": _shift_right,
}


def _compare(op: str, a: Scalar, b: Scalar) -> Scalar:
    a, b = _comparable(a, b), _comparable(b, a)
    if (
        {a.dtype.kind, b.dtype.kind} == {"i", "u"}
        and 64 in (a.dtype.bits, b.dtype.bits)
        and "u64"
        in (
            a.dtype.name,
            b.dtype.name,
        )
    ):
        return _compare_mixed(op, a, b)
    dtype = promote(a.dtype, b.dtype)
    left, right = materialise(convert(a, dtype)), materialise(convert(b, dtype))
    if dtype.is_float:
        predicate = getattr(arith.CmpFPredicate, _FLOAT[op])
        return Scalar(bool_, arith.CmpFOp(predicate, left, right).result)
    names = _UNSIGNED if dtype.kind in "bu" else _SIGNED
    return Scalar(bool_, arith.CmpIOp(getattr(arith.CmpIPredicate, names[op]), left, right).result)


def _comparable(a: Scalar, other: Scalar) -> Scalar:
    """A Python integer takes the other type; one that this cannot hold, or of which nobody knows before the kernel
    runs, is compared as what it is, in 64 bits."""
    if not (a.dtype == weak_int and other.dtype.is_integer and not other.dtype.weak):
        return Scalar(u64, const=a.const) if a.is_const and _only_u64(a) else a
    if not a.is_const:
        return convert(a, i64)
    if fits(a.const, other.dtype):
        return Scalar(other.dtype, const=a.const)
    return Scalar(u64 if _only_u64(a) else i64, const=a.const)


def _only_u64(a: Scalar) -> bool:
    return a.dtype == weak_int and not fits(a.const, weak_int)


def _compare_mixed(op: str, a: Scalar, b: Scalar) -> Scalar:
    """i64 against u64, exactly: a negative is less than all."""
    if a.dtype.kind == "u":
        mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
        return _compare_mixed(mirrored, b, a)
    signed = materialise(convert(a, i64))
    unsigned = materialise(convert(b, u64))
    negative = arith.CmpIOp(arith.CmpIPredicate.slt, signed, constant(0, i64)).result
    within = arith.CmpIOp(getattr(arith.CmpIPredicate, _UNSIGNED[op]), signed, unsigned).result
    when_negative = constant(op in ("<", "<=", "!="), bool_)
    return Scalar(bool_, arith.SelectOp(negative, when_negative, within).result)


def _power(a: Scalar, b: Scalar, fastmath: bool) -> Scalar:
    dtype = promote(a.dtype, b.dtype)
    if b.is_const and isinstance(b.const, int) and b.dtype == weak_int:
        return _constant_power(a, (b if b.const < 0 else fitting(b, dtype)).const, fastmath)
    a, b = fitting(a, dtype), fitting(b, dtype)
    if dtype == bool_:
        dtype = i8
    if dtype.is_float:
        left, right = materialise(convert(a, dtype)), materialise(convert(b, dtype))
        if b.is_const and b.const == 0.5:
            # pow and sqrt differ at -0 and -inf only; NumPy takes sqrt too
            return Scalar(dtype, math.SqrtOp(left).result)
        return Scalar(dtype, math.PowFOp(left, right, fastmath=flags(fastmath)).result)
    wide = u64 if dtype == u64 else i64  # every unsigned exponent but u64's is positive in i64
    left, right = materialise(convert(a, wide)), materialise(convert(b, wide))
    if dtype == u64:
        return Scalar(u64, _unsigned_power(left, right))
    return convert(Scalar(i64, math.IPowIOp(left, right).result), dtype)


def _unsigned_power(base: ir.Value, exponent: ir.Value) -> ir.Value:
    """ipowi reads its exponent as signed: half of it is positive, and the power of it is squared."""
    one = constant(1, u64)
    half = math.IPowIOp(base, arith.ShRUIOp(exponent, one).result).result
    odd = arith.CmpIOp(arith.CmpIPredicate.ne, arith.AndIOp(exponent, one).result, constant(0, u64)).result
    last = arith.SelectOp(odd, base, one).result
    return arith.MulIOp(arith.MulIOp(half, half).result, last).result


def _constant_power(a: Scalar, exponent: int, fastmath: bool) -> Scalar:
    if exponent < 0 and not a.dtype.is_float:
        if a.dtype != weak_int:
            raise OperandError(f"an integer ({a.dtype.name}) to the power {exponent} is not an integer",
                               "make the base a float, as in pk.f32(x) ** -1")  # fmt: skip
        a = convert(a, weak_float)
    if a.dtype == bool_:
        a = convert(a, promote(bool_, weak_int))
    if a.dtype.is_float and abs(exponent) > 4:
        left = materialise(a)
        right = constant(float(exponent), a.dtype)
        return Scalar(a.dtype, math.PowFOp(left, right, fastmath=flags(fastmath)).result)
    result = _by_squaring(a, abs(exponent), fastmath)
    return binary("/", Scalar(a.dtype, const=1.0), result, fastmath) if exponent < 0 else result


def _by_squaring(a: Scalar, exponent: int, fastmath: bool) -> Scalar:
    if exponent == 0:
        return Scalar(a.dtype, const=1.0 if a.dtype.is_float else 1)
    result: Scalar | None = None
    square = Scalar(a.dtype, materialise(a))
    while exponent:
        if exponent & 1:
            result = square if result is None else binary("*", result, square, fastmath)
        exponent >>= 1
        if exponent:
            square = binary("*", square, square, fastmath)
    assert result is not None
    return result
