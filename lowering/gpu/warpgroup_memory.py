"""The instructions of a warpgroup over pointers: NVIDIA's `wgmma`, copies by tensor maps, and mbarriers.

Only kernels for chips that have `Chip.warpgroup_unit` ask for them. Descriptors of matrices: PTX ISA, "Matrix
Descriptor Format"; strides: "Strides" of "Asynchronous Warpgroup Level Matrix Shared Memory Layout".
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith, llvm

from pykern.dialect.matrix_units import SUMS
from pykern.dialect.warpgroups import ELEMENT_BYTES, PANEL_BYTES, ROW_BYTES, ROWS
from pykern.passes.ir.constants import constant

_TICKS = 10_000_000
"""Nanoseconds that a test of a phase may sleep."""
_TERM_BYTES = 32
"""Of the terms of one instruction."""
_LINES_OF_TERMS = 16
"""Of 16-bit elements whose lines are side by side, for one instruction."""
_WORDS = 4
"""Of a work-item, with its part of the terms of one instruction, where the left factor is in registers."""
_STEPS = 4
"""Instructions that take all terms of a panel."""
_ROWS_OF_EIGHT = 8 * ROW_BYTES
_SWIZZLE = 1 << 62
"""Rows of 128 bytes, in the last two bits of a descriptor."""


def begin_phases(pointer: ir.Value, count: int) -> None:
    """Phases that end with one arrival; asynchronous copies see them."""
    word = ir.IntegerType.get_signless(32)
    for number in range(count):
        place = _moved(pointer, 8 * number)
        ir.Operation.create("nvvm.mbarrier.init", operands=[place, constant(word, 1)])
    ir.Operation.create("nvvm.fence.mbarrier.init")


def expect_bytes(phase: ir.Value, nbytes: int) -> None:
    word = constant(ir.IntegerType.get_signless(32), nbytes)
    ir.Operation.create("nvvm.mbarrier.arrive.expect_tx", operands=[phase, word])


def wait_phase(phase: ir.Value, parity: ir.Value) -> None:
    ticks = constant(ir.IntegerType.get_signless(32), _TICKS)
    ir.Operation.create("nvvm.mbarrier.try_wait.parity", operands=[phase, parity, ticks])


def copy_box(source: ir.Value, target: ir.Value, phase: ir.Value, corner: Sequence[ir.Value]) -> None:
    """`source` is the map's address."""
    cluster = ir.Operation.create(
        "llvm.addrspacecast", results=[ir.Type.parse("!llvm.ptr<7>")], operands=[target]
    ).result
    word = ir.IntegerType.get_signless(32)
    places = [arith.IndexCastOp(word, each).result for each in corner]
    ir.Operation.create(
        "nvvm.cp.async.bulk.tensor.shared.cluster.global",
        operands=[cluster, source, *places, phase],
        attributes={
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, len(places), 1, 0, 0, 0, 0]),
            "isCTAOnly": ir.BoolAttr.get(False),
            "mode": ir.Attribute.parse("#nvvm.tma_load_mode<tile>"),
        },
    )


def multiply_panels(
    left: ir.Value,
    right: ir.Value,
    sums: list[ir.Value],
    columns: int,
    by_terms: tuple[bool, bool],
    kind: str,
) -> list[ir.Value]:
    """`left` and `right` are pointers to factors; the sums of 64 rows after the other."""
    each = columns // 2
    held = [_struct(sums[n : n + each]) for n in range(0, len(sums), each)]
    descriptors = [_descriptor(left), _descriptor(right)]
    held = [_ordered("wgmma.fence.sync.aligned;", struct, each) for struct in held]
    for step in range(_STEPS):
        for block in range(len(held)):
            a = _advanced(descriptors[0], block * PANEL_BYTES + step * _step_bytes(by_terms[0]))
            b = _advanced(descriptors[1], step * _step_bytes(by_terms[1]))
            held[block] = _multiplied(held[block], a, b, columns, by_terms, kind)
    ir.Operation.create("nvvm.wgmma.commit.group.sync.aligned")
    held = [_ordered("wgmma.wait_group.sync.aligned 0;", struct, each) for struct in held]
    return [value for struct in held for value in _values(struct, each)]


