"""Gates of cotangents of whole tensors: where anything flows (`rules.gates`), as tensors of bytes that are 0 or 1.

A gate is made where a rule asks for it, and only there: it is a function that emits the bytes, shaped as the
value; the gate of a number is a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from pykern.passes.autodiff.rules.gates import gate_constant
from pykern.passes.autodiff.tensor.builder import elementwise
from pykern.passes.autodiff.tensor.values import is_tensor
from pykern.passes.ir.lengths import Number, empty, sizes_of

Gate = Callable[[], ir.Value]
MaybeGate = Gate | None
"""None is open everywhere."""


def byte() -> ir.Type:
    """The byte that stands for a bit in memory."""
    return ir.IntegerType.get_signless(8)


def as_byte(open: ir.Value) -> ir.Value:
    return arith.extui(byte(), open)


def as_bit(open: ir.Value) -> ir.Value:
    return arith.trunci(ir.IntegerType.get_signless(1), open)


def either(a: MaybeGate, b: MaybeGate) -> MaybeGate:
    """Open where one of both is."""
    if a is None or b is None:
        return None
    return lambda: _combined(arith.ori, a(), b())


def both(a: MaybeGate, b: MaybeGate) -> MaybeGate:
    """Open where both are."""
    if a is None or b is None:
        return b if a is None else a
    return lambda: _combined(arith.andi, a(), b())


def moved(gate: MaybeGate, move: Callable[[ir.Value], ir.Value]) -> MaybeGate:
    """The gate of what is moved: cut out, put in, reshaped."""
    return None if gate is None else lambda: move(gate())


def closed(sizes: Sequence[Number]) -> ir.Value:
    """The gate of a tensor nothing flows to."""
    return linalg.fill(arith.constant(byte(), 0), outs=[empty(sizes, byte())])


def everywhere(condition: ir.Value, like: ir.Value, side: bool = True) -> Gate:
    """The gate of a value that is taken as a whole, or not: where `condition` is as `side` says."""

    def made() -> ir.Value:
        open = condition if side else arith.xori(condition, gate_constant(True))
        return linalg.fill(as_byte(open), outs=[empty(sizes_of(like), byte())]) if is_tensor(like) else open

    return made


def like_bytes(type: ir.Type) -> ir.Type:
    """The tensor type of the same shape, of bytes."""
    return ir.RankedTensorType.get(list(ir.RankedTensorType(type).shape), byte())


def cut(gate: ir.Value, type: ir.Type, places: Sequence) -> ir.Value:
    """A slice of a gate; `type` is that of the slice."""
    return tensor.extract_slice(like_bytes(type), gate, *places)


def _combined(made: Callable, a: ir.Value, b: ir.Value) -> ir.Value:
    return elementwise(made, [a, b]) if is_tensor(a) else made(a, b)


def emitted(gate: MaybeGate, like: ir.Value) -> ir.Value:
    """The gate of a value like `like`, also where it is open everywhere."""
    if gate is not None:
        return gate()
    return everywhere(gate_constant(True), like)()


def shut(like: ir.Value) -> ir.Value:
    """The gate of a value to which nothing flows."""
    return closed(sizes_of(like)) if is_tensor(like) else gate_constant(False)
