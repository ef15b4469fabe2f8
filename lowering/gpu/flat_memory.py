"""Arrays become one piece of memory each, indexed by one number; everything else of a launch is a slot.

Devices know pointers and 8-byte values. Elements that have no form in a device's memory are kept as
integers of their size: bool as i8, bf16 as i16, index as i64, and floats that are changed by atomics
the device has for integers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref

from pykern.data.abi import GRID_AXES, SMALL_COUNT, grid_axes
from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.gpu.flat_accesses import ACCESSES, FlatArray
from pykern.lowering.gpu.stored_elements import stored_as
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.word_conversions import from_word
from pykern.passes.kernels import (
    BUFFERS,
    MEMORY_OPERAND,
    dense_strides,
    identity,
    index_constant,
    named,
    replace,
    update_type,
)

ADDRESS = "memref.extract_aligned_pointer_as_index"


@dataclass(frozen=True)
class FlattenMemory(Pass):
    """Give kernels the signature of `pykern.data.abi`, "Device code".

    In:  func.func over memrefs of any rank, indexed by loads, stores and atomics of kern.
    Out: the same over memrefs of rank 1, in `space` where one is given; arguments are memory and i64.
         With `slots_in_memory` all slots come in one more piece of memory, the last argument.
    """

    name: ClassVar[str] = "kern-flatten-memory"
    space: str = ""
    offsets: bool = False
    slots_in_memory: bool = False
    float_atomics: bool = False
    """Whether the device's memory and atomics know every float, bf16 too."""
    bf16_as_bits: bool = False
    """Whether bf16 is an integer in memory all the same."""
    atomic_width: int = 32
    """Bits of the smallest element that the device changes atomically."""
    whole_words: bool = False
    """Whether arrays hold elements of 32 bits alone: smaller integers share words, as those that atomics change."""
    f16_as_bits: bool = False
    """Whether the language has no f16."""
    small: bool = False
    """Whether lengths, strides, counts and every element's position fit in 32 bits: then positions are computed in
    them, whatever overflows on the way."""
    alike: bool = False
    """Whether dense arrays of a rank, from two dimensions on, have the same lengths: those of the first count."""
    products_last: bool = False
    """Whether positions in 32 bits begin with the index that no length multiplies, so that each product is added to
    something, in one instruction; else they read as users write them."""
    short_slots: bool = False
    """Whether arguments of the code may be shorter than their slots, of which they take the first bytes."""

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            _Flattener(kernel, self).run()

    def knows(self, kind: ir.FloatType) -> bool:
        """Whether memory and atomics have this float as it is."""
        return self.float_atomics and not (self.bf16_as_bits and isinstance(kind, ir.BF16Type))


