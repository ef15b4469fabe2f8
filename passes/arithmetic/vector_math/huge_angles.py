"""sin, cos and tan of arguments too large for Cody and Waite: the C library, out of the loop's way.

Comes in: the name, the argument, and how the usual result is made. Goes out: the usual result, and on a
branch that hardly ever runs a call of `FUNCTION`, which is added to the module once.

A call would keep LLVM from vectorising the loop around it. So the function names its vector forms (LLVM's
attribute ``vector-function-abi-variant``, the masked kind); those return at once where the mask is empty.
The alternative, exact reduction of every argument without a branch, takes about 85 more operations and
four gathers a vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, llvm, scf, vector

from pykern.passes.arithmetic.vector_math.emit import Real
from pykern.passes.arithmetic.vector_math.formats import F64
from pykern.passes.arithmetic.vector_math.pi_reduction import MODERATE

FUNCTION = "kern.huge_angle"
LANES = (2, 4, 8, 16)
"""Lengths of vectors that LLVM may ask for."""
_WHICH = {"sin": 0, "cos": 1, "tan": 2}
_MEMORY = ("other", "argMem", "inaccessibleMem", "errnoMem", "targetMem0", "targetMem1")


def unless_huge(name: str, x: Real, usual: Callable[[], Real]) -> Real:
    """``usual()``, or the C library's `name` where |x| > MODERATE."""
    result = usual()
    if not x.scope.library:
        return result  # `trigonometric` reduces angles of any size then
    huge = (abs(x) > MODERATE[x.format]).value
    _define(ir.InsertionPoint.current.block)
    kind = x.value.type
    if x.scope.shape is not None:
        flat = ir.VectorType.get([math.prod(x.value.type.shape)], x.format.type())
        mask = ir.VectorType.get(flat.shape, ir.IntegerType.get_signless(1))
        taken = _by_lanes(
            name, *(vector.shape_cast(t, v) for t, v in ((flat, x.value), (mask, huge), (flat, result.value)))
        )
        return Real(x.scope, x.format, vector.shape_cast(kind, taken))
    return Real(x.scope, x.format, _branch(huge, lambda: _call(name, x.value), result.value))


