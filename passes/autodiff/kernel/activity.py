"""Which values and buffers depend on what is differentiated ("varied"), to a fixpoint.

In: a kernel, and which of its arguments are differentiated. Out: `Activity`.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import NotDifferentiable, PassError
from pykern.passes import kernels
from pykern.passes.autodiff.rules.flow import ONLY_LOOK, varying_results
from pykern.passes.ir.values import is_argument

_ENDS = ("scf.yield", "scf.condition", "func.return")
"""Terminators: the values that they pass on are handled together with their loop or branch."""
_UPDATES = ("kern.atomic_rmw", "kern.atomic_cas")


class Activity:
    """`values`: varied SSA values. `buffers`: memory whose cells carry a derivative."""

    def __init__(self, kernel: ir.Operation, active: tuple[int, ...]) -> None:
        _refuse_foreign(kernel)
        arguments = list(kernels.body(kernel).arguments)
        if any(n >= len(arguments) for n in active):
            raise PassError(
                f"the kernel has {len(arguments)} arguments, and one of another number is to be differentiated",
                span_of(kernel.location),
            )
        self.kernel = kernel
        self.arguments = {arguments[n] for n in active}
        self.values: set[ir.Value] = {a for a in self.arguments if not _is_memory(a)}
        self.buffers: set[ir.Value] = {a for a in self.arguments if _is_memory(a)}
        self._tape = False
        size = -1
        while size != len(self.values) + len(self.buffers):
            size = len(self.values) + len(self.buffers)
            for op in kernels.find(kernel, lambda op: True):
                self._visit(op)

    def varied(self, value: ir.Value) -> bool:
        return value in self.values

    def taped(self, kind: ir.Type) -> bool:
        """Whether numbers of this type take their derivative along to the tape."""
        return self._tape and isinstance(kind, ir.FloatType)

    def _visit(self, op: ir.Operation) -> None:
        name = op.name
        if name == "memref.load":
            if op.operands[0] in self.buffers:
                self._vary(op.results[0])
        elif name == "kern.push":
            self._tape = self._tape or op.operands[0] in self.values
        elif name == "kern.pop":
            if self._tape:
                self._vary(op.results[0])
        elif name in ("memref.store", "kern.atomic_rmw"):
            if op.operands[0] in self.values:
                self._written(op, op.operands[1])
        elif name == "kern.atomic_cas":
            if any(v in self.values for v in list(op.operands)[:2]):
                self._written(op, op.operands[2])
        elif name == "scf.for":
            self._flow(list(op.operands)[3:], list(_block(op).arguments)[1:])
            self._flow(_terminator(op, 0), list(_block(op).arguments)[1:])
            self._flow(list(_block(op).arguments)[1:], list(op.results))
        elif name == "scf.while":
            before, after = _block(op), _block(op, 1)
            self._flow(list(op.operands), list(before.arguments))
            self._flow(_terminator(op, 1), list(before.arguments))
            passed = _terminator(op, 0)[1:]
            self._flow(passed, list(after.arguments))
            self._flow(passed, list(op.results))
        elif name == "scf.if":
            for number, region in enumerate(op.regions):
                if len(region.blocks):
                    self._flow(_terminator(op, number), list(op.results))
        elif name not in _ENDS and name not in ONLY_LOOK and any(v in self.values for v in op.operands):
            for result in varying_results(op):
                self._vary(result)

    def _written(self, op: ir.Operation, memory: ir.Value) -> None:
        if not isinstance(ir.MemRefType(memory.type).element_type, ir.FloatType):
            return
        if not is_argument(memory):
            self.buffers.add(memory)  # shared or private
        elif memory not in self.buffers and _is_read(self.kernel, memory):
            raise NotDifferentiable(
                "this array carries a derivative from here to where it is read",
                span_of(op.location),
                "pass it with its shadow: pk.Dup(x, dx)",
            )

    def _flow(self, sources: list[ir.Value], targets: list[ir.Value]) -> None:
        for source, target in zip(sources, targets, strict=True):
            if source in self.values:
                self._vary(target)

    def _vary(self, value: ir.Value) -> None:
        if isinstance(value.type, ir.FloatType):
            self.values.add(value)


def _is_memory(value: ir.Value) -> bool:
    return isinstance(value.type, ir.MemRefType)


def _is_read(kernel: ir.Operation, memory: ir.Value) -> bool:
    loads = kernels.named(kernel, "memref.load")
    updates = [
        op for op in kernels.named(kernel, *_UPDATES) if next(iter(op.results[0].uses), None) is not None
    ]
    return any(op.operands[kernels.MEMORY_OPERAND[op.name]] == memory for op in (*loads, *updates))


def _block(op: ir.Operation, region: int = 0) -> ir.Block:
    return op.regions[region].blocks[0]


def _terminator(op: ir.Operation, region: int) -> list[ir.Value]:
    operations = _block(op, region).operations
    return list(operations[len(operations) - 1].operation.operands)


def _refuse_foreign(kernel: ir.Operation) -> None:
    """Nothing is known of other people's code: neither its derivative, nor what it does to memory."""
    module = kernel.parent
    assert module is not None, "a kernel lies in a module"
    foreign = {
        ir.StringAttr(op.operation.attributes["sym_name"]).value: ir.StringAttr(
            op.operation.attributes[kern.CUDA]
        )
        for op in module.regions[0].blocks[0].operations
        if kern.CUDA in op.operation.attributes
    }
    for call in kernels.named(kernel, "func.call") if foreign else ():
        name = foreign.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
        if name is not None:
            raise NotDifferentiable(
                f"`{name.value}` is CUDA C++, whose derivative is not known",
                span_of(call.location),
                "write it in Python with @pk.func, or keep it in a kernel that is not differentiated",
            )
