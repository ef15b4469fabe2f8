"""What NVIDIA's chips do in one instruction, where code for any chip takes several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import llvm

from pykern.passes.framework import Pass
from pykern.passes.ir.values import defining, made_by
from pykern.passes.kernels import find, named, replace

_FLAGS = "fastmathFlags"
_USERS, _APPROXIMATE = "contract", "afn"
"""What all arithmetic of users allows, and what that of kernels with ``fastmath=True`` does besides."""


@dataclass(frozen=True)
class FlushSubnormals(Pass):
    """Take subnormal f32 for zero, where a kernel allows approximations.

    In:  a gpu.module of llvm.func. Out: where all the user's arithmetic on f32 allows approximations, functions say
         that subnormals become zero, and the module that libdevice's functions do so, too. Approximate
         instructions need no scaling then.
    """

    name: ClassVar[str] = "kern-flush-subnormals"

    def run(self, module: ir.Module) -> None:
        for device in named(module.operation, "gpu.module"):
            flags = [str(op.attributes[_FLAGS]) for op in find(device, _computes)]
            users = [each for each in flags if _USERS in each]
            if not users or not all(_APPROXIMATE in each for each in users):
                continue
            for function in named(device, "llvm.func"):
                function.attributes["denormal_fp_math_f32"] = ir.StringAttr.get("preserve-sign,preserve-sign")
            with ir.InsertionPoint.at_block_begin(device.regions[0].blocks[0]), device.location:
                flag = '#llvm.mlir.module_flag<override, "nvvm-reflect-ftz", 1 : i32>'
                ir.Operation.create(
                    "llvm.module_flags", attributes={"flags": ir.Attribute.parse(f"[{flag}]")}
                )


def _computes(op: ir.Operation) -> bool:
    """Whether an op computes f32."""
    return _FLAGS in op.attributes and any(isinstance(v.type, ir.F32Type) for v in op.operands)


@dataclass(frozen=True)
class AddItems(Pass):
    """A work-item's number, that of its group times a size and its own in it, by one instruction.

    In:  a gpu.module of llvm.func. Out: where LLVM would see that product and summand have no bit in common, and make a
         shift and an `or` of them, `mad.lo` as text of PTX. What reads shared memory knows the summand's range still.
    """

    name: ClassVar[str] = "kern-add-items"
    only_speed: ClassVar[bool] = True

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "llvm.add"):
            for first, second in (list(op.operands), list(op.operands)[::-1]):
                size = _factor(first)
                if size and size & (size - 1) == 0 and _is_item(second) and _is_i32(op):
                    _multiply_add(op, first.owner.operation.operands[0], size, second)
                    break


def _is_i32(op: ir.Operation) -> bool:
    return op.results[0].type == ir.IntegerType.get_signless(32)


def _factor(value: ir.Value) -> int:
    """The constant by which a product multiplies its first factor; 0 for none."""
    product = made_by(value, "llvm.mul")
    constant = None if product is None else made_by(product.operands[1], "llvm.mlir.constant")
    return 0 if constant is None else ir.IntegerAttr(constant.attributes["value"]).value


def _is_item(value: ir.Value) -> bool:
    """Whether this is the number of a work-item along an axis of its group, of whatever width."""
    while (cast := made_by(value, "llvm.sext", "llvm.zext", "llvm.trunc")) is not None:
        value = cast.operands[0]
    made = defining(value)
    return made is not None and made.name.startswith("nvvm.read.ptx.sreg.tid.")


def _multiply_add(op: ir.Operation, group: ir.Value, size: int, item: ir.Value) -> None:
    with ir.InsertionPoint(op), op.location:
        made = llvm.InlineAsmOp(
            op.results[0].type,
            [group, item],
            f"mad.lo.s32 $0, $1, {size}, $2;",
            "=r,r,r",
            asm_dialect=0,
        )
    replace(op, [made.res])
