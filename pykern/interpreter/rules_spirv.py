"""How the spirv dialect reads in Python: pointers are addresses, what they point at is told by their types."""

from __future__ import annotations

import re

import numpy as np
from mlir import ir

from pykern.interpreter.emit import Emitter, NoReading, integer, integers, is_vector, rule, template
from pykern.interpreter.numbers import FUNCTIONS, TYPES
from pykern.interpreter.rules_arith import FLOAT, Aggregate
from pykern.interpreter.rules_pointer import atomic

for _text, _ops in {
    "{0} + {1}": ("IAdd", "FAdd"),
    "{0} - {1}": ("ISub", "FSub"),
    "{0} * {1}": ("IMul", "FMul"),
    "{0} / {1}": ("FDiv",),
    "-{0}": ("FNegate", "SNegate"),
    "np.fmod({0}, {1})": ("FRem", "SRem"),
    "np.mod({0}, {1})": ("SMod", "FMod"),
    "nb.divsi({0}, {1})": ("SDiv",),
    "(nb.u({0}) // nb.u({1})).view({t})": ("UDiv",),
    "(nb.u({0}) % nb.u({1})).view({t})": ("UMod",),
    "{0} & {1}": ("BitwiseAnd", "LogicalAnd"),
    "{0} | {1}": ("BitwiseOr", "LogicalOr"),
    "{0} ^ {1}": ("BitwiseXor",),
    "~{0}": ("Not", "LogicalNot"),
    "{0} == {1}": ("IEqual", "LogicalEqual"),
    "{0} != {1}": ("INotEqual", "LogicalNotEqual"),
    "{0} < {1}": ("SLessThan",),
    "{0} <= {1}": ("SLessThanEqual",),
    "{0} > {1}": ("SGreaterThan",),
    "{0} >= {1}": ("SGreaterThanEqual",),
    "nb.u({0}) < nb.u({1})": ("ULessThan",),
    "nb.u({0}) <= nb.u({1})": ("ULessThanEqual",),
    "nb.u({0}) > nb.u({1})": ("UGreaterThan",),
    "nb.u({0}) >= nb.u({1})": ("UGreaterThanEqual",),
    "np.left_shift({0}, {1}.astype({t}))": ("ShiftLeftLogical",),
    "nb.shift_right({0}, {1}.astype({t}))": ("ShiftRightLogical",),
    "np.right_shift({0}, {1}.astype({t}))": ("ShiftRightArithmetic",),
    "{0}.view({t})": ("Bitcast",),
    "nb.signed({0}).astype({t})": ("SConvert", "ConvertSToF"),
    "nb.u({0}).astype({t})": ("UConvert", "ConvertUToF"),
    "{0}.astype({t})": ("FConvert",),
    "nb.to_integer({0}, {t}, False)": ("ConvertFToS",),
    "nb.to_integer({0}, {t}, True)": ("ConvertFToU",),
    "np.isnan({0})": ("IsNan",),
    "np.isinf({0})": ("IsInf",),
    "np.isnan({0}) | np.isnan({1})": ("Unordered",),
    "~(np.isnan({0}) | np.isnan({1}))": ("Ordered",),
    "nb.count_ones({0})": ("BitCount",),
    "nb.fma({0}, {1}, {2})": ("GL.Fma", "CL.fma"),
    "np.abs({0})": ("GL.FAbs", "CL.fabs", "GL.SAbs", "CL.s_abs"),
    "np.minimum({0}, {1})": ("GL.SMin", "CL.s_min"),
    "np.maximum({0}, {1})": ("GL.SMax", "CL.s_max"),
    "np.fmin({0}, {1})": ("GL.FMin", "CL.fmin"),
    "np.fmax({0}, {1})": ("GL.FMax", "CL.fmax"),
    "nb.COMBINE['umin']({0}, {1})": ("GL.UMin", "CL.u_min"),
    "nb.COMBINE['umax']({0}, {1})": ("GL.UMax", "CL.u_max"),
}.items():
    template(_text, *(f"spirv.{name}" for name in _ops))

for _name, _number in {"Equal": 1, "GreaterThan": 2, "GreaterThanEqual": 3, "LessThan": 4, "LessThanEqual": 5,
                       "NotEqual": 6}.items():  # fmt: skip
    template(FLOAT[_number], f"spirv.FOrd{_name}")
    template(FLOAT[_number + 7], f"spirv.FUnord{_name}")

