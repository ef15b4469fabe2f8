"""How arith, math, and the ops of other dialects that mean the same, read in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlir import ir

from pykern.interpreter.emit import (
    Emitter,
    NoReading,
    dtype_of,
    element_type,
    integer,
    is_vector,
    rule,
    template,
)
from pykern.interpreter.numbers import FUNCTIONS

template("{0} + {1}", "arith.addf", "llvm.fadd")
template("{0} - {1}", "arith.subf", "llvm.fsub")
template("{0} * {1}", "arith.mulf", "llvm.fmul")
template("{0} / {1}", "arith.divf", "llvm.fdiv")
template("np.fmod({0}, {1})", "arith.remf", "llvm.frem")
template("-{0}", "arith.negf", "llvm.fneg")
template("{0} & {1}", "arith.andi", "llvm.and")
template("{0} | {1}", "arith.ori", "llvm.or")
template("{0} ^ {1}", "arith.xori", "llvm.xor")
template("nb.divsi({0}, {1})", "arith.divsi", "llvm.sdiv")
template("(nb.u({0}) // nb.u({1})).view({t})", "arith.divui", "llvm.udiv")
template("np.fmod({0}, {1})", "arith.remsi", "llvm.srem")
template("(nb.u({0}) % nb.u({1})).view({t})", "arith.remui", "llvm.urem")
template("nb.ceildivsi({0}, {1})", "arith.ceildivsi")
template("nb.ceildivui({0}, {1})", "arith.ceildivui")
template("np.floor_divide({0}, {1})", "arith.floordivsi")
template("nb.shift_left({0}, {1})", "arith.shli", "llvm.shl")
template("nb.shift_right({0}, {1})", "arith.shrui", "llvm.lshr")
template("np.right_shift({0}, {1})", "arith.shrsi", "llvm.ashr")
template("np.minimum({0}, {1})", "arith.minsi", "llvm.intr.smin")
template("np.maximum({0}, {1})", "arith.maxsi", "llvm.intr.smax")
template("nb.COMBINE['umin']({0}, {1})", "arith.minui", "llvm.intr.umin")
template("nb.COMBINE['umax']({0}, {1})", "arith.maxui", "llvm.intr.umax")
template("np.minimum({0}, {1})", "arith.minimumf", "llvm.intr.minimum")
template("np.maximum({0}, {1})", "arith.maximumf", "llvm.intr.maximum")
template("np.fmin({0}, {1})", "arith.minnumf", "llvm.intr.minnum")
template("np.fmax({0}, {1})", "arith.maxnumf", "llvm.intr.maxnum")
template(
    "nb.signed({0}).astype({t})",
    "arith.extsi",
    "llvm.sext",
    "arith.index_cast",
    "arith.sitofp",
    "llvm.sitofp",
)
template(
    "nb.u({0}).astype({t})", "arith.extui", "llvm.zext", "arith.index_castui", "arith.uitofp", "llvm.uitofp"
)
template("{0}.astype({t})", "arith.extf", "llvm.fpext", "arith.truncf", "llvm.fptrunc")
template("nb.to_integer({0}, {t}, False)", "arith.fptosi", "llvm.fptosi")
template("nb.to_integer({0}, {t}, True)", "arith.fptoui", "llvm.fptoui")
template("{0}.view({t})", "arith.bitcast")
template("nb.fma({0}, {1}, {2})", "math.fma", "llvm.intr.fma", "llvm.intr.fmuladd", "vector.fma")
template("np.abs({0})", "math.absf", "math.absi", "llvm.intr.fabs", "llvm.intr.abs")
template("nb.count_zeros({0}, True)", "math.ctlz", "llvm.intr.ctlz")
template("nb.count_zeros({0}, False)", "math.cttz", "llvm.intr.cttz")
template("nb.count_ones({0})", "math.ctpop", "llvm.intr.ctpop")
template("nb.integer_power({0}, {1})", "math.ipowi", "math.fpowi")
template("np.isnan({0})", "math.isnan")
template("np.isinf({0})", "math.isinf")
template("np.isfinite({0})", "math.isfinite")

for _name in FUNCTIONS:
    _call = f"nb.through_f64(nb.FUNCTIONS[{_name!r}], {{}})"
    for _op in (f"math.{_name}", f"llvm.intr.{_name}"):
        _values = "{0}, {1}" if _name in ("atan2", "pow", "powf", "copysign", "arctan2", "hypot") else "{0}"
        template(_call.format(_values), _op)


def _on_bits(number: str, bit: str, *names: str) -> None:
    """Sums and products: of i1 they are logic."""

    def emit(e: Emitter, op: ir.Operation) -> None:
        text = bit if str(element_type(op.results[0].type)) == "i1" else number
        e.assign(op, text.format(*map(e.name, op.operands)))

    rule(*names)(emit)


_on_bits("{0} + {1}", "{0} ^ {1}", "arith.addi", "llvm.add")
_on_bits("{0} - {1}", "{0} ^ {1}", "arith.subi", "llvm.sub")
_on_bits("{0} * {1}", "{0} & {1}", "arith.muli", "llvm.mul")


@rule("arith.trunci", "llvm.trunc")
def _cut(e: Emitter, op: ir.Operation) -> None:
    value = e.name(op.operands[0])
    if str(element_type(op.results[0].type)) == "i1":
        e.assign(op, f"({value} & 1) != 0")
    else:
        e.assign(op, f"{value}.astype({e.dtype(op.results[0].type)})")


@rule("llvm.bitcast")
def _same_bits(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, f"{e.name(op.operands[0])}.view({e.dtype(op.results[0].type)})")


_INTEGER = (
    "{0} == {1}", "{0} != {1}", "{a} < {b}", "{a} <= {b}", "{a} > {b}", "{a} >= {b}",
    *(f"nb.u({{0}}) {sign} nb.u({{1}})" for sign in ("<", "<=", ">", ">=")),
)  # fmt: skip
_UNORDERED = "(({0} != {0}) | ({1} != {1}))"
FLOAT = (
    "({0} != {0}) & ({0} == {0})", "{0} == {1}", "{0} > {1}", "{0} >= {1}", "{0} < {1}", "{0} <= {1}",
    f"({{0}} != {{1}}) & ~{_UNORDERED}", f"~{_UNORDERED}",
    f"({{0}} == {{1}}) | {_UNORDERED}", "~({0} <= {1})", "~({0} < {1})", "~({0} >= {1})", "~({0} > {1})",
    "{0} != {1}", _UNORDERED, "({0} == {0}) | ({0} != {0})",
)  # fmt: skip


@rule("arith.cmpi", "llvm.icmp")
def _compare(e: Emitter, op: ir.Operation) -> None:
    x, y = map(e.name, op.operands)
    bit = str(element_type(op.operands[0].type)) == "i1"
    a, b = (f"nb.signed({x})", f"nb.signed({y})") if bit else (x, y)
    e.assign(op, _INTEGER[integer(op, "predicate")].format(x, y, a=a, b=b))


@rule("arith.cmpf", "llvm.fcmp")
def _compare_floats(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, FLOAT[integer(op, "predicate")].format(*map(e.name, op.operands)))


@rule("arith.select", "llvm.select")
def _choose(e: Emitter, op: ir.Operation) -> None:
    condition, yes, no = map(e.name, op.operands)
    if is_vector(op.operands[0].type):
        e.assign(op, f"np.where({condition}, {yes}, {no})")
    else:
        e.assign(op, f"{yes} if {condition} else {no}")


@rule("arith.mului_extended", "arith.mulsi_extended", "arith.addui_extended")
def _two_results(e: Emitter, op: ir.Operation) -> None:
    a, b = map(e.name, op.operands)
    call = (
        "nb.carrying_sum({}, {})"
        if "add" in op.name
        else "nb.wide_product({}, {}, " + str("mului" in op.name) + ")"
    )
    e.line(f"{e.name(op.results[0])}, {e.name(op.results[1])} = {call.format(a, b)}")


@rule("arith.constant", "llvm.mlir.constant", "spirv.Constant")
def _constant(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, e.object(constant(op.attributes["value"], op.results[0].type)))


def constant(attribute: ir.Attribute, kind: ir.Type):
    """What an attribute stands for, as a NumPy scalar or array."""
    import numpy as np

    dtype = dtype_of(kind)
    if isinstance(attribute, ir.DenseElementsAttr):
        dense = ir.DenseElementsAttr(attribute)
        shape = tuple(ir.ShapedType(dense.type).shape)
        if dense.is_splat:
            return np.full(shape, constant(dense.get_splat_value(), element_type(kind)), dtype)
        return _dense(attribute, dtype, shape)
    if isinstance(attribute, ir.BoolAttr):
        return np.bool_(ir.BoolAttr(attribute).value)
    if isinstance(attribute, ir.IntegerAttr):
        value = ir.IntegerAttr(attribute).value
        if dtype == np.bool_:
            return np.bool_(value)
        bits = 8 * dtype.itemsize
        value &= (1 << bits) - 1
        return dtype.type(value - (1 << bits) if value >> (bits - 1) else value)
    if isinstance(attribute, ir.FloatAttr):
        with np.errstate(over="ignore"):
            return dtype.type(ir.FloatAttr(attribute).value)
    raise NoReading(f"the constant {attribute} has no reading")


def _dense(attribute: ir.Attribute, dtype, shape: tuple[int, ...]):
    import numpy as np

    if dtype.kind == "f":
        return np.array([*_items(ir.DenseFPElementsAttr(attribute))], dtype).reshape(shape)
    values = [int(v) for v in _items(ir.DenseIntElementsAttr(attribute))]
    if dtype == np.bool_:
        return np.array([bool(v) for v in values]).reshape(shape)
    mask = (1 << 8 * dtype.itemsize) - 1
    raw = np.array([v & mask for v in values], np.uint64)
    return raw.astype(np.dtype(f"uint{8 * dtype.itemsize}")).view(dtype).reshape(shape)


def _items(attribute: Any) -> Iterator[Any]:
    """The stubs do not know that these can be iterated."""
    return (attribute[n] for n in range(len(attribute)))


@rule("ub.poison", "llvm.mlir.poison", "llvm.mlir.undef", "llvm.mlir.zero", "spirv.Undef")
def _anything(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, e.object(anything(op.results[0].type)))


def anything(kind: ir.Type):
    """A value where any will do: zeros, nested as structs are."""
    import numpy as np

    text = str(kind)
    if text.startswith(("!llvm.struct", "!llvm.array")):
        return Aggregate()
    if is_vector(kind):
        return np.zeros(tuple(ir.VectorType(kind).shape), dtype_of(kind))
    return dtype_of(kind).type(0)


class Aggregate(dict):
    """A struct or array of the llvm dialect: parts by their paths, those never set are missing."""

    def put(self, value: object, *path: int) -> Aggregate:
        return Aggregate({**self, path: value})

    def take(self, *path: int) -> Any:
        if path in self:
            return self[path]
        return Aggregate({p[len(path) :]: v for p, v in self.items() if p[: len(path)] == path})
