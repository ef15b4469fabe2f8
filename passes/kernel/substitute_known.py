"""Specialises a kernel for a launch: lengths and strides of arrays and integer arguments that are known are constants.

Comes in: a kernel at the work-item level with `kern.known`. Goes out: the same with constants in place of these
arguments, and with static lengths and strides in the types of arrays: `memref<?xf32>` becomes `memref<128xf32>`.
The known numbers of work-items are used by `expand_ndrange`. Read next: `launch_arguments`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes import kernels
from pykern.passes.analysis.launch_slots import first_slots, is_strided, known_numbers
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import MEMORY_OPERAND, index_constant, is_constant, update_type


@dataclass(frozen=True)
class SubstituteKnown(Pass):
    """Replace what is known of a launch by constants.

    In:  kernels with `kern.known`: pairs of an argument slot's number and its value.
    Out: known integer arguments, and `memref.dim` of known lengths, have no uses. The types of arrays have the known
         lengths and strides, if the kernel only loads from them, stores to them and asks for their lengths. The kernel
         keeps all of its arguments.
    """

    name: ClassVar[str] = "kern-substitute-known"

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            known = known_numbers(kernel)
            if not known:
                continue
            for argument, first in zip(kernels.body(kernel).arguments, first_slots(kernel)[:-1], strict=True):
                if isinstance(argument.type, ir.MemRefType):
                    _array(argument, known, first + 1)
                elif first in known:
                    _scalar(kernel, argument, known[first])
            results = ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value).results
            update_type(kernel, results)
            changed = True
        return changed


def _scalar(kernel: ir.Operation, argument: ir.Value, value: int) -> None:
    with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
        known = constant(argument.type, value)
    argument.replace_all_uses_with(known)


def _array(argument: ir.Value, known: dict[int, int], first: int) -> None:
    kind = ir.MemRefType(argument.type)
    users = [use.owner.operation for use in argument.uses]
    for op in users:
        dim = is_constant(op.operands[1]) if op.name == "memref.dim" else None
        if dim is not None and first + dim in known:
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(index_constant(known[first + dim]))
    if not all(op.name == "memref.dim" or op.name in MEMORY_OPERAND for op in users):
        return
    shape = [known.get(first + dim, length) for dim, length in enumerate(kind.shape)]
    if not is_strided(kind):
        argument.set_type(ir.MemRefType.get(shape, kind.element_type, memory_space=kind.memory_space))
        return
    strides, offset = kind.get_strides_and_offset()
    strides = [known.get(first + kind.rank + dim, stride) for dim, stride in enumerate(strides)]
    layout = ir.StridedLayoutAttr.get(offset, strides)
    argument.set_type(ir.MemRefType.get(shape, kind.element_type, layout, kind.memory_space))
