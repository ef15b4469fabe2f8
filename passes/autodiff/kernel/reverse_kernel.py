"""`kern-reverse-kernel`: a kernel becomes the one that gives its gradient.

Each work-item runs forward, without stores that outlast the launch, and then back. In: a kernel, and
the numbers of the arguments that are differentiated. Out: the same function with a shadow behind each
of these, an array for an array, a 0-d array for a scalar. The shadow of what the kernel wrote goes in
as the cotangent and comes out as zero; the others are added to. Arrays keep their values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.autodiff.kernel.activity import Activity
from pykern.passes.autodiff.kernel.branches import both_branches
from pykern.passes.autodiff.kernel.copying import ForwardSweep
from pykern.passes.autodiff.kernel.memory import Shadows, accumulate, local_shadows
from pykern.passes.autodiff.kernel.primal_values import PrimalValues, ReverseScope
from pykern.passes.autodiff.kernel.shadow_arguments import replace_function
from pykern.passes.autodiff.kernel.sharing import Sharing
from pykern.passes.autodiff.kernel.structured import captured_values
from pykern.passes.autodiff.kernel.sweep import Sweep
from pykern.passes.autodiff.unread_gates import drop_unread_gates
from pykern.passes.framework import Pass
from pykern.passes.kernels import identity, named


@dataclass(frozen=True)
class ReverseKernel(Pass):
    """Reverse mode, work-item by work-item. Raises `NotDifferentiable` at the line that prevents it."""

    name: ClassVar[str] = "kern-reverse-kernel"
    active: tuple[int, ...] = ()
    """Numbers of the function's arguments that get a shadow."""
    strided: tuple[int, ...] = ()
    """Those of them whose shadow may have any strides."""
    deterministic: bool = False
    """Where work-items add to one cell they run one after the other, so that sums have one order."""

    def run(self, module: ir.Module) -> None:
        for kernel in list(kernels.kernels(module)):
            made = reverse_kernel(kernel, self.active, self.strided)
            if self.deterministic and named(made, "kern.atomic_rmw"):
                made.attributes[kern.SEQUENTIAL] = ir.UnitAttr.get()


def reverse_kernel(
    kernel: ir.Operation, active: tuple[int, ...], strided: tuple[int, ...] = (), gated: bool = False
) -> ir.Operation:
    """Put the gradient of one kernel in its place; see `ReverseKernel`. With `gated`, all its shadows hold gates."""
    with kernel.location:
        return replace_function(kernel, active, strided, _Gradient(kernel, active, gated).emit)


class _Gradient:
    def __init__(self, kernel: ir.Operation, active: tuple[int, ...], gated: bool) -> None:
        self.kernel, self.gated = kernel, gated
        self.activity = Activity(kernel, active)
        self.sharing = Sharing(kernel)
        self.sharing.refuse_races()
        accesses = self.sharing.accesses
        self.restored = {m for m, found in accesses.items() if found.stores and found.loads}
        dropped = {
            identity(op)
            for memory, found in accesses.items()
            if memory not in self.restored
            for op in found.stores + found.atomics
        }
        dropped |= {identity(op) for op in named(kernel, "kern.print")}
        self.forward = ForwardSweep(dropped, self.restored)

    def emit(self, values: dict[ir.Value, ir.Value], shadows: dict[ir.Value, ir.Value]) -> None:
        """The new body. `values` and `shadows` map the kernel's arguments to the new function's."""
        self.forward.values.update(values)
        arrays = {a: s for a, s in shadows.items() if isinstance(a.type, ir.MemRefType)}
        held = Shadows(self.kernel, self.activity, self.sharing, arrays, self.restored, self.gated)
        self.sweep = Sweep(self.activity, PrimalValues(self.forward, self.sharing), held)
        held.of.update(local_shadows(self.kernel, self.activity, self.forward.values, held.gated))
        self._both(kernels.body(self.kernel))
        for argument, shadow in shadows.items():
            if argument not in arrays and argument in self.sweep.adjoints:
                accumulate(self.sweep.taken(argument), shadow, [], exclusive=False)
        func.ReturnOp([])
        drop_unread_gates(ir.InsertionPoint.current.block.owner.operation)

    def _both(self, block: ir.Block) -> None:
        """Forward and back through a block that is not repeated: its values stay alive between."""
        operations = [o.operation for o in block.operations][:-1]
        tail = _tail(operations)
        straight = operations if tail is None else operations[:tail]
        self.forward.operations(straight)
        scope = ReverseScope(block)
        if tail is not None:
            self.sweep.primals.scopes.append(scope)
            self._tail_branch(operations[tail])
            self.sweep.primals.scopes.pop()
        self.sweep.block(scope, straight)

    def _tail_branch(self, op: ir.Operation) -> None:
        """A branch nothing follows goes forward and back at once: nothing in it has to be taped."""

        def side(number: int) -> None:
            if len(op.regions[number].blocks):
                self._both(op.regions[number].blocks[0])

        (condition,) = self.forward.of(op.operands)
        both_branches(
            self.sweep,
            condition,
            captured_values(self.sweep, op),
            lambda number, _: side(number),
            op.location,
        )


def _tail(operations: list[ir.Operation]) -> int | None:
    """The position of a last scf.if without results, if the block ends with one."""
    for position in range(len(operations) - 1, -1, -1):
        op = operations[position]
        if op.name == "scf.if" and not op.results:
            return position
        if op.regions or not op.name.startswith(("arith.", "math.", "memref.dim")):
            return None
    return None