def multiply_words(
    words: list[ir.Value], right: ir.Value, sums: list[ir.Value], by_terms: bool, kind: str
) -> list[ir.Value]:
    """`words` are those of the left factor, four of each step; `right` is the pointer of the other one."""
    columns = 2 * len(sums)
    held, descriptor = _struct(sums), _descriptor(right)
    held = _ordered("wgmma.fence.sync.aligned;", held, len(sums), words)
    for step in range(len(words) // _WORDS):
        block, part = divmod(step, _STEPS)
        place = block * columns // ROWS * PANEL_BYTES + part * _step_bytes(by_terms)
        left = words[_WORDS * step : _WORDS * (step + 1)]
        held = _multiplied_words(held, left, _advanced(descriptor, place), by_terms, kind)
    ir.Operation.create("nvvm.wgmma.commit.group.sync.aligned")
    held = _ordered("wgmma.wait_group.sync.aligned 0;", held, len(sums), words)
    return _values(held, len(sums))


def _multiplied_words(
    held: ir.Value, left: list[ir.Value], right: ir.Value, by_terms: bool, kind: str
) -> ir.Value:
    """One instruction with the left factor in registers; NVVM's op takes a descriptor alone."""
    count = len(_kinds(held))
    totals = ", ".join(f"${n}" for n in range(count))
    words = ", ".join(f"${count + n}" for n in range(_WORDS))
    name = (
        f"wgmma.mma_async.sync.aligned.m64n{2 * count}k{_TERM_BYTES // ELEMENT_BYTES[kind]}.f32.{kind}.{kind}"
    )
    turned = 0 if by_terms else 1
    text = (
        "{ .reg .pred p; setp.ne.b32 p, 1, 0; "
        f"{name} {{{totals}}}, {{{words}}}, ${count + _WORDS}, p, 1, 1, {turned}; }}"
    )
    constraints = ["=f"] * count + ["r"] * _WORDS + ["l"] + [str(n) for n in range(count)]
    return _assembly(text, constraints, held.type, [*left, right, *_values(held, count)])


def _step_bytes(by_terms: bool) -> int:
    """From one instruction's terms to the next one's: within rows, or rows further on."""
    return _TERM_BYTES if by_terms else _LINES_OF_TERMS * ROW_BYTES


def _struct(values: list[ir.Value]) -> ir.Value:
    kind = ir.Type.parse(f"!llvm.struct<({', '.join(str(v.type) for v in values)})>")
    made = ir.Operation.create("llvm.mlir.undef", results=[kind]).result
    for number, value in enumerate(values):
        place = ir.DenseI64ArrayAttr.get([number])
        made = ir.Operation.create(
            "llvm.insertvalue", results=[kind], operands=[made, value], attributes={"position": place}
        ).result
    return made


def _kinds(struct: ir.Value) -> list[ir.Type]:
    return list(llvm.StructType(struct.type).body)


def _values(struct: ir.Value, count: int) -> list[ir.Value]:
    kind = _kinds(struct)[0]
    return [llvm.ExtractValueOp(kind, struct, ir.DenseI64ArrayAttr.get([n])).result for n in range(count)]


def _ordered(instruction: str, struct: ir.Value, count: int, words: Sequence[ir.Value] = ()) -> ir.Value:
    """An instruction that orders accesses to registers, through which the sums go: no compiler moves what writes them
    behind it, or what reads them before it. `words` keep their registers until then."""
    register = "=f" if isinstance(_kinds(struct)[0], ir.F32Type) else "=r"
    constraints = [register] * count + [str(n) for n in range(count)] + ["r"] * len(words)
    return _assembly(instruction, constraints, struct.type, [*_values(struct, count), *words])


def _assembly(text: str, constraints: list[str], result: ir.Type, operands: list[ir.Value]) -> ir.Value:
    """Instructions with effects, in PTX."""
    return ir.Operation.create(
        "llvm.inline_asm",
        results=[result],
        operands=operands,
        attributes={
            "asm_string": ir.StringAttr.get(text),
            "constraints": ir.StringAttr.get(",".join(constraints)),
            "has_side_effects": ir.UnitAttr.get(),
            "asm_dialect": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0),
        },
    ).result


def _descriptor(pointer: ir.Value) -> ir.Value:
    """Of panels one behind the other: eight rows are 1024 bytes, panels side by side 8192."""
    wide = ir.IntegerType.get_signless(64)
    address = ir.Operation.create("llvm.ptrtoint", results=[wide], operands=[pointer]).result
    low = arith.AndIOp(arith.ShRUIOp(address, constant(wide, 4)).result, constant(wide, 0x3FFF)).result
    rest = _SWIZZLE | (_ROWS_OF_EIGHT >> 4) << 32 | (PANEL_BYTES >> 4) << 16
    return arith.OrIOp(low, constant(wide, rest)).result


def _advanced(descriptor: ir.Value, nbytes: int) -> ir.Value:
    if nbytes == 0:
        return descriptor
    return arith.AddIOp(descriptor, constant(descriptor.type, nbytes >> 4)).result


def _multiplied(
    held: ir.Value, a: ir.Value, b: ir.Value, columns: int, by_terms: tuple[bool, bool], kind: str
) -> ir.Value:
    """The op calls B's layout ``col`` where its terms are side by side."""
    layouts = "row" if by_terms[0] else "col", "col" if by_terms[1] else "row"
    return ir.Operation.create(
        "nvvm.wgmma.mma_async",
        results=[held.type],
        operands=[held, a, b],
        attributes={
            "layoutA": ir.Attribute.parse(f"#nvvm.mma_layout<{layouts[0]}>"),
            "layoutB": ir.Attribute.parse(f"#nvvm.mma_layout<{layouts[1]}>"),
            "scaleA": ir.Attribute.parse("#nvvm.wgmma_scale_in<one>"),
            "scaleB": ir.Attribute.parse("#nvvm.wgmma_scale_in<one>"),
            "scaleD": ir.Attribute.parse("#nvvm.wgmma_scale_out<one>"),
            "shape": ir.Attribute.parse(
                f"#nvvm.shape<m = {ROWS}, n = {columns}, k = {_TERM_BYTES // ELEMENT_BYTES[kind]}>"
            ),
            "typeA": ir.Attribute.parse(f"#nvvm.wgmma_type<{kind}>"),
            "typeB": ir.Attribute.parse(f"#nvvm.wgmma_type<{kind}>"),
            "typeD": ir.Attribute.parse(f"#nvvm.wgmma_type<{'s32' if SUMS[kind] == 'i32' else 'f32'}>"),
        },
    ).result


def _moved(pointer: ir.Value, nbytes: int) -> ir.Value:
    byte = ir.TypeAttr.get(ir.IntegerType.get_signless(8))
    where = ir.DenseI32ArrayAttr.get([nbytes])
    return llvm.GEPOp(pointer.type, pointer, [], where, byte, None).result