def _branch(condition: ir.Value, then: Callable[[], ir.Value], otherwise: ir.Value) -> ir.Value:
    branch = scf.IfOp(condition, [otherwise.type], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp([then()])
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([otherwise])
    return branch.results[0]


def _by_lanes(name: str, x: ir.Value, huge: ir.Value, usual: ir.Value) -> ir.Value:
    """Vectors: where any lane is huge, each huge lane is computed by the library."""

    def lanes() -> ir.Value:
        result = usual
        for i in range(math.prod(x.type.shape)):
            lane = vector.extract(x, [], [i])
            old = vector.extract(usual, [], [i])
            new = _branch(vector.extract(huge, [], [i]), lambda lane=lane: _call(name, lane), old)
            result = vector.insert(new, result, [], [i])
        return result

    any_huge = vector.reduction(ir.IntegerType.get_signless(1), vector.CombiningKind.OR, huge)
    return _branch(any_huge, lanes, usual)


def _call(name: str, argument: ir.Value) -> ir.Value:
    """The library's function of f64, which serves f32 too."""
    given, wide = argument.type, F64.type()
    if given != wide:
        argument = arith.ExtFOp(wide, argument).result
    kind = ir.IntegerType.get_signless(32)
    which = arith.ConstantOp(kind, ir.IntegerAttr.get(kind, _WHICH[name])).result
    callee = ir.FlatSymbolRefAttr.get(FUNCTION)
    result = llvm.CallOp(wide, [argument, which], [], [], callee=callee).results[0]
    return result if given == wide else arith.TruncFOp(given, result).result


def _define(block: ir.Block) -> None:
    """Add `FUNCTION` to the module around `block`, where it is not there yet."""
    body = _module_around(block).regions[0].blocks[0]
    symbols = (op.operation.attributes for op in body.operations)
    if any(ir.StringAttr(s["sym_name"]).value == FUNCTION for s in symbols if "sym_name" in s):
        return
    made = ir.Module.parse("\n".join((_scalar_form(), *map(_vector_form, LANES), _kept())))
    with ir.InsertionPoint.at_block_begin(body):
        for op in made.body.operations:
            op.operation.clone()


def _module_around(block: ir.Block) -> ir.Operation:
    op = block.owner.operation
    while op.name not in ("builtin.module", "gpu.module"):
        parent = op.parent
        assert parent is not None, "code stands in a module"
        op = parent.operation
    return op


def _attributes(*more: str) -> str:
    effects = ", ".join(f"{kind} = none" for kind in _MEMORY)
    words = ", ".join(['"nounwind"', '"willreturn"', '"noinline"', '"cold"', *more])
    return f"attributes {{memory_effects = #llvm.memory_effects<{effects}>, passthrough = [{words}]}}"


def _scalar_form() -> str:
    variants = ",".join(
        f"_ZGV_LLVM_M{n}vu_{FUNCTION}({FUNCTION}.{n})" for n in LANES
    )  # v: vector, u: uniform
    variants = f'["vector-function-abi-variant", "{variants}"]'
    return f"""
    llvm.func internal @{FUNCTION}(%x: f64, %which: i32) -> f64 {_attributes(variants)} {{
      llvm.switch %which : i32, ^tan [{_WHICH["sin"]}: ^sin, {_WHICH["cos"]}: ^cos]
    ^sin:
      %s = llvm.intr.sin(%x) : (f64) -> f64
      llvm.return %s : f64
    ^cos:
      %c = llvm.intr.cos(%x) : (f64) -> f64
      llvm.return %c : f64
    ^tan:
      %t = llvm.intr.tan(%x) : (f64) -> f64
      llvm.return %t : f64
    }}"""


def _vector_form(lanes: int) -> str:
    reals, bits = f"vector<{lanes}xf64>", f"vector<{lanes}xi1>"
    return f"""
    llvm.func internal @{FUNCTION}.{lanes}(%x: {reals}, %which: i32, %mask: {bits}) -> {reals} {_attributes()} {{
      %any = "llvm.intr.vector.reduce.or"(%mask) : ({bits}) -> i1
      %zero = llvm.mlir.constant(0 : i64) : i64
      %one = llvm.mlir.constant(1 : i64) : i64
      %end = llvm.mlir.constant({lanes} : i64) : i64
      llvm.cond_br %any, ^lane(%zero, %x : i64, {reals}), ^done(%x : {reals})
    ^lane(%i: i64, %before: {reals}):
      %set = llvm.extractelement %mask[%i : i64] : {bits}
      llvm.cond_br %set, ^call, ^next(%before : {reals})
    ^call:
      %a = llvm.extractelement %x[%i : i64] : {reals}
      %b = llvm.call @{FUNCTION}(%a, %which) : (f64, i32) -> f64
      %with = llvm.insertelement %b, %before[%i : i64] : {reals}
      llvm.br ^next(%with : {reals})
    ^next(%after: {reals}):
      %j = llvm.add %i, %one : i64
      %more = llvm.icmp "ult" %j, %end : i64
      llvm.cond_br %more, ^lane(%j, %after : i64, {reals}), ^done(%after : {reals})
    ^done(%result: {reals}):
      llvm.return %result : {reals}
    }}"""


def _kept() -> str:
    """Names in this list stay, and with their arguments, until the vectoriser has seen them."""
    names = [FUNCTION, *(f"{FUNCTION}.{n}" for n in LANES)]
    array = f"!llvm.array<{len(names)} x ptr>"
    lines = [f"%a0 = llvm.mlir.undef : {array}"]
    for i, name in enumerate(names):
        lines.append(f"%p{i} = llvm.mlir.addressof @{name} : !llvm.ptr")
        lines.append(f"%a{i + 1} = llvm.insertvalue %p{i}, %a{i}[{i}] : {array}")
    return f"""
    llvm.mlir.global appending @llvm.compiler.used() {{section = "llvm.metadata"}} : {array} {{
      {" ".join(lines)}
      llvm.return %a{len(names)} : {array}
    }}"""
