"""What is left of a program once its kernels are out of it, as a plan: plain data that the host runs.

Comes in: a `kern.program` function on buffers that launches kernels. Goes out: JSON; its form is told in
`pykern.program.steps`, which runs it. A missing op is a located error that names it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.passes.ir.memory import bytes_of
from pykern.passes.kernels import body, is_constant

Step = list[Any]

SCALARS = ("arith.", "math.")
"""Dialects whose ops on numbers the host does, by their names."""


def plan_of(program: ir.Operation, numbers: dict[str, int]) -> tuple[str, int]:
    """The plan, and how many registers it takes. `numbers` are those of the kernels, by symbol."""
    writer = Writer(program.regions[0].blocks[0].owner.operation, numbers)
    for argument in body(program).arguments:
        writer.register(argument)
    steps = writer.block(body(program))
    return json.dumps({"constants": writer.constants, "steps": steps}, separators=(",", ":")), len(
        writer.places
    )


@dataclass
class Writer:
    """Writes steps; `places` are the registers of values."""

    program: ir.Operation
    numbers: dict[str, int]
    places: dict[ir.Value, int] = field(default_factory=dict)
    constants: list[list[Any]] = field(default_factory=list)

    def register(self, value: ir.Value) -> int:
        return self.places.setdefault(value, len(self.places))

    def registers(self, values: Any) -> list[int]:
        return [self.register(v) for v in values]

    def block(self, block: ir.Block) -> list[Step]:
        """The steps of a block, without its terminator. Buffers are dropped behind their last use."""
        ops = [o.operation for o in block.operations][:-1]
        last = self._last_uses(block, ops)
        steps: list[Step] = []
        for number, op in enumerate(ops):
            steps += self._step(op)
            if last.get(number):
                steps.append(["drop", self.registers(last[number])])
        return steps

    def _last_uses(self, block: ir.Block, ops: list[ir.Operation]) -> dict[int, list[ir.Value]]:
        """Buffers that the block makes, by the number of the op after which nobody reads their register."""
        end = block.operations[len(block.operations) - 1].operation
        made = {r for op in ops for r in op.results if isinstance(r.type, ir.MemRefType)} - set(end.operands)
        last: dict[ir.Value, int] = {}

        def visit(op: ir.Operation, number: int) -> None:
            for value in (*op.operands, *op.results):
                if value in made:
                    last[value] = number
            for region in op.regions:
                for inner in region.blocks:
                    for each in inner.operations:
                        visit(each.operation, number)

        for number, op in enumerate(ops):
            visit(op, number)
        found: dict[int, list[ir.Value]] = {}
        for value, number in last.items():
            found.setdefault(number, []).append(value)
        return found

    def _step(self, op: ir.Operation) -> list[Step]:
        known = _STEPS.get(op.name)
        if known is not None:
            return known(self, op)
        numbers = not any(isinstance(v.type, ir.ShapedType) for v in (*op.operands, *op.results))
        if op.name.startswith(SCALARS) and numbers and len(op.results) == 1:
            return _scalar(self, op)
        raise TargetError(
            f"`{op.name}` has no step in the plan of a program on a device", span_of(op.location)
        )


# -- numbers --------------------------------------------------------------------------------------


def _constant(writer: Writer, op: ir.Operation) -> list[Step]:
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.FloatAttr):
        value: Any = repr(ir.FloatAttr(attribute).value)  # JSON has no infinities
    elif isinstance(attribute, ir.BoolAttr):
        value = int(ir.BoolAttr(attribute).value)
    else:
        value = ir.IntegerAttr(attribute).value
    writer.constants.append([writer.register(op.results[0]), str(op.results[0].type), value])
    return []


def _scalar(writer: Writer, op: ir.Operation) -> list[Step]:
    kind = str(op.results[0].type)
    more = [str(op.operands[0].type)]
    if "predicate" in op.attributes:
        more.append(ir.IntegerAttr(op.attributes["predicate"]).value)
    return [["compute", writer.register(op.results[0]), op.name, writer.registers(op.operands), kind, *more]]


def _select(writer: Writer, op: ir.Operation) -> list[Step]:
    return [["select", writer.register(op.results[0]), *writer.registers(op.operands)]]


# -- buffers --------------------------------------------------------------------------------------


def itemsize(kind: ir.Type) -> int:
    """Bytes of an element in memory."""
    return bytes_of(ir.MemRefType.get([1], ir.MemRefType(kind).element_type))


def _lengths(writer: Writer, shape: list[int], sizes: list[ir.Value]) -> list[Any]:
    """Lengths; one that is not known is the register that holds it, in a list."""
    given = iter(sizes)
    return [[writer.register(next(given))] if ir.ShapedType.is_dynamic_size(n) else n for n in shape]


def _alloc(writer: Writer, op: ir.Operation) -> list[Step]:
    kind = ir.MemRefType(op.results[0].type)
    sizes = _lengths(writer, kind.shape, list(op.operands))
    return [["alloc", writer.register(op.results[0]), itemsize(kind), sizes]]


def _static(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def _strides(value: ir.Value, op: ir.Operation) -> list[int]:
    """The strides of an array that a step of the plan counts with."""
    strides, _ = ir.MemRefType(value.type).get_strides_and_offset()
    if ir.ShapedType.get_dynamic_stride_or_offset() in strides:
        raise TargetError("an array whose strides are not known", span_of(op.location))
    return list(strides)


def _subview(writer: Writer, op: ir.Operation) -> list[Step]:
    """The offset moves by the sum of offsets times strides of the source; lengths are the result's."""
    _, offsets, sizes, _ = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    dynamic = list(op.operands)
    at = _lengths(writer, _static(op, "static_offsets"), dynamic[1 : 1 + offsets])
    lengths = _lengths(writer, _static(op, "static_sizes"), dynamic[1 + offsets : 1 + offsets + sizes])
    strides = _strides(op.operands[0], op)
    kind = ir.MemRefType(op.results[0].type)
    if ir.ShapedType.get_dynamic_size() in kind.shape:
        if kind.rank != len(lengths):
            raise TargetError("a view that drops a dimension and has an unknown length", span_of(op.location))
    else:
        lengths = list(kind.shape)
    moves = [[n, stride] for n, stride in zip(at, strides, strict=True) if n != 0]
    fixed = sum(n * stride for n, stride in moves if isinstance(n, int))
    moving = [[n[0], stride] for n, stride in moves if not isinstance(n, int)]
    return [["view", writer.register(op.results[0]), writer.register(op.operands[0]), fixed, moving, lengths]]