for _name in FUNCTIONS:
    for _op in (f"spirv.CL.{_name}", f"spirv.GL.{_name.capitalize()}"):
        template(f"nb.through_f64(nb.FUNCTIONS[{_name!r}], {{0}})", _op)
template("nb.through_f64(nb.FUNCTIONS['rint'], {0})", "spirv.GL.RoundEven", "spirv.CL.rint")
template("nb.through_f64(nb.FUNCTIONS['rsqrt'], {0})", "spirv.GL.InverseSqrt", "spirv.CL.rsqrt")


@rule("spirv.Select")
def _select(e: Emitter, op: ir.Operation) -> None:
    condition, yes, no = map(e.name, op.operands)
    vector = is_vector(op.operands[0].type)
    e.assign(op, f"np.where({condition}, {yes}, {no})" if vector else f"{yes} if {condition} else {no}")


@rule("spirv.UMulExtended", "spirv.SMulExtended", "spirv.IAddCarry")
def _pairs(e: Emitter, op: ir.Operation) -> None:
    a, b = map(e.name, op.operands)
    if op.name == "spirv.IAddCarry":
        pair = e.fresh("pair")
        e.line(f"{pair} = nb.carrying_sum({a}, {b})")
        parts = f"{pair}[0]", f"{pair}[1].astype({e.first(op)})"
    else:
        pair = e.fresh("pair")
        e.line(f"{pair} = nb.wide_product({a}, {b}, {'UMul' in op.name})")
        parts = f"{pair}[0]", f"{pair}[1]"
    e.assign(op, f"{e.object(Aggregate())}.put({parts[0]}, 0).put({parts[1]}, 1)")


@rule("spirv.CompositeExtract")
def _extract(e: Emitter, op: ir.Operation) -> None:
    path = integers(op, "indices")
    whole = e.name(op.operands[0])
    if is_vector(op.operands[0].type):
        e.assign(op, f"{whole}[{path[0]}]")
    else:
        e.assign(op, f"{whole}.take({', '.join(map(str, path))})")


@rule("spirv.CompositeConstruct")
def _construct(e: Emitter, op: ir.Operation) -> None:
    if not is_vector(op.results[0].type):
        raise NoReading("`spirv.CompositeConstruct` of this form has no reading")
    e.assign(op, f"np.array([{', '.join(map(e.name, op.operands))}], {e.dtype(op.results[0].type)})")


# -- control --------------------------------------------------------------------------------------


@rule("spirv.mlir.selection", "spirv.mlir.loop")
def _blocks(e: Emitter, op: ir.Operation) -> None:
    if len(list(op.regions[0].blocks)) < 2 or len(op.results):
        raise NoReading(f"`{op.name}` of this form has no reading")
    e.region(op.regions[0])


@rule("spirv.mlir.merge")
def _leave(e: Emitter, op: ir.Operation) -> None:
    e.line("break")


@rule("spirv.ControlBarrier")
def _barrier(e: Emitter, op: ir.Operation) -> None:
    e.line(f"yield {e.object(object(), 'key')}, 'barrier', '', None, None")


@rule("spirv.MemoryBarrier")
def _nothing(e: Emitter, op: ir.Operation) -> None:
    e.line("pass")


# -- memory ---------------------------------------------------------------------------------------


def pointee(kind: ir.Type) -> str:
    """What a pointer points at."""
    match = re.fullmatch(r"!spirv\.ptr<(.*), \w+>", str(kind))
    if match is None:
        raise NoReading(f"{kind} is no pointer")
    return match[1]


def opened(kind: str) -> str:
    """The one member of a struct; other types as they are."""
    match = re.fullmatch(r"!spirv\.struct<(?:\w+, )?\((.*?)(?: \[[^\]]*\])?\)(?:, \w+)?>", kind)
    return opened(match[1]) if match else kind


def size_of(kind: str) -> int:
    """Bytes of a type."""
    kind = opened(kind)
    if match := re.fullmatch(r"!spirv\.array<(\d+) x (.*?)(?:, stride=\d+)?>", kind):
        return int(match[1]) * size_of(match[2])
    if match := re.fullmatch(r"vector<(\d+)x(\w+)>", kind):
        return int(match[1]) * size_of(match[2])
    if kind in TYPES:
        return TYPES[kind].itemsize
    raise NoReading(f"the size of {kind} is not known")


