"""The smallest tile of a contraction: its sums stay in vector registers while the terms go by.

Comes in: a linalg.generic marked `kern.tile`, of known lengths, as the transform script left it. Goes out:
vector loads, broadcasts, fused multiply-adds; loops over terms, unrolled as the schedule says.

The mark names dimensions and operands of the op:

    kern.tile = {row = 2, lane = 3, unroll = 4, width = 8, first = 3, start = 2}

`row` and `lane` are dimensions (-1: none), `width` the elements of a vector. Where operand `first` (i1; -1: always)
is true the sums start from operand `start` (a scalar; -1: never) rather than from memory; the body says the same.
A second output is computed from the finished sum (see `epilogue`), and stored where operand `last` is true.
"""

from __future__ import annotations

from contextlib import nullcontext

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.caches import LINE_BYTES
from pykern.passes.codegen.cpu.contraction.edges import cut_of
from pykern.passes.codegen.cpu.contraction.epilogue import Epilogue
from pykern.passes.codegen.cpu.contraction.needed import is_reached
from pykern.passes.codegen.cpu.contraction.product import width
from pykern.passes.codegen.cpu.contraction.views import Elements, elements
from pykern.passes.ir.affine import Access, access_of
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number, as_value, plus
from pykern.passes.ir.loops import Counted, When, leave_alone
from pykern.passes.ir.memory import outputs_of
from pykern.passes.ir.structured import indexing_maps, loop_lengths, reduction_loops
from pykern.passes.ir.values import arguments_behind, defining
from pykern.passes.ir.vectors import first_lanes, part
from pykern.passes.kernels import body, index_constant
from pykern.passes.vectorize.lanes import computed

Loaded = dict[tuple[int, int, int], ir.Value]
"""The values that a step has loaded: by factor, row and lane."""


def factors_of(op: ir.Operation) -> list[tuple[ir.Value, list[int]]]:
    """What is multiplied in the body, left and right, and the operands each is made of."""
    block = body(op)
    total = list(block.operations)[-1].operation.operands[0].owner.operation
    if total.name == "arith.select":
        total = total.operands[1].owner.operation
    product = total.operands[1].owner.operation
    found = []
    for value in product.operands:
        leaves = arguments_behind(value)
        found.append((value, [n for n, a in enumerate(block.arguments) if a in leaves]))
    return found


def mark(**numbers: int) -> ir.Attribute:
    """The attribute of a register tile."""
    i64 = ir.IntegerType.get_signless(64)
    return ir.DictAttr.get({name: ir.IntegerAttr.get(i64, value) for name, value in numbers.items()})


