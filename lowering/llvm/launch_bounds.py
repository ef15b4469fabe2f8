"""`pk_outside`: whether a launch would touch what lies outside of its arrays. LLVM IR text, an object of its own.

Comes in: `LaunchBounds`, and where the numbers of a launch are found. Goes out: a few comparisons on lengths, once a
launch; where one fails the entry goes on to Python, which raises what it says (`pykern.data.launch_bounds`). It is one
block of short operations, of which the quick code generator makes as good code as the optimiser does.
"""

from __future__ import annotations

from collections.abc import Callable

from pykern.data.abi import array_slots
from pykern.data.integer_expressions import COMPARISONS, Node
from pykern.data.launch_bounds import LaunchBounds
from pykern.data.source import ArraySpec, KernelSource, leaves
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I64, PTR, Type, Value

_INTRINSICS = ("smin", "smax")


def outside_text(bounds: LaunchBounds, source: KernelSource) -> str:
    """The function, over the slots of a launch."""
    module = Module()
    module.linkage["pk_outside"] = "hidden"
    f = Body(module, "pk_outside", I1, [PTR])
    slots, places = f.arguments[0], given_slots(source)
    f.ret(any_outside(f, bounds, lambda number: f.load(I64, slots, 8 * places[number])))
    return str(module)


def any_outside(f: Body, bounds: LaunchBounds, given: Callable[[int], Value]) -> Value:
    """Whether a check fails. `given` loads a number of the launch, 64 bits."""
    values: list[Value] = []
    for node in bounds.nodes:
        values.append(_value(f, node, values, given))
    total = I1(0)
    for check in bounds.accesses:
        total = f.or_(total, values[check.fails])
    return f.or_(total, values[bounds.several]) if bounds.several >= 0 else total


def given_slots(source: KernelSource) -> list[int]:
    """The slot of each number of a launch in the order of `pykern.data.launch_bounds`; plain launches have counts."""
    places: list[int] = []
    slot = 0
    for parameter in source.parameters:
        for spec in leaves(parameter.spec):
            if isinstance(spec, ArraySpec):
                places += range(slot + 1, slot + 1 + spec.rank)
                slot += array_slots(spec.rank, spec.strided)
            else:
                places.append(slot)
                slot += 1
    if source.launch.shared:
        places.append(slot)
        slot += 1
    for _ in range(source.launch.rank):
        width = 1 if source.launch.plain else 3
        places += [*range(slot, slot + width), *[-1] * (3 - width)]
        slot += width
    return places


def _value(f: Body, node: Node, values: list[Value], given: Callable[[int], Value]) -> Value:
    name, bits, *rest = node
    kind = Type(f"i{bits}", bits)
    if name == "const":
        return kind(rest[0])
    if name == "given":
        number = given(rest[0])
        return number if bits == 64 else f.cast("trunc", number, kind)
    operands = [values[number] for number in rest]
    if name in COMPARISONS:
        return f.compare(name, *operands)
    if name in ("sext", "zext", "trunc"):
        return f.cast(name, operands[0], kind)
    if name == "select":
        return f.select(*operands)
    if name in _INTRINSICS:
        return f.call(f"llvm.{name}.i{bits}", kind, *operands)
    if name in ("floordiv", "sdiv", "srem"):
        return _division(f, name, *operands)
    return f.binary(name, *operands)


def _division(f: Body, name: str, a: Value, b: Value) -> Value:
    """By at least 1: what is divided by less is not looked at."""
    by = f.select(f.is_(b, "<", 1), 1, b)
    if name != "floordiv":
        return f.binary(name, a, by)
    less = f.cast("sext", f.is_(f.srem(a, by), "<", 0), a.type)
    return f.add(f.sdiv(a, by), less)
