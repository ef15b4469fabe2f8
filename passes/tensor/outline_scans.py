"""Loops from column to column become kernels, whose work-items go along a row each and carry numbers.

Comes in: a loop such as that of `cumsum` along the last axis. Goes out: a launch. Read next: `scans`, which finds such
loops, `outline_launches`, which makes functions of launches, and `vectorize.ordered`, which takes several rows at a
time.

Why: a column's elements lie far apart, so each iteration reads a cache line for each element, and what is carried goes
through memory. A work-item walks along memory, and carries numbers in registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func, memref, scf, tensor

from pykern.dialect import attributes as kern
from pykern.dialect.index_space import GlobalIdOp
from pykern.dialect.launch import LaunchOp
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone, clone_block, terminator_operands
from pykern.passes.ir.structured import is_fill
from pykern.passes.ir.values import defining, free_values, has_uses, is_inside, made_by
from pykern.passes.kernels import find, identity, index_arithmetic, index_constant, programs
from pykern.passes.remarks import remark
from pykern.passes.tensor.outline_launches import OutlineLaunches, to_buffer, to_tensor
from pykern.passes.tensor.scans import READ, WRITTEN, Scan, scan_of


@dataclass(frozen=True)
class OutlineScans(Pass):
    """Let work-items run along rows where a loop goes from column to column.

    In:  programs on tensors.
    Out: loops that carry columns, and arrays of which they read and write columns, are launches of kernels with a
         work-item for each row, in functions as `kern-outline-launches` makes them. Columns are slices with one index
         along the last axis, computed element by element.
    """

    name: ClassVar[str] = "kern-outline-scans"
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)

    def run(self, module: ir.Module) -> bool:
        loops = [
            loop for program in programs(module) for loop in find(program, lambda op: op.name == "scf.for")
        ]
        scans = [scan for loop in loops if (scan := scan_of(loop)) is not None]
        for number, scan in enumerate(scans):
            remark(scan.loop, "the loop goes along rows: it runs row by row")
            _launch(module, scan, f"row_by_row.{number}")
        if scans:
            OutlineLaunches().run(module)
        return bool(scans)


def _launch(module: ir.Module, scan: Scan, symbol: str) -> None:
    """Put a launch, and what it wrote, in the loop's place."""
    loop = scan.loop
    before = list(loop.operands)[3:]
    kept = {n: v for n, v in enumerate(before) if scan.is_array[n] or has_uses(loop.results[n])}
    given = [v for v in free_values(loop, nested_only=True) if not is_inside(v, loop) and not _is_known(v)]
    given += [v for n, v in enumerate(before) if not (scan.is_array[n] or v in given or _is_known(v))]
    with ir.InsertionPoint(module.body), loop.location:
        _Kernel(scan, symbol, list(kept), given).emit()
    with ir.InsertionPoint(loop), loop.location:
        targets = [v if scan.is_array[n] else _empty(v.type) for n, v in kept.items()]
        written = [to_buffer(_buffer(target.type), target, True) for target in targets]
        read = [to_buffer(_buffer(v.type), v, False) if _is_tensor(v) else v for v in given]
        LaunchOp.create(symbol, [*written, *read], scan.rows)
        for n, buffer in zip(kept, written, strict=True):
            loop.results[n].replace_all_uses_with(to_tensor(loop.results[n].type, buffer))
    loop.erase()


