"""Instructions that multiply pairs or quads of narrow numbers and sum each of them into one lane of 32 bits.

Comes in: a product of matrices and the machine. Goes out: a `Dot`, the instruction, or None. Read next:
`narrow_packing`, which lays terms side by side for it, and `narrow_tile`, which emits it.

Integers wrap, so any of these sums is exact: an i16 holds a byte of either sign, and `pmaddwd` of i16 gives the sum
of two products modulo 2^32 (the one that does not fit, 2^30 + 2^30, wraps as i32 does). `vpdpbusd` takes one factor
without a sign: where both have one, the left is packed 128 larger, and 128 times the right's sum is taken off:

    sum(a * b) = sum((a + 128) * b) - sum(128 * b)

What bf16 loses is written in docs/design/schedules.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.environment.machine import Cpu
from pykern.passes.analysis.cost_model.registers import BYTE_SUM_REGISTERS
from pykern.passes.codegen.cpu.contraction.product import Product
from pykern.passes.kernels import body

LIFT = 128
"""The number that makes a signed byte an unsigned one; adding it flips the highest bit."""


@dataclass(frozen=True)
class Dot:
    """One instruction. `terms` elements of a factor, packed as type `element`, are 32 bits."""

    intrinsic: str
    terms: int
    element: str
    adds: bool = True
    """Whether it adds to a sum; else it gives the sum of its own products."""
    first: int = 0
    """The factor that is its first operand: of `vpdpbusd` the one without a sign."""
    conversions: tuple[str, str] = ("arith.extsi", "arith.extsi")
    """The conversions from the elements of left and right to those of the sum."""
    lifted: bool = False
    """Whether the left factor is packed `LIFT` larger, without a sign."""

    @property
    def kind(self) -> ir.Type:
        return ir.Type.parse(self.element)

    def narrowed(self, number: int, value: ir.Value) -> ir.Value:
        """An element of a factor, or a vector of them, as it is packed."""
        vector = isinstance(value.type, ir.VectorType)
        kind = ir.VectorType.get(list(ir.VectorType(value.type).shape), self.kind) if vector else self.kind
        if self.lifted and number == 0:
            return _flip_highest_bit(value)
        if kind == value.type:
            return value
        return ir.Operation.create(self.conversions[number], [kind], [value]).results[0]

    def converted(self, number: int, value: ir.Value) -> ir.Value:
        """A packed element as it is multiplied: what the body of the contraction says."""
        sums = ir.F32Type.get() if self.element == "bf16" else ir.IntegerType.get_signless(32)
        name = self.conversions[number]
        if self.element == "i16":  # the sign is a matter of how it was packed
            name = "arith.extsi"
        if self.lifted and number == 0:
            value = _flip_highest_bit(value)
        return ir.Operation.create(name, [sums], [value]).results[0]

    def attribute(self) -> ir.Attribute:
        i64 = ir.IntegerType.get_signless(64)
        return ir.DictAttr.get(
            {
                "intrinsic": ir.StringAttr.get(self.intrinsic),
                "adds": ir.BoolAttr.get(self.adds),
                "first": ir.IntegerAttr.get(i64, self.first),
                "lifted": ir.BoolAttr.get(self.lifted),
            }
        )


def dot_for(product: Product, cpu: Cpu) -> Dot | None:
    """The instruction for a product of matrices whose factors are narrow; None where there is none."""
    if len(product.k) != 1 or not product.m or product.lane not in product.n:
        return None
    found = [_conversion(product, number) for number in (0, 1)]
    if found[0] is None or found[1] is None:
        return None
    (left, first), (right, second) = found[0], found[1]
    names = (first, second)
    if left == right == "bf16":
        intrinsic = _BF16.get(cpu.isa) if "bf16-dot" in cpu.features and not product.ordered else None
        return None if intrinsic is None else Dot(intrinsic, 2, "bf16", conversions=names)
    if str(product.element) != "i32" or not {left, right} <= {"i8", "i16"}:
        return None
    if left == right == "i8" and (quads := _quads(names, cpu)) is not None:
        return quads
    unsigned = [t for t, name in ((left, first), (right, second)) if name == "arith.extui"]
    if "i16" in unsigned or cpu.isa not in _I16:
        return None
    intrinsic, adding = _I16[cpu.isa]
    adds = adding is not None and "i16-dot" in cpu.features
    return Dot(adding if adds and adding else intrinsic, 2, "i16", adds, conversions=names)


_BF16 = {"avx512": "llvm.x86.avx512bf16.dpbf16ps.512", "neon": "llvm.aarch64.neon.bfdot.v4f32.v8bf16"}
_I16 = {
    "sse2": ("llvm.x86.sse2.pmadd.wd", None),
    "avx2": ("llvm.x86.avx2.pmadd.wd", "llvm.x86.avx512.vpdpwssd.256"),
    "avx512": ("llvm.x86.avx512.pmaddw.d.512", "llvm.x86.avx512.vpdpwssd.512"),
}
"""Sums of pairs, and sums of pairs added to others (VNNI)."""
_BUSD = {"avx2": "llvm.x86.avx512.vpdpbusd.256", "avx512": "llvm.x86.avx512.vpdpbusd.512"}


def _quads(names: tuple[str, str], cpu: Cpu) -> Dot | None:
    """Bytes as they are."""
    mixed = names[0] != names[1]
    unsigned = names.index("arith.extui") if mixed else 0
    if cpu.isa == "neon":
        wanted, name = ("mixed-dot", "usdot") if mixed else ("i8-dot", "sdot")
        if wanted not in cpu.features:
            return None
        name = "udot" if names == ("arith.extui", "arith.extui") else name
        return Dot(f"llvm.aarch64.neon.{name}.v4i32.v16i8", 4, "i8", first=unsigned, conversions=names)
    if cpu.isa not in _BUSD or "i16-dot" not in cpu.features:
        return None
    if mixed:
        return Dot(_BUSD[cpu.isa], 4, "i8", first=unsigned, conversions=names)
    if names[0] == "arith.extsi" and cpu.registers >= BYTE_SUM_REGISTERS:
        return Dot(_BUSD[cpu.isa], 4, "i8", conversions=names, lifted=True)
    return None


def _flip_highest_bit(value: ir.Value) -> ir.Value:
    """Bytes with their highest bit flipped: `LIFT` more, or less."""
    i8 = ir.IntegerType.get_signless(8)
    bit: ir.Attribute = ir.IntegerAttr.get(i8, LIFT - 256)
    if isinstance(value.type, ir.VectorType):
        bit = ir.DenseElementsAttr.get_splat(value.type, bit)
    return arith.XOrIOp(value, arith.ConstantOp(value.type, bit).result).result


def _conversion(product: Product, number: int) -> tuple[str, str] | None:
    """The type of a factor's elements, and the one conversion to that of the sum."""
    operand = product.numbers[number]
    uses = list(body(product.op).arguments[operand].uses)
    first = uses[0].owner.operation
    if first.name not in ("arith.extsi", "arith.extui", "arith.extf"):
        return None
    if first.results[0].type != product.element:
        return None
    return str(ir.MemRefType(product.op.operands[operand].type).element_type), first.name