def element(kind: str) -> str:
    """The elements of an array."""
    if match := re.fullmatch(r"!spirv\.(?:rt)?array<(?:\d+ x )?(.*?)(?:, stride=\d+)?>", opened(kind)):
        return match[1]
    if match := re.fullmatch(r"vector<\d+x(\w+)>", opened(kind)):
        return match[1]
    raise NoReading(f"an element of {kind} is not known")


@rule("spirv.AccessChain")
def _chain(e: Emitter, op: ir.Operation) -> None:
    base, *path = map(e.name, op.operands)
    kind = pointee(op.operands[0].type)
    if kind.startswith("!spirv.struct"):
        kind, path = opened(kind), path[1:]
    steps = []
    for place in path:
        kind = element(kind)
        steps.append(f"{place}.astype(np.int64) * {size_of(kind)}")
    e.assign(op, " + ".join([base, *steps]))


@rule("spirv.PtrAccessChain", "spirv.InBoundsPtrAccessChain")
def _pointer_chain(e: Emitter, op: ir.Operation) -> None:
    base, place, *path = map(e.name, op.operands)
    kind = pointee(op.operands[0].type)
    steps = [f"{place}.astype(np.int64) * {size_of(kind)}"]
    for inner in path:
        kind = element(kind)
        steps.append(f"{inner}.astype(np.int64) * {size_of(kind)}")
    e.assign(op, " + ".join([base, *steps]))


@rule("spirv.Variable")
def _variable(e: Emitter, op: ir.Operation) -> None:
    size = size_of(pointee(op.results[0].type))
    e.assign(op, f"np.int64(it.raw({e.object(object(), 'key')}, {size}))")
    if len(op.operands):
        e.line(f"it.memory.store({e.name(op.operands[0])}, int({e.name(op.results[0])}), {e.first(op)})")


@rule("spirv.mlir.addressof")
def _address(e: Emitter, op: ir.Operation) -> None:
    symbol = ir.FlatSymbolRefAttr(op.attributes["variable"]).value
    found = e.globals[symbol]
    kind = pointee(op.results[0].type)
    if "built_in" in found.attributes:
        name = ir.StringAttr(found.attributes["built_in"]).value
        dtype = e.object(TYPES[element(kind) if kind.startswith("vector") else kind])
        e.assign(op, f"np.int64(it.built_in({name!r}, {dtype}))")
    elif "Workgroup" in str(op.results[0].type):
        e.assign(op, f"np.int64(it.shared({symbol!r}, ({size_of(kind)},), np.dtype(np.uint8)).address)")
    elif "binding" in found.attributes:
        e.assign(op, f"np.int64(it.bound[{integer(found, 'binding')}])")
    else:
        raise NoReading(f"the global variable `{symbol}` has no reading")


_KINDS = {"IAdd": "add", "ISub": "sub", "And": "and", "Or": "or", "Xor": "xor", "SMin": "min", "SMax": "max",
          "UMin": "umin", "UMax": "umax", "Exchange": "exchange"}  # fmt: skip


def _atomic(name: str, kind: str) -> None:
    def emit(e: Emitter, op: ir.Operation) -> None:
        atomic(e, op, kind)

    rule(f"spirv.Atomic{name}")(emit)


for _name, _kind in _KINDS.items():
    _atomic(_name, _kind)


@rule("spirv.AtomicCompareExchange")
def _exchange(e: Emitter, op: ir.Operation) -> None:
    pointer, value, comparator = map(e.name, op.operands)
    dtype, old = e.dtype(op.operands[1].type), e.name(op.results[0])
    e.line(f"{old} = it.memory.load(int({pointer}), {dtype}).copy()")
    e.line(f"if {old} == {comparator}: it.memory.store({value}, int({pointer}), {dtype})")


BUILT_IN = {"WorkgroupId": "group_id", "LocalInvocationId": "local_id", "NumWorkgroups": "num_groups",
            "WorkgroupSize": "group_size"}  # fmt: skip


def built_in(item, name: str, dtype: np.dtype) -> int:
    """The address of a work-item's own copy of a built-in variable."""
    if name in BUILT_IN:
        values = [item.along_axis(getattr(item, BUILT_IN[name]), axis) for axis in range(3)]
    elif name == "SubgroupLocalInvocationId":
        values = [item.lane_id]
    else:
        raise NoReading(f"the variable {name} has no reading")
    address = item.raw(("built in", name), len(values) * dtype.itemsize)
    item.memory.store_many(np.array(values, dtype), address, dtype)
    return address