@dataclass
class _Kernel:
    """A kernel that does to one row what the loop does to all: it is given arrays that it writes, and others."""

    scan: Scan
    symbol: str
    kept: list[int]
    """Places of what is carried and read behind the loop."""
    given: list[ir.Value]

    def emit(self) -> None:
        scan, loop = self.scan, self.scan.loop
        types = [_buffer(loop.results[n].type) for n in self.kept] + [_buffer(v.type) for v in self.given]
        kernel = func.FuncOp(self.symbol, ir.FunctionType.get(types, []), visibility="private")
        marks = kernel.operation.attributes
        for mark in (kern.KERNEL, kern.NOALIAS, kern.PLAIN):
            marks[mark] = ir.UnitAttr.get()
        marks[kern.NDRANGE] = ir.DenseI64ArrayAttr.get(list(scan.rows))
        marks[kern.RANK] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(scan.rows))
        arguments = list(kernel.add_entry_block().arguments)
        self.memory = dict(zip(self.kept, arguments, strict=False))
        self.known = dict(zip(self.given, arguments[len(self.kept) :], strict=True))
        with ir.InsertionPoint(kernel.body.blocks[0]):
            self.item = [GlobalIdOp.create(d) for d in range(len(scan.rows))]
            self._loop()
            func.ReturnOp([])

    def _loop(self) -> None:
        loop = self.scan.loop
        lower, upper, step, *before = loop.operands
        columns = [n for n, is_array in enumerate(self.scan.is_array) if not is_array]
        made = scf.ForOp(*map(self._number, (lower, upper, step)), [self._number(before[n]) for n in columns])
        with ir.InsertionPoint(made.body):
            self.known[loop.regions[0].blocks[0].arguments[0]] = made.induction_variable
            carried = [self.scan.carried[n] for n in columns]
            self.known.update(zip(carried, made.inner_iter_args, strict=True))
            for op in self.scan.ops:
                with op.location:
                    self._op(op)
            yielded = terminator_operands(loop.regions[0].blocks[0])
            scf.YieldOp([self._number(yielded[n]) for n in columns])
        for n, value in zip(columns, made.results, strict=True):
            if n in self.kept:
                memref.store(value, self.memory[n], self.item)

    def _op(self, op: ir.Operation) -> None:
        if op.name == READ:
            self.known[op.results[0]] = memref.load(self._array(op.operands[0]), self._place(op))
        elif op.name == WRITTEN:
            memref.store(self._number(op.operands[0]), self._array(op.operands[1]), self._place(op))
        elif op.name == "linalg.generic":
            block = op.regions[0].blocks[0]
            inside = dict(
                zip(list(block.arguments)[:-1], map(self._number, list(op.operands)[:-1]), strict=True)
            )
            inside |= {v: self._number(v) for v in free_values(op, nested_only=True)}
            (self.known[op.results[0]],) = clone_block(block, inside)
        elif op.name != "tensor.empty":
            self.known.update(zip(op.results, clone(op, self._number).results, strict=True))

    def _array(self, value: ir.Value) -> ir.Value:
        place = self.scan.array_of.get(value)
        return self.known[value] if place is None else self.memory[place]

    def _place(self, op: ir.Operation) -> list[ir.Value]:
        column = self.scan.columns[identity(op)]
        rows = [
            index_arithmetic("addi", index, index_constant(start)) if start else index
            for index, start in zip(self.item, column.starts, strict=True)
        ]
        last = column.place
        return [*rows, index_constant(last) if isinstance(last, int) else self._number(last)]

    def _number(self, value: ir.Value) -> ir.Value:
        """What this row's work-item has of a number or a column, computed where it is asked for the first time."""
        found = self.known.get(value)
        if found is not None:
            return memref.load(found, self.item) if isinstance(found.type, ir.MemRefType) else found
        constant = _constant_of(value)
        assert constant is not None, f"{value} was not given to the kernel"
        return constant.clone().results[0]


def _constant_of(value: ir.Value) -> ir.Operation | None:
    """The constant that a value is, or that a column is full of."""
    maker = defining(value)
    if maker is not None and is_fill(maker):
        value = terminator_operands(maker.regions[0].blocks[0])[0]
    return None if _is_tensor(value) else made_by(value, "arith.constant")


def _is_known(value: ir.Value) -> bool:
    """Whether the kernel makes the value itself."""
    return _constant_of(value) is not None or made_by(value, "tensor.empty") is not None


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _buffer(kind: ir.Type) -> ir.Type:
    if not isinstance(kind, ir.RankedTensorType):
        return kind
    return ir.MemRefType.get(list(ir.RankedTensorType(kind).shape), ir.RankedTensorType(kind).element_type)


def _empty(kind: ir.Type) -> ir.Value:
    return tensor.empty(list(ir.RankedTensorType(kind).shape), ir.RankedTensorType(kind).element_type)