class _Flattener:
    def __init__(self, kernel: ir.Operation, options: FlattenMemory) -> None:
        self.kernel = kernel
        self.options = options
        self.block = kernels.body(kernel)
        self.space = ir.Attribute.parse(options.space) if options.space else None
        self.i64 = ir.IntegerType.get_signless(64)
        with ir.InsertionPoint.at_block_begin(self.block), kernel.location:
            self.anchor = index_constant(0).owner.operation  # what stands first now may be replaced
        self.top = ir.InsertionPoint(self.anchor)
        self.kinds: list[str] = []
        self.slots: ir.Value | None = None
        self.next_slot = 0
        self.lengths: dict[int, list[ir.Value]] = {}
        """Those of the first dense array of each rank, where they are all alike."""
        self.are_alike = options.alike and kern.TAPE not in kernel.attributes  # a tape is an array of its own

    def run(self) -> None:
        old = list(self.block.arguments)
        report = kern.REPORT in self.kernel.attributes
        own, small = len(old) - report - self._launch_slots(), self._small_slots()
        by_bits = _changed_by_atomics(self.kernel, self.options)
        if self.options.slots_in_memory:
            kind = self._memref_type(self.i64)
            self.slots = self.block.add_argument(kind, self.kernel.location)
        with self.top, self.kernel.location:
            for number, argument in enumerate(old):
                if isinstance(argument.type, ir.MemRefType):
                    is_report = report and number == len(old) - 1
                    shares = argument in by_bits or (self.options.whole_words and self._is_narrow(argument))
                    flat = self._array(argument, shares, with_lengths=not is_report)
                    self._rewrite(argument, flat)
                elif own <= number < own + small:
                    argument.replace_all_uses_with(self._index())
                else:
                    argument.replace_all_uses_with(from_word(self._slot(), argument.type))
        for op in named(self.kernel, *BUFFERS):
            self._buffer(op, op.result in by_bits)
        if self.slots is not None:  # it was added first, and stands last
            last = self.block.add_argument(self.slots.type, self.kernel.location)
            self.slots.replace_all_uses_with(last)
            self.block.erase_argument(len(old))
        for _ in old:
            self.block.erase_argument(0)
        self.kernel.attributes[kern.ARGUMENTS] = ir.ArrayAttr.get([ir.StringAttr.get(k) for k in self.kinds])
        if "arg_attrs" in self.kernel.attributes:
            del self.kernel.attributes["arg_attrs"]
        self.anchor.erase()
        update_type(self.kernel)

    def _launch_slots(self) -> int:
        """How many arguments behind the user's are the launch's own, where something is known of them."""
        if kern.RANK not in self.kernel.attributes or kern.PLAIN not in self.kernel.attributes:
            return 0
        rank = kernels.rank(self.kernel)
        count = rank + grid_axes(rank)
        last = list(self.block.arguments)[-count - (kern.REPORT in self.kernel.attributes) :][:count]
        added = all(isinstance(argument.type, ir.IndexType) for argument in last)
        return count if self.options.small and added else 0

    def _small_slots(self) -> int:
        """How many of these are at most `SMALL_COUNT`: not the first group of an axis that several dimensions share."""
        count = self._launch_slots()
        return count - (count > 2 * GRID_AXES)

    def _memref_type(self, element: ir.Type) -> ir.Type:
        return ir.MemRefType.get([ir.ShapedType.get_dynamic_size()], element, memory_space=self.space)

    def _slot(self, bits: int = 64) -> ir.Value:
        """The next slot, an i64, or less where nothing is lost."""
        self.kinds.append("slot")
        if self.slots is None:
            kind = ir.IntegerType.get_signless(bits if self.options.short_slots else 64)
            return self.block.add_argument(kind, self.kernel.location)
        self.next_slot += 1
        return memref.LoadOp(self.slots, [index_constant(self.next_slot - 1)]).result

    def _index(self, least: int = 0) -> ir.Value:
        """The next slot, an index; the launch's own are not negative, but for strides."""
        made = arith.IndexCastOp(ir.IndexType.get(), self._slot(32 if self.options.small else 64)).result
        if self.options.small:
            made.owner.operation.attributes[kern.RANGE] = ir.DenseI64ArrayAttr.get([least, SMALL_COUNT])
        return made

    def _stored_as(self, element: ir.Type, words: bool) -> ir.Type:
        if self.options.f16_as_bits and isinstance(element, ir.F16Type) and not words:
            return ir.IntegerType.get_signless(16)
        stays = isinstance(element, ir.BF16Type) and self.options.knows(element)
        return element if stays and not words else stored_as(element, words)

    def _length(self, known: int) -> ir.Value:
        """A length: a slot in any case, and a constant where it is known."""
        given = self._index()
        return given if ir.ShapedType.is_dynamic_size(known) else index_constant(known)

    def _stride(self, known: int) -> ir.Value:
        given = self._index(-SMALL_COUNT)
        return given if known == ir.ShapedType.get_dynamic_stride_or_offset() else index_constant(known)

    def _is_narrow(self, array: ir.Value) -> bool:
        element = ir.MemRefType(array.type).element_type
        if isinstance(element, ir.F16Type):
            return self.options.f16_as_bits
        return isinstance(element, ir.BF16Type) or (
            isinstance(element, ir.IntegerType) and element.width < 32
        )

    def _array(self, argument: ir.Value, bits: bool, with_lengths: bool) -> FlatArray:
        kind = ir.MemRefType(argument.type)
        self.kinds.append("memory")
        memory = self.block.add_argument(
            self._memref_type(self._stored_as(kind.element_type, bits)), argument.location
        )
        offset = self._index() if self.options.offsets else None
        dense = kind.rank == 0 or isinstance(kind.layout, ir.AffineMapAttr)
        lengths = [self._length(n) for n in kind.shape] if with_lengths else []
        if self.are_alike and dense and len(lengths) > 1:
            lengths = self.lengths.setdefault(kind.rank, lengths)
        strides = (
            dense_strides(lengths) if dense else list(map(self._stride, kind.get_strides_and_offset()[0]))
        )
        if not with_lengths:
            strides = _static_strides(kind.shape)
        facts = self.options.small, dense, self.options.products_last
        return FlatArray(memory, offset, lengths, strides, kind.element_type, bits, *facts)

    def _buffer(self, op: ir.Operation, bits: bool) -> None:
        """Shared and private memory, of rank 1 and with elements that memory has."""
        kind = ir.MemRefType(op.result.type)
        stored = self._stored_as(kind.element_type, bits)
        shared = stored.width // kind.element_type.width if bits else 1
        count = -(-_product(kind.shape) // shared)
        total = [ir.ShapedType.get_dynamic_size()] if op.operands else [count]
        flat_kind = ir.MemRefType.get(total, stored, memory_space=kind.memory_space)
        with ir.InsertionPoint(op), op.location:
            kept = {kern.AT_LAUNCH: op.attributes[kern.AT_LAUNCH]} if kern.AT_LAUNCH in op.attributes else {}
            made = ir.Operation.create(
                op.name, results=[flat_kind], operands=list(op.operands), attributes=kept
            ).result
            if op.operands:
                size = index_constant(max(1, stored.width // shared // 8))
                lengths = [arith.DivUIOp(op.operands[0], size).result]
                strides = [index_constant(1)]
            else:
                lengths, strides = [index_constant(n) for n in kind.shape], _static_strides(kind.shape)
        self._rewrite(op.result, FlatArray(made, None, lengths, strides, kind.element_type, bits))
        op.erase()

    def _rewrite(self, old: ir.Value, flat: FlatArray) -> None:
        for op in {identity(use.owner.operation): use.owner.operation for use in old.uses}.values():
            if op.name == "memref.dim":
                dim = kernels.is_constant(op.operands[1])
                assert dim is not None, "lengths are asked for by number"
                if dim >= len(flat.lengths):
                    raise TargetError(f"there is no dimension {dim}", span_of(op.location))
                replace(op, [flat.lengths[dim]])
                continue
            if op.name in _TAKEN_WHOLE and flat.offset is None:
                for number, operand in enumerate(op.operands):
                    if operand == old:
                        op.operands[number] = flat.memory
                continue
            if op.name not in ACCESSES:
                raise TargetError(f"`{op.name}` has no form on this device", span_of(op.location))
            with ir.InsertionPoint(op), op.location:
                ACCESSES[op.name](op, flat)


_TAKEN_WHOLE = {
    ADDRESS,
    "kern.tensor_map",
    "kern.load_fragments",
    "kern.store_fragments",
    "kern.begin_phases",
    "kern.expect_bytes",
    "kern.copy_box",
    "kern.wait_phase",
    "kern.multiply_panels",
    "kern.multiply_words",
}
"""Ops on the begin of memory, or on places in memory of one dimension."""


def _changed_by_atomics(kernel: ir.Operation, options: FlattenMemory) -> set[ir.Value]:
    """Memory changed by atomics that the device does not have on its elements."""
    changed: set[ir.Value] = set()
    for op in named(kernel, "kern.atomic_rmw", "kern.atomic_cas"):
        element = op.operands[0].type
        real = isinstance(element, ir.FloatType) and not options.knows(element)
        kind = ir.StringAttr(op.attributes["kind"]).value if op.name == "kern.atomic_rmw" else ""
        signless = options.whole_words and kind.startswith("u")  # such memory has integers with a sign alone
        if real or signless or element.width < options.atomic_width:
            changed.add(op.operands[MEMORY_OPERAND[op.name]])
    return changed


def _static_strides(shape: list[int]) -> list[ir.Value]:
    return [index_constant(_product(shape[dim + 1 :])) for dim in range(len(shape))]


def _product(lengths: list[int]) -> int:
    total = 1
    for n in lengths:
        total *= n
    return total
