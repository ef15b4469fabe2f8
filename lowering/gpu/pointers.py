"""Flat memory becomes pointers of the llvm dialect: what NVIDIA's and AMD's backends address memory by."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as replace_fields
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, llvm

from pykern.data.tensor_form import TensorForm
from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.gpu import warpgroup_memory
from pykern.lowering.gpu.flat_memory import ADDRESS
from pykern.lowering.gpu.limits import launch_shared_bytes, shared_bytes
from pykern.lowering.gpu.matrix_memory import copy_async, load_matrices, load_words, store_words
from pykern.lowering.gpu.stored_elements import from_memory, to_memory
from pykern.lowering.llvm.atomics import RMW_OF_FLOATS, RMW_OF_INTEGERS
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import BUFFERS, find, named, replace, update_type

GLOBAL, SHARED = 1, 3
"""Address spaces, the same for NVIDIA and AMD."""
BUFFER_ALIGNMENT = 16
"""Bytes: the widest access of one work-item."""
DYNAMIC_SHARED = "kern_dynamic_shared"
BROUGHT_ALIGNMENT = 1024
"""Bytes: that of shared memory which programs have launches bring."""
_READS = ("memref.load", "kern.load_words", "kern.copy_async", "kern.tensor_map")
"""Accesses that write no argument."""


@dataclass(frozen=True)
class LowerToPointers(Pass):
    """Give memory the form of LLVM.

    In:  flat kernels: loads, stores and atomics over memrefs of rank 1, and kern's buffers.
    Out: arrays are `!llvm.ptr<1>`; shared memory is a global in address space 3, private memory an alloca at
         the top; atomics are relaxed, seen by the device (shared memory: by the group). What the kernel does
         with an array is written at its argument: noalias, readonly, and `aligned` bytes where all arrays are.
    """

    name: ClassVar[str] = "kern-lower-to-pointers"
    private_space: int = 0
    device_scope: str = "device"
    group_scope: str = "block"
    aligned: int = 0

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            _Lowering(module, kernel, self).run()


@dataclass(frozen=True)
class _Memory:
    pointer: ir.Value
    element: ir.Type
    shared: bool


class _Lowering:
    def __init__(self, module: ir.Module, kernel: ir.Operation, options: LowerToPointers) -> None:
        self.module = module
        self.kernel = kernel
        self.options = options
        self.memory: dict[ir.Value, _Memory] = {}
        self.steps: dict[tuple[str, str], ir.Module] = {}
        self.maps: dict[ir.Value, ir.Value] = {}
        self.sized: ir.Value | None = None
        self.arrays = 0

    def run(self) -> None:
        self.kernel.attributes[kern.SHARED_BYTES] = _integer(shared_bytes(self.kernel))
        self.kernel.attributes[kern.LAUNCH_SHARED] = _integer(launch_shared_bytes(self.kernel))
        maps = named(self.kernel, "kern.tensor_map")
        for op in maps:
            self._tensor_map(op)
        self._describe_arguments()
        for argument in kernels.body(self.kernel).arguments:
            if isinstance(argument.type, ir.MemRefType):
                element = ir.MemRefType(argument.type).element_type
                argument.set_type(_pointer(GLOBAL))
                self.memory[argument] = _Memory(argument, element, shared=False)
        for number, op in enumerate(named(self.kernel, *BUFFERS)):
            self._buffer(op, number)
        for op in named(self.kernel, *_ACCESSES):
            with ir.InsertionPoint(op), op.location:
                replace(op, _ACCESSES[op.name](self, op))
        for op in (*maps, *named(self.kernel, *BUFFERS)):
            op.erase()
        update_type(self.kernel)

    def _describe_arguments(self) -> None:
        apart = kern.NOALIAS in self.kernel.attributes
        described = []
        for argument in kernels.body(self.kernel).arguments:
            facts: dict[str, ir.Attribute] = {}
            if isinstance(argument.type, ir.MemRefType):
                if apart:
                    facts["llvm.noalias"] = ir.UnitAttr.get()
                if all(use.owner.operation.name in _READS for use in argument.uses):
                    facts["llvm.readonly"] = ir.UnitAttr.get()
                if self.options.aligned:
                    facts["llvm.align"] = _integer(self.options.aligned)
            described.append(ir.DictAttr.get(facts))
        self.kernel.attributes["arg_attrs"] = ir.ArrayAttr.get(described)

    def _tensor_map(self, op: ir.Operation) -> None:
        """One more argument, whose kind is the map's form."""
        array, form = op.operands[0], TensorForm.of(ir.StringAttr(op.attributes["form"]).value)
        assert form is not None, "that is what the op has"
        whose = ir.BlockArgument(array).arg_number
        kinds = [*ir.ArrayAttr(self.kernel.attributes[kern.ARGUMENTS])]
        text = replace_fields(form, argument=whose).text
        if ir.StringAttr.get(text) in kinds:
            number = kinds.index(ir.StringAttr.get(text))
            self.maps[op.result] = kernels.body(self.kernel).arguments[number]
            return
        self.maps[op.result] = kernels.body(self.kernel).add_argument(_pointer(0), op.location)
        self.kernel.attributes[kern.ARGUMENTS] = ir.ArrayAttr.get([*kinds, ir.StringAttr.get(text)])

    # -- buffers ---------------------------------------------------------------------------------

    def _buffer(self, op: ir.Operation, number: int) -> None:
        kind = ir.MemRefType(op.result.type)
        element, top = kind.element_type, ir.InsertionPoint.at_block_begin(kernels.body(self.kernel))
        with top, op.location:
            if op.name == "kern.private":
                pointer = self._private(kind.shape[0], element)
            elif kern.AT_LAUNCH in op.attributes:
                pointer = self._shared(DYNAMIC_SHARED, None, element, BROUGHT_ALIGNMENT)
            elif op.name == "kern.shared":
                pointer = self._shared(f"kern_shared_{number}", kind.shape[0], element)
            else:
                pointer = self._sized(op, element)
        self.memory[op.result] = _Memory(pointer, element, shared=op.name != "kern.private")

    def _sized(self, op: ir.Operation, element: ir.Type) -> ir.Value:
        """Arrays sized at launch lie one behind the other, each from a multiple of `BUFFER_ALIGNMENT` on."""
        if self.sized is None:
            self.sized = self._shared(DYNAMIC_SHARED, None, element)
            return self.sized
        self.arrays += 1
        with ir.InsertionPoint(op), op.location:
            each = arith.IndexCastOp(_i64(), op.operands[0]).result
            mask = arith.ConstantOp(_i64(), -BUFFER_ALIGNMENT).result
            whole = arith.AddIOp(each, arith.ConstantOp(_i64(), BUFFER_ALIGNMENT - 1).result).result
            whole = arith.AndIOp(whole, mask).result
            begin = arith.MulIOp(whole, arith.ConstantOp(_i64(), self.arrays).result).result
            byte = ir.TypeAttr.get(ir.IntegerType.get_signless(8))
            dynamic = ir.DenseI32ArrayAttr.get([-(2**31)])
            return llvm.GEPOp(_pointer(SHARED), self.sized, [begin], dynamic, byte, None).result

    def _private(self, count: int, element: ir.Type) -> ir.Value:
        one = arith.ConstantOp(_i64(), 1).result
        kind = ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{count} x {element}>"))
        space = self.options.private_space
        return llvm.AllocaOp(_pointer(space), one, kind, alignment=_integer(BUFFER_ALIGNMENT)).result

    def _shared(
        self, name: str, count: int | None, element: ir.Type, alignment: int = BUFFER_ALIGNMENT
    ) -> ir.Value:
        """A global; memory sized at launch is an array of no elements that is defined elsewhere."""
        linkage, array = ("external", "0 x i8") if count is None else ("internal", f"{count} x {element}")
        with ir.InsertionPoint.at_block_begin(self.module.body):
            ir.Operation.create(
                "llvm.mlir.global",
                attributes={
                    "sym_name": ir.StringAttr.get(name),
                    "global_type": ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{array}>")),
                    "linkage": ir.Attribute.parse(f"#llvm.linkage<{linkage}>"),
                    "addr_space": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), SHARED),
                    "alignment": _integer(alignment),
                },
                regions=1,
            )
        return llvm.AddressOfOp(_pointer(SHARED), name).result

    # -- accesses --------------------------------------------------------------------------------

    def _address(self, memory: ir.Value, index: ir.Value) -> tuple[_Memory, ir.Value]:
        held = self._held(memory)
        made = self._step(held).operation.clone().operation
        made.operands[0], made.operands[1] = held.pointer, arith.IndexCastOp(_i64(), index).result
        made.move_after(made.operands[1].owner.operation)
        made.location = ir.Location.current
        return held, made.result

    def _held(self, memory: ir.Value) -> _Memory:
        if memory not in self.memory:
            raise kernels.comes_after(self.kernel, "kernels with flat arrays alone", "kern-flatten-memory")
        return self.memory[memory]

    def _step(self, held: _Memory) -> ir.Operation:
        """A step within an array, to be cloned: the bindings have no way to say `inbounds` but text."""
        kind, element = held.pointer.type, str(held.element)
        if (str(kind), element) not in self.steps:
            text = f"""
            llvm.func @step(%p: {kind}, %i: i64) {{
              %q = llvm.getelementptr inbounds %p[%i] : ({kind}, i64) -> {kind}, {element}
              llvm.return
            }}"""
            self.steps[str(kind), element] = ir.Module.parse(text)
        function = self.steps[str(kind), element].body.operations[0]
        return function.regions[0].blocks[0].operations[0].operation

    def _load(self, op: ir.Operation) -> list[ir.Value]:
        held, pointer = self._address(op.operands[0], op.operands[1])
        return [llvm.LoadOp(held.element, pointer, alignment=_natural(held.element)).result]

    def _store(self, op: ir.Operation) -> list[ir.Value]:
        held, pointer = self._address(op.operands[1], op.operands[2])
        llvm.StoreOp(op.operands[0], pointer, alignment=_natural(held.element))
        return []

    def _taken(self, op: ir.Operation) -> list[ir.Value]:
        """The address as a number: one of the space that all memory lies in."""
        held = self._held(op.operands[0])
        pointer = held.pointer
        if held.shared:
            pointer = ir.Operation.create(
                "llvm.addrspacecast", results=[_pointer(0)], operands=[pointer]
            ).result
        number = ir.Operation.create("llvm.ptrtoint", results=[_i64()], operands=[pointer]).result
        return [arith.IndexCastOp(ir.IndexType.get(), number).result]

    def _load_matrices(self, op: ir.Operation) -> list[ir.Value]:
        _, pointer = self._address(op.operands[0], op.operands[1])
        return load_matrices(pointer, ir.BoolAttr(op.attributes["transposed"]).value)

    def _load_words(self, op: ir.Operation) -> list[ir.Value]:
        _, pointer = self._address(op.operands[0], op.operands[1])
        return load_words(pointer, len(list(op.results)))

    def _store_words(self, op: ir.Operation) -> list[ir.Value]:
        memory, place, *words = op.operands
        store_words(self._address(memory, place)[1], words)
        return []

    def _copy_async(self, op: ir.Operation) -> list[ir.Value]:
        count, target, place, source, index = op.operands
        _, to = self._address(target, place)
        _, begin = self._address(source, index)
        copy_async(to, begin, count)
        return []

    def _begin_phases(self, op: ir.Operation) -> list[ir.Value]:
        pointer = self._held(op.operands[0]).pointer
        warpgroup_memory.begin_phases(pointer, ir.IntegerAttr(op.attributes["count"]).value)
        return []

    def _expect_bytes(self, op: ir.Operation) -> list[ir.Value]:
        _, phase = self._address(*op.operands)
        warpgroup_memory.expect_bytes(phase, ir.IntegerAttr(op.attributes["bytes"]).value)
        return []

    def _wait_phase(self, op: ir.Operation) -> list[ir.Value]:
        phases, slot, parity = op.operands
        warpgroup_memory.wait_phase(self._address(phases, slot)[1], parity)
        return []

    def _copy_box(self, op: ir.Operation) -> list[ir.Value]:
        source, target, place, phases, slot, *corner = op.operands
        to, phase = self._address(target, place)[1], self._address(phases, slot)[1]
        warpgroup_memory.copy_box(self.maps[source], to, phase, corner)
        return []

    def _multiply_panels(self, op: ir.Operation) -> list[ir.Value]:
        left, left_place, right, right_place, *sums = op.operands
        pointers = self._address(left, left_place)[1], self._address(right, right_place)[1]
        view = op.opview
        return warpgroup_memory.multiply_panels(*pointers, sums, view.columns, view.by_terms, view.kind)

    def _multiply_words(self, op: ir.Operation) -> list[ir.Value]:
        view, values = op.opview, list(op.operands)
        count = len(list(op.results))
        _, right = self._address(values[0], values[1])
        words, sums = values[2:-count], values[-count:]
        return warpgroup_memory.multiply_words(words, right, sums, view.by_terms, view.kind)

    def _scope(self, held: _Memory) -> ir.Attribute:
        return ir.StringAttr.get(self.options.group_scope if held.shared else self.options.device_scope)

    def _rmw(self, op: ir.Operation) -> list[ir.Value]:
        value, memory, index = op.operands
        held, pointer = self._address(memory, index)
        stored = to_memory(value, held.element)
        kind = ir.StringAttr(op.attributes["kind"]).value
        if kind == "exchange" or value.type == stored.type:
            table = RMW_OF_FLOATS if isinstance(stored.type, ir.FloatType) else RMW_OF_INTEGERS
        else:
            table, stored = RMW_OF_FLOATS, value  # LLVM adds floats whatever the memory calls its elements
        made = llvm.AtomicRMWOp(
            llvm.AtomicBinOp[table[kind]],
            pointer,
            stored,
            llvm.AtomicOrdering.monotonic,
            syncscope=self._scope(held),
        ).result
        return [from_memory(made, value.type)]

    def _cas(self, op: ir.Operation) -> list[ir.Value]:
        """Floats are compared by their bits, as the hardware does."""
        expected, desired, memory, index = op.operands
        held, pointer = self._address(memory, index)
        bits = _bits(held.element)
        relaxed = llvm.AtomicOrdering.monotonic
        pair = llvm.AtomicCmpXchgOp(
            pointer,
            to_memory(expected, bits),
            to_memory(desired, bits),
            relaxed,
            relaxed,
            syncscope=self._scope(held),
        ).res
        first = ir.Operation.create(
            "llvm.extractvalue", results=[bits], operands=[pair],
            attributes={"position": ir.DenseI64ArrayAttr.get([0])},
        ).result  # fmt: skip
        return [from_memory(first, expected.type)]


