"""Work-items of one group, run op by op all at once: what a pass made of collectives, in numbers.

Comes in: a kernel of straight code and branches without results, after the pass. Goes out: what each
work-item stored. Lanes that the group does not have hold rubbish.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mlir import ir

from pykern.passes import kernels

_TYPES = {"index": np.int64, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_,
          "f64": np.float64, "f32": np.float32, "f16": np.float16}  # fmt: skip
_BINARY = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "remui": np.remainder, "divui": np.floor_divide,
    "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor, "shli": np.left_shift,
    "addf": np.add, "mulf": np.multiply, "minimumf": np.minimum, "maximumf": np.maximum,
    "minsi": np.minimum, "maxsi": np.maximum,
}  # fmt: skip
_COMPARE = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal] + [
    np.less, np.less_equal, np.greater, np.greater_equal,
]  # fmt: skip
"""By the number of the predicate; nothing negative is compared unsigned here."""
_UNSIGNED = {4: np.uint32, 8: np.uint64, 2: np.uint16, 1: np.uint8}


class Group:
    """`total` work-items in subgroups of `width`; `arguments` are arrays, changed in place."""

    def __init__(self, kernel: ir.Operation, total: int, width: int, *arguments: np.ndarray) -> None:
        self.total, self.width = total, width
        self.lanes = -(-total // width) * width
        self.values: dict[ir.Value, Any] = {}
        block = kernels.body(kernel)
        self.values |= dict(zip(block.arguments, arguments, strict=True))
        self._block(block, np.arange(self.lanes) < total)

    def _block(self, block: ir.Block, active: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            for op in block.operations:
                self._op(op.operation, active)

    def _op(self, op: ir.Operation, active: np.ndarray) -> None:
        dialect, _, name = op.name.partition(".")
        given = [self.values[v] for v in op.operands]
        if dialect == "arith":
            self.values[op.results[0]] = self._arith(op, name, given)
        elif op.name == "gpu.thread_id":
            along_x = str(op.attributes["dimension"]) == "#gpu<dim x>"
            self.values[op.results[0]] = np.arange(self.lanes) * along_x
        elif op.name == "kern.shared":
            kind = ir.MemRefType(op.result.type)
            self.values[op.result] = np.full(kind.shape, 77, _TYPES[str(kind.element_type)])
        elif op.name == "gpu.shuffle":
            self.values[op.results[0]] = self._shuffle(str(op.attributes["mode"]), *given[:2])
        elif op.name == "memref.load":
            at = np.where(active, given[1], 0)
            assert (at < len(given[0])).all()
            self.values[op.result] = given[0][at]
        elif op.name == "memref.store":
            assert (given[2][active] < len(given[1])).all()
            given[1][given[2][active]] = given[0][active]
        elif op.name == "scf.if":
            self._block(op.regions[0].blocks[0], active & given[0])
        else:
            assert op.name in ("gpu.barrier", "scf.yield", "func.return"), op.name

    def _arith(self, op: ir.Operation, name: str, given: list[np.ndarray]) -> np.ndarray:
        kind = _TYPES[str(op.results[0].type)]
        if name == "constant":
            attribute = op.attributes["value"]
            number = (ir.FloatAttr if "f" in str(op.results[0].type) else ir.IntegerAttr)(attribute).value
            return np.full(self.lanes, number, kind)
        if name == "cmpi":
            return _COMPARE[ir.IntegerAttr(op.attributes["predicate"]).value](*given)
        if name == "select":
            return np.where(*given)
        if name == "bitcast":
            return given[0].view(kind)
        if name in ("extui", "shrui"):
            unsigned = given[0].view(_UNSIGNED[given[0].itemsize])
            return (
                unsigned.astype(kind) if name == "extui" else unsigned >> given[1].view(unsigned.dtype)
            ).view(kind)
        if name in ("index_cast", "trunci"):
            return given[0].astype(kind)
        return _BINARY[name](*given).astype(kind)

    def _shuffle(self, mode: str, value: np.ndarray, amount: np.ndarray) -> np.ndarray:
        lane = np.arange(self.lanes)
        base, inner = lane // self.width * self.width, lane % self.width
        word = mode.split()[1].rstrip(">")
        source = {"xor": inner ^ amount, "up": inner - amount, "down": inner + amount, "idx": amount}[word]
        rubbish = np.where(lane % 2 == 0, -1717986919, 2**30 + lane).astype(value.dtype)
        there = (source >= 0) & (source < self.width) & (base + source < self.total)
        return np.where(there, value[np.where(there, base + source, 0)], rubbish)
