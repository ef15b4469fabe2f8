"""Elements that memory keeps as integers: how they are read, written and changed atomically.

Devices have atomics on integers of 32 (and 64) bits. A float of that size is changed through its bits; of
smaller elements several share a word, and changing one puts the others back as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.ir.reduction import atomic_result
from pykern.passes.kernels import index_constant

WORD = 32


def word_of(element: ir.Type) -> ir.Type:
    """The integer that an atomically changed element is kept in."""
    return ir.IntegerType.get_signless(max(WORD, element.width))


@dataclass
class IntegerElement:
    """An element of type `element` in a memory of words, at position `place` counted in elements."""

    memory: ir.Value
    place: ir.Value
    element: ir.Type

    def __post_init__(self) -> None:
        self.word = ir.MemRefType(self.memory.type).element_type
        self.bits = ir.IntegerType.get_signless(self.element.width)
        self.shared = self.word.width // self.element.width
        self.shift: ir.Value | None = None
        if self.shared > 1:
            count = index_constant(self.shared)
            inner = arith.RemUIOp(self.place, count).result
            self.place = arith.DivUIOp(self.place, count).result
            shift = arith.MulIOp(inner, index_constant(self.element.width)).result
            self.shift = arith.IndexCastOp(self.word, shift).result

    def load(self) -> ir.Value:
        return self._read(memref.LoadOp(self.memory, [self.place]).result)

    def store(self, value: ir.Value) -> None:
        """Alone in its word a plain store; else the neighbours may be changed at the same time."""
        if self.shift is None:
            memref.StoreOp(self._as_bits(value), self.memory, [self.place])
        else:
            self._change(lambda old: value)

    def change(self, kind: str, value: ir.Value) -> ir.Value:
        """An atomic of `kern.atomic_rmw`; gives the old value."""
        if kind == "exchange" and self.shift is None:
            attributes = {"kind": ir.StringAttr.get(kind)}
            operands = [self._as_bits(value), self.memory, self.place]
            made = ir.Operation.create(
                "kern.atomic_rmw", results=[self.word], operands=operands, attributes=attributes
            )
            return self._read(made.result)
        return self._change(lambda old: atomic_result(kind, old, value))

    def exchange_if(self, expected: ir.Value, desired: ir.Value) -> ir.Value:
        """`kern.atomic_cas`; gives the old value."""
        wanted, put = self._as_bits(expected), self._as_bits(desired)
        if self.shift is None:
            return self._read(self._cas(wanted, put))

        def chosen(old: ir.Value) -> ir.Value:
            bits = self._as_bits(old)
            same = arith.CmpIOp(arith.CmpIPredicate.eq, bits, wanted).result
            return self._from_bits(arith.SelectOp(same, put, bits).result)

        return self._change(chosen)

    # -- words -----------------------------------------------------------------------------------

    def _change(self, change: Callable[[ir.Value], ir.Value]) -> ir.Value:
        """Compare and exchange until nobody came between; gives the element that was there."""
        first = memref.LoadOp(self.memory, [self.place]).result
        loop = scf.WhileOp([self.word], [first])
        before = loop.before.blocks.append(self.word)
        after = loop.after.blocks.append(self.word)
        with ir.InsertionPoint(before):
            old = before.arguments[0]
            seen = self._cas(old, self._written(old, change(self._read(old))))
            missed = arith.CmpIOp(arith.CmpIPredicate.ne, seen, old).result
            scf.ConditionOp(missed, [seen])
        with ir.InsertionPoint(after):
            scf.YieldOp([after.arguments[0]])
        return self._read(loop.results[0])

    def _cas(self, expected: ir.Value, desired: ir.Value) -> ir.Value:
        operands = [expected, desired, self.memory, self.place]
        return ir.Operation.create("kern.atomic_cas", results=[self.word], operands=operands).result

    def _read(self, word: ir.Value) -> ir.Value:
        if self.shift is not None:
            word = arith.TruncIOp(self.bits, arith.ShRUIOp(word, self.shift).result).result
        return self._from_bits(word)

    def _written(self, word: ir.Value, value: ir.Value) -> ir.Value:
        """The word with the element replaced."""
        bits = self._as_bits(value)
        if self.shift is None:
            return bits
        ones = ir.IntegerAttr.get(self.word, (1 << self.element.width) - 1)
        mask = arith.ShLIOp(arith.ConstantOp(self.word, ones).result, self.shift).result
        flipped = arith.XOrIOp(
            mask, arith.ConstantOp(self.word, ir.IntegerAttr.get(self.word, -1)).result
        ).result
        placed = arith.ShLIOp(arith.ExtUIOp(self.word, bits).result, self.shift).result
        return arith.OrIOp(arith.AndIOp(word, flipped).result, placed).result

    def _as_bits(self, value: ir.Value) -> ir.Value:
        return arith.BitcastOp(self.bits, value).result if value.type != self.bits else value

    def _from_bits(self, bits: ir.Value) -> ir.Value:
        return arith.BitcastOp(self.element, bits).result if bits.type != self.element else bits