_ACCESSES = {
    "memref.load": _Lowering._load,
    "memref.store": _Lowering._store,
    "kern.atomic_rmw": _Lowering._rmw,
    "kern.atomic_cas": _Lowering._cas,
    ADDRESS: _Lowering._taken,
    "kern.load_matrices": _Lowering._load_matrices,
    "kern.load_words": _Lowering._load_words,
    "kern.store_words": _Lowering._store_words,
    "kern.copy_async": _Lowering._copy_async,
    "kern.begin_phases": _Lowering._begin_phases,
    "kern.expect_bytes": _Lowering._expect_bytes,
    "kern.copy_box": _Lowering._copy_box,
    "kern.wait_phase": _Lowering._wait_phase,
    "kern.multiply_panels": _Lowering._multiply_panels,
    "kern.multiply_words": _Lowering._multiply_words,
}


def check_lowered(kernel_module: ir.Operation, prefixes: tuple[str, ...], target: str) -> None:
    """Refuse, at the kernel's line, what is left without a form on the target."""
    for op in find(kernel_module, lambda op: not op.name.startswith(prefixes)):
        raise TargetError(f"`{op.name}` has no form on {target}", span_of(op.location))


def _pointer(space: int) -> ir.Type:
    return ir.Type.parse(f"!llvm.ptr<{space}>" if space else "!llvm.ptr")


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _integer(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(_i64(), value)


def _natural(kind: ir.Type) -> ir.IntegerAttr | None:
    """The alignment of an element, where LLVM would take it for less before it knows the target: i64 for 4."""
    return _integer(8) if kind == _i64() else None


def _bits(kind: ir.Type) -> ir.Type:
    return ir.IntegerType.get_signless(kind.width)
