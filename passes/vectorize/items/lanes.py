"""What the lanes of a vector of work-items agree about.

In: the loop over work-items. Out: `Lanes`: each value is uniform, strided (an index that moves by a constant from lane
to lane) or varying; or `Scalar` is raised, with the reason for staying scalar.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.own_cells import is_apart
from pykern.passes.ir.values import has_uses, is_inside, made_by
from pykern.passes.kernels import WRITTEN_OPERAND, find, named
from pykern.passes.vectorize.items.divergent import is_unequal, refusal_of_unequal, refusal_of_while
from pykern.passes.vectorize.lanes import VARYING, Stride, stride_of

MEMORY_AT = {"memref.load": 0, "memref.store": 1, "kern.atomic_rmw": 1}
_CHEAP = {"math.absf", "math.absi", "math.ceil", "math.copysign", "math.floor", "math.fma"}
"""Functions that are cheap enough to be computed for both sides of a branch within a branch, which is seldom taken."""
_CONTROL = {"scf.for", "scf.if", "scf.while", "scf.condition", "scf.yield"}
_KNOWN = {*MEMORY_AT, *_CONTROL, "memref.dim", "kern.push", "kern.pop"}


class Scalar(Exception):
    """The loop stays as it is; `at` is the op that is the reason, if one is."""

    def __init__(self, reason: str, at: ir.Operation | None = None) -> None:
        super().__init__(reason)
        self.at = at


class Lanes:
    """The analysis of one loop; `stride` answers."""

    def __init__(self, function: ir.Operation, loop: ir.Operation) -> None:
        self.loop = loop
        self.ops = find(loop, lambda op: True)
        self.written = {op.operands[WRITTEN_OPERAND[op.name]] for op in named(function, *WRITTEN_OPERAND)}
        self._strides: dict[ir.Value, Stride] = {loop.regions[0].blocks[0].arguments[0]: 1}
        self._pushes = {_site(op): op for op in self.ops if op.name == "kern.push"}
        for op in self.ops:
            self._refuse_unknown(op)
        changed = True
        while changed:
            before = dict(self._strides)
            for op in self.ops:
                self._visit(op)
            changed = before != self._strides
        for op in self.ops:
            self._refuse(op)

    @property
    def diverges(self) -> bool:
        """Whether there are loops that lanes run unequally often: lanes without a work-item could run them for ever."""
        return any(
            op.name == "scf.while" or (op.name == "scf.for" and is_unequal(self, op)) for op in self.ops
        )

    def stride(self, value: ir.Value) -> Stride:
        """0 where all lanes have the same value, n where each next lane has n more, else `VARYING`."""
        return self._strides.get(value, 0)

    def is_private(self, memory: ir.Value) -> bool:
        """Memory each work-item has its own of."""
        return made_by(memory, "memref.alloca") is not None

    def has_masks(self, op: ir.Operation) -> bool:
        """Whether an access may leave lanes out: of neighbours in memory, if they have 32 bits or more, by a mask, and
        else lane by lane."""
        if op.name not in ("memref.load", "memref.store"):
            return False
        memory = op.operands[MEMORY_AT[op.name]]
        if self.is_private(memory) or not any(self.stride(i) != 0 for i in self.indices(op)):
            return False
        kind = ir.MemRefType(memory.type).element_type
        fits = isinstance(kind, ir.FloatType | ir.IntegerType) and kind.width in (32, 64)
        return fits or not self.is_contiguous(op)

    def indices(self, op: ir.Operation) -> list[ir.Value]:
        return list(op.operands)[MEMORY_AT[op.name] + 1 :]

    def is_contiguous(self, op: ir.Operation) -> bool:
        """Whether an access of W lanes is W neighbours in memory."""
        moves = [self.stride(i) for i in self.indices(op)]
        memory = op.operands[MEMORY_AT[op.name]]
        if self.is_private(memory):
            return all(m == 0 for m in moves)  # lanes are its last dimension
        strides, _ = ir.MemRefType(memory.type).get_strides_and_offset()
        return moves[-1:] == [1] and all(m == 0 for m in moves[:-1]) and strides[-1] == 1

    # -- strides -------------------------------------------------------------------------------

    def _visit(self, op: ir.Operation) -> None:
        if op.name == "scf.while":
            inside = [v for region in op.regions for v in region.blocks[0].arguments]
            for value in (*inside, *op.results):
                self._put(value, VARYING)
        elif op.name == "scf.for":
            body = op.regions[0].blocks[0]
            carried = list(body.arguments)[1:]
            self._put(body.arguments[0], 0)
            if is_unequal(self, op):
                for value in (*carried, *op.results):
                    self._put(value, VARYING)
            self._join(carried, list(op.operands)[3:])
            self._join(carried, _end(body))
            self._join(op.results, carried)
        elif op.name == "scf.if":
            for region in op.regions:
                for block in region.blocks:
                    self._join(op.results, _end(block))
            if self._known(op.operands[0]) and self.stride(op.operands[0]) != 0:
                for result in op.results:
                    self._put(result, VARYING)
        elif op.name == "kern.pop":
            self._join(op.results, [self._pushes[_site(op)].operands[0]])
        elif all(self._known(v) for v in op.operands):
            for result in op.results:
                self._put(result, self._result(op))

    def _result(self, op: ir.Operation) -> Stride:
        if op.name == "memref.load" and self.is_private(op.operands[0]):
            return VARYING
        strides = [self.stride(v) for v in op.operands]
        return VARYING if op.name == "kern.atomic_rmw" else stride_of(op, strides)

    def _join(self, targets, sources) -> None:
        for target, source in zip(targets, sources, strict=True):
            if self._known(source):
                self._put(target, self.stride(source))

    def _put(self, value: ir.Value, stride: Stride) -> None:
        if value in self._strides and self._strides[value] != stride:
            stride = VARYING
        self._strides[value] = stride

    def _known(self, value: ir.Value) -> bool:
        return value in self._strides or not is_inside(value, self.loop)

    # -- what stays scalar ---------------------------------------------------------------------

    def _refuse_unknown(self, op: ir.Operation) -> None:
        if op.name not in _KNOWN and not op.name.startswith(("arith.", "math.")):
            raise Scalar(f"`{op.name}` has no form for several work-items", op)
        if op.name in ("kern.push", "kern.pop") and _site(op) not in self._pushes:
            raise Scalar("what is taken off the tape is not known")
        if op.name == "kern.atomic_rmw" and has_uses(op.results[0]):
            raise Scalar("the old value of an atomic is used", op)

    def _refuse(self, op: ir.Operation) -> None:
        for result in op.results:
            if self.stride(result) != 0 and not is_lane_type(result.type):
                raise Scalar(f"{result.type} does not lie in lanes")
        if op.name == "scf.for" and is_unequal(self, op) and (reason := refusal_of_unequal(self, op)):
            raise Scalar(reason, op)
        if op.name == "scf.while" and (reason := refusal_of_while(op)):
            raise Scalar(reason, op)
        if op.name == "scf.if" and self.stride(op.operands[0]) != 0:
            self._refuse_branch(op)
        if op.name.startswith(("arith.", "math.ipowi")) and any(self.stride(v) != 0 for v in op.operands):
            self._refuse_trap(op)
        if op.name in ("memref.load", "memref.store"):
            memory = op.operands[MEMORY_AT[op.name]]
            same = not any(self.stride(i) != 0 for i in self.indices(op))
            if same and memory in self.written and not self.is_private(memory) and not self._is_kept(op):
                raise Scalar(
                    "work-items share a cell that is written; give each one of its own, or add by pk.atomic_add",
                    op,
                )
            if not is_lane_type(ir.MemRefType(memory.type).element_type) and not same:
                raise Scalar("elements do not lie in lanes")

    def _is_kept(self, op: ir.Operation) -> bool:
        """Whether an op reads what no work-item writes: of another row of an array than all that is written."""
        written = [o for o in self.ops if o.name != "memref.load" and op.operands[0] in list(o.operands)]
        return op.name == "memref.load" and all(
            o.name == "memref.store" and is_apart(self.loop, self.indices(op), self.indices(o))
            for o in written
        )

    def _refuse_trap(self, op: ir.Operation) -> None:
        """Integer divisions trap, and no hardware has vectors of them or of powers; two results have no use here."""
        is_float = isinstance(op.results[0].type, ir.FloatType)
        if len(op.results) != 1 or not (is_float or is_speculatable(op)):
            raise Scalar(f"`{op.name}` is computed lane by lane", op)

    def _refuse_branch(self, op: ir.Operation) -> None:
        """Refuse a branch with effects: both sides are computed. Lanes that do not take a side leave neighbours that
        it reads or writes out, by a mask."""
        for inner in find(op, lambda o: o.name not in ("scf.yield", "scf.if")):
            if self.has_masks(inner):
                continue
            is_math = inner.name.startswith("math.") and _is_own(inner, op)
            if inner.regions or not (is_math or inner.name in _CHEAP or is_speculatable(inner)):
                what = f"with `{inner.name}` in them"
                mend = "write a choice, `a if c else b`, or read and store outside of the branch"
                raise Scalar(f"work-items take different branches, {what}; {mend}", op)


def _is_own(op: ir.Operation, outer: ir.Operation) -> bool:
    """Whether `outer` is the op right around."""
    return op.parent is not None and op.parent.operation == outer


def is_lane_type(kind: ir.Type) -> bool:
    """Numbers a vector register holds."""
    if isinstance(kind, ir.IntegerType):
        return kind.width in (1, 8, 16, 32, 64)
    return isinstance(kind, ir.F32Type | ir.F64Type | ir.IndexType)


def _site(op: ir.Operation) -> int | None:
    if kern.SITE not in op.attributes:
        return None
    return ir.IntegerAttr(op.attributes[kern.SITE]).value


def _end(block: ir.Block) -> list[ir.Value]:
    return list(block.operations[len(block.operations) - 1].operation.operands)