def _byte_view(writer: Writer, op: ir.Operation) -> list[Step]:
    """Elements in memory of bytes, from a byte on."""
    kind = ir.MemRefType(op.results[0].type)
    source, shift, *sizes = op.operands
    lengths = _lengths(writer, kind.shape, sizes)
    return [
        ["bytes", writer.register(op.results[0]), *writer.registers([source, shift]), itemsize(kind), lengths]
    ]


def _reshaped(writer: Writer, op: ir.Operation) -> list[Step]:
    kind = ir.MemRefType(op.results[0].type)
    if not kind.has_static_shape:
        if op.name == "memref.cast":
            return [["view", writer.register(op.results[0]), writer.register(op.operands[0]), 0, [], None]]
        raise TargetError("another shape of an array of unknown length", span_of(op.location))
    target, source = writer.register(op.results[0]), writer.register(op.operands[0])
    return [["view", target, source, 0, [], list(kind.shape)]]


def _global(writer: Writer, op: ir.Operation) -> list[Step]:
    """A constant array: its bytes."""
    symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    root = op
    while root.name != "builtin.module":
        assert root.parent is not None
        root = root.parent.operation
    held = next(
        o.operation
        for o in root.regions[0].blocks[0].operations
        if o.operation.name == "memref.global" and ir.StringAttr(o.attributes["sym_name"]).value == symbol
    )
    kind = ir.MemRefType(op.results[0].type)
    data = _bytes(ir.DenseElementsAttr(held.attributes["initial_value"]), kind)
    text = base64.b64encode(data).decode("ascii")
    return [["constant", writer.register(op.results[0]), list(kind.shape), text]]