class Tile:
    """One op in the making."""

    def __init__(self, op: ir.Operation) -> None:
        self.op = op
        marks = ir.DictAttr(op.attributes[kern.TILE])
        self.marks = {named.name: ir.IntegerAttr(named.attr).value for named in marks}
        self.lengths = loop_lengths(op)
        accesses = [access_of(m) for m in indexing_maps(op)]
        assert all(a is not None for a in accesses)
        self.accesses: list[Access] = [a for a in accesses if a is not None]
        self.terms = [d for d, is_term in enumerate(reduction_loops(op)) if is_term]
        self.row, self.lane = self.marks["row"], self.marks["lane"]
        self.inputs = len(op.operands) - outputs_of(op)
        out = op.operands[self.inputs]
        self.element = ir.MemRefType(out.type).element_type
        self.width = self.marks["width"]
        self.rows = self.lengths[self.row] if self.row >= 0 else 1
        lanes = self.lengths[self.lane] if self.lane >= 0 else 1
        self.vectors = [(v, min(self.width, lanes - v)) for v in range(0, lanes, self.width)]
        self.kind = ir.VectorType.get([self.width], self.element)
        self.factors = factors_of(op)
        clip = self.marks.get("clip", 0)
        self.cut = cut_of(op, clip, self.rows, lanes) if clip else None
        self.elements = self._elements()
        self.reached: dict[int, Number] = {}
        """The element that the loop over terms has reached, of each operand it goes through."""

    def _elements(self) -> list[Elements | None]:
        found = zip(self.op.operands, self.accesses, strict=True)
        return [elements(v, a) if isinstance(v.type, ir.MemRefType) else None for v, a in found]

    def emit(self) -> None:
        if self.cut is not None:
            self._whole()
            return
        reached = is_reached(self.op, self.lengths)
        with nullcontext() if reached is None else When(reached):
            self._whole()

    def _whole(self) -> None:
        self._prefetch()
        epilogue = Epilogue(self)
        epilogue.finish(self._sums(epilogue.begin()))

    def _prefetch(self) -> None:
        """Lines of the result are asked for before the terms go by: they are added to at the end."""
        if not self.marks.get("prefetch", 0):
            return
        whole = None if self.cut is None else self.cut.whole
        with (
            nullcontext() if whole is None else When(whole),
            Counted(index_constant(0), index_constant(self.rows), 1, alone=True) as r,
        ):
            lanes, line = self.lengths[self.lane], LINE_BYTES * 8 // width(self.element)
            for lane in (*range(0, lanes - 1, line), lanes - 1):  # lines of memory begin anywhere
                memref.PrefetchOp(*self.place(self.inputs, r, lane, {}), False, 3, True)

    def _sums(self, begin: list[ir.Value]) -> list[ir.Value]:
        """The sums over all terms, row by row."""
        return self._over(self.terms, {}, begin)

    # -- terms -------------------------------------------------------------------------------

    def _over(self, terms: list[int], at: dict[int, Number], sums: list[ir.Value]) -> list[ir.Value]:
        """Loops over the dimensions that are summed; those of one iteration are none."""
        if not terms:
            return self._step(at, sums)
        term, rest = terms[0], terms[1:]
        length = self.lengths[term]
        cut = None if self.cut is None else self.cut.terms
        unroll = self.marks["unroll"] if not rest and cut is None else 1
        if length <= unroll:
            for t in range(length):
                sums = self._over(rest, {**at, term: t}, sums)
            return sums
        whole = length - length % unroll
        bound = index_constant(whole) if cut is None else cut
        steps = {} if rest else self._steps(term)
        begin = [
            as_value(each.place(at))
            for n, each in enumerate(self.elements)
            if each is not None and n in steps
        ]
        loop = scf.ForOp(index_constant(0), bound, index_constant(unroll), [*sums, *begin])
        leave_alone(loop.operation)
        with ir.InsertionPoint(loop.body):
            arguments = list(loop.inner_iter_args)
            held, reached = arguments[: len(sums)], arguments[len(sums) :]
            for t in range(unroll):
                self.reached = {
                    n: plus(at_n, t * step) for (n, step), at_n in zip(steps.items(), reached, strict=True)
                }
                held = self._over(rest, {**at, term: plus(loop.induction_variable, t)}, held)
            self.reached = {}
            ends = [plus(at_n, unroll * step) for step, at_n in zip(steps.values(), reached, strict=True)]
            scf.YieldOp([*held, *map(as_value, ends)])
        sums = list(loop.results)[: len(sums)]
        for t in range(whole, length):
            sums = self._over(rest, {**at, term: t}, sums)
        return sums

    def _steps(self, term: int) -> dict[int, int]:
        """Operands of the factors that a loop over terms goes through, and elements from one term to the next."""
        sources = sorted({n for _, each in self.factors for n in each})
        steps = {n: each.steps.get(term, 0) for n in sources if (each := self.elements[n]) is not None}
        return {n: step for n, step in steps.items() if step}

    def _step(
        self, at: dict[int, Number], sums: list[ir.Value], loaded: Loaded | None = None
    ) -> list[ir.Value]:
        """One term: what both factors hold there, multiplied and added. `loaded` is what was read of them."""
        loaded = {} if loaded is None else loaded
        made = list(sums)
        if (
            self.row not in self.accesses[1].dimensions
        ):  # lines of the right factor first, one row after the other
            for lane, count in self.vectors:
                self._factor(1, 0, lane, count, at, loaded)
        for r in range(self.rows):
            for v, (lane, count) in enumerate(self.vectors):
                a = self._factor(0, r, lane, count, at, loaded)
                b = self._factor(1, r, lane, count, at, loaded)
                n = r * len(self.vectors) + v
                made[n] = self._multiply_add(a, b, made[n])
        return made

    def _multiply_add(self, a: ir.Value, b: ir.Value, held: ir.Value) -> ir.Value:
        if isinstance(self.element, ir.FloatType):
            return vector.FMAOp(a, b, held).result
        return arith.AddIOp(arith.MulIOp(a, b).result, held).result

    def _factor(
        self, operand: int, row: int, lane: int, count: int, at: dict[int, Number], loaded: Loaded
    ) -> ir.Value:
        """A factor's elements, converted; one of them broadcast where it is the same along the lanes."""
        value, sources = self.factors[operand]
        dimensions = {d for n in sources for d in self.accesses[n].dimensions}
        has_row, has_lane = self.row in dimensions, self.lane in dimensions
        key = (operand, row if has_row else -1, lane if has_lane else -1)
        if key not in loaded:
            arguments = body(self.op).arguments
            known = {arguments[n]: self.read(n, row, lane, count, at) for n in sources}
            loaded[key] = computed(value, known, self.width)
        return loaded[key]

    # -- memory ------------------------------------------------------------------------------

    def place(
        self, operand: int, row: Number, lane: int, at: dict[int, Number]
    ) -> tuple[ir.Value, list[ir.Value]]:
        """Memory of an operand, and the indices of an element in it."""
        memory, values = self.elements[operand], {self.row: row, self.lane: lane}
        if memory is None:
            return self.op.operands[operand], self.accesses[operand].place({**at, **values})
        if operand in self.reached:
            return memory.view, [as_value(memory.place(values, self.reached[operand]))]
        return memory.view, [as_value(memory.place({**at, **values}))]

    def read(self, operand: int, row: Number, lane: int, count: int, at: dict[int, Number]) -> ir.Value:
        """Elements of an operand: a vector along the lanes, padded beyond the last; or one element."""
        value = self.op.operands[operand]
        if not isinstance(value.type, ir.MemRefType):
            return value
        memory, place = self.place(operand, row, lane, at)
        if self.lane not in self.accesses[operand].dimensions:
            return memref.LoadOp(memory, place).result
        kind = ir.VectorType.get([self.width], ir.MemRefType(value.type).element_type)
        if count == self.width:
            return vector.LoadOp(kind, memory, place).result
        mask = first_lanes(count, self.width)
        return vector.MaskedLoadOp(kind, memory, place, mask, constant(kind, 0)).result

    def write(self, operand: int, row: Number, lane: int, count: int, value: ir.Value) -> None:
        """A vector into an output: beyond the last element nothing is written.

        Cut into powers of two, which every machine stores as they are; masked stores are slow on some.
        """
        done = 0
        while done < count:
            size = 1 << (min(self.width, count - done).bit_length() - 1)
            piece = value if size == self.width else part(value, done, size)
            vector.StoreOp(piece, *self.place(operand, row, lane + done, {}))
            done += size

    # -- what a tile is finished with -----------------------------------------------------------

    def start(self, operand: int) -> ir.Value | None:
        """What sums start from, as a vector; None for zero."""
        value = self.op.operands[operand]
        maker = defining(value)
        if maker is not None and maker.name == "arith.constant":
            number = maker.attributes["value"]
            if isinstance(number, ir.FloatAttr | ir.IntegerAttr) and number.value == 0:
                return None
        return vector.BroadcastOp(self.kind, value).result