def _bytes(values: ir.DenseElementsAttr, kind: ir.MemRefType) -> bytes:
    element = str(kind.element_type)
    floats = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
    if element in floats:
        return np.array(list(ir.DenseFPElementsAttr(values)), floats[element]).tobytes()
    if element == "bf16":
        wide = np.array(list(ir.DenseFPElementsAttr(values)), np.float32)  # exact: they were bf16
        return (wide.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    width = 8 * itemsize(kind)
    numbers = [int(n) & ((1 << width) - 1) for n in ir.DenseIntElementsAttr(values)]
    return np.array(numbers, f"u{width // 8}").tobytes()


def _copy(writer: Writer, op: ir.Operation) -> list[Step]:
    return [["copy", *writer.registers(op.operands), itemsize(op.operands[0].type)]]


def _load(writer: Writer, op: ir.Operation) -> list[Step]:
    """A number that the host has to know: it waits for it."""
    strides = _strides(op.operands[0], op)
    moving = [[writer.register(v), s] for v, s in zip(list(op.operands)[1:], strides, strict=True)]
    kind = str(op.results[0].type)
    return [["read", writer.register(op.results[0]), writer.register(op.operands[0]), moving, kind]]


def _dim(writer: Writer, op: ir.Operation) -> list[Step]:
    return [
        [
            "length",
            writer.register(op.results[0]),
            writer.register(op.operands[0]),
            is_constant(op.operands[1]),
        ]
    ]


# -- control flow ---------------------------------------------------------------------------------


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def _for(writer: Writer, op: ir.Operation) -> list[Step]:
    block = body(op)
    lower, upper, step, *initial = writer.registers(op.operands)
    inside = writer.registers(block.arguments)
    steps = writer.block(block)
    carried = writer.registers(_terminator(block).operands)
    return [["for", [lower, upper, step], initial, inside, steps, carried, writer.registers(op.results)]]


def _while(writer: Writer, op: ir.Operation) -> list[Step]:
    before, after = (region.blocks[0] for region in op.regions)
    initial, inside = writer.registers(op.operands), writer.registers(before.arguments)
    tests = writer.block(before)
    condition, *handed = writer.registers(_terminator(before).operands)
    taken = writer.registers(after.arguments)
    steps = writer.block(after)
    carried = writer.registers(_terminator(after).operands)
    results = writer.registers(op.results)
    return [["while", initial, inside, tests, condition, handed, taken, steps, carried, results]]


def _if(writer: Writer, op: ir.Operation) -> list[Step]:
    branches = []
    for region in op.regions:
        blocks = list(region.blocks)
        steps = writer.block(blocks[0]) if blocks else []
        branches.append([steps, writer.registers(_terminator(blocks[0]).operands) if blocks else []])
    return [["if", writer.register(op.operands[0]), *branches, writer.registers(op.results)]]


def _launch(writer: Writer, op: ir.Operation) -> list[Step]:
    view = op.opview
    arguments = []
    for value in view.call.operands:
        if isinstance(value.type, ir.MemRefType):
            arguments.append(["array", writer.register(value), *_strides_passed(value, op)])
        else:
            arguments.append([str(value.type), writer.register(value)])
    callee = view.callee
    assert callee is not None
    plain = kern.PLAIN in callee.attributes
    slots: list[int] = []
    for count, start, step in zip(view.ndrange, view.starts, view.steps, strict=True):
        slots += [count] if plain else [count, start, step]
    if 0 in view.ndrange:
        return []
    return [["launch", writer.numbers[view.kernel], arguments, list(view.ndrange), slots]]


def _strides_passed(value: ir.Value, op: ir.Operation) -> list[list[int]]:
    """The strides of an array that is not dense: its kernel takes them."""
    kind = ir.MemRefType(value.type)
    if kind.rank == 0 or isinstance(kind.layout, ir.AffineMapAttr):
        return []
    return [_strides(value, op)]


def _nothing(writer: Writer, op: ir.Operation) -> list[Step]:
    return []


_STEPS: dict[str, Callable[[Writer, ir.Operation], list[Step]]] = {
    "arith.constant": _constant,
    "arith.select": _select,
    "memref.alloc": _alloc,
    "memref.alloca": _alloc,
    "memref.dealloc": _nothing,
    "memref.subview": _subview,
    "memref.view": _byte_view,
    "memref.cast": _reshaped,
    "memref.collapse_shape": _reshaped,
    "memref.expand_shape": _reshaped,
    "memref.get_global": _global,
    "memref.copy": _copy,
    "memref.load": _load,
    "memref.dim": _dim,
    "scf.for": _for,
    "scf.while": _while,
    "scf.if": _if,
    "kern.launch": _launch,
}
