"""What the lanes of a vector of work-items agree about.

In: the loop over work-items. Out: `Lanes`: each value is the same in all lanes, moves by a constant
from lane to lane (an index), or is any number; or `Scalar` is raised, with the reason for staying scalar.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes import kernels
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.values import has_uses, is_inside
from pykern.passes.kernels import find

VARIES = None
"""The form of a value that is any number in each lane; other forms are the step from lane to lane."""
Form = int | None

MEMORY_AT = {"memref.load": 0, "memref.store": 1, "kern.atomic_rmw": 1}
_WRITES = {"memref.store": 1, "kern.atomic_rmw": 1, "kern.atomic_cas": 2}
_CHEAP = {"math.absf", "math.absi", "math.ceil", "math.copysign", "math.floor", "math.fma"}
"""Functions that may be computed for a branch within a branch, seldom as it is taken: others cost 12 times as much."""
_KNOWN = {*MEMORY_AT, "memref.dim", "scf.for", "scf.if", "scf.yield", "kern.push", "kern.pop"}


class Scalar(Exception):
    """The loop stays as it is."""


class Lanes:
    """The analysis of one loop; `form` answers."""

    def __init__(self, function: ir.Operation, loop: ir.Operation) -> None:
        self.loop = loop
        self.ops = find(loop, lambda op: True)
        self.written = {op.operands[_WRITES[op.name]] for op in find(function, lambda op: op.name in _WRITES)}
        self._forms: dict[ir.Value, Form] = {loop.regions[0].blocks[0].arguments[0]: 1}
        self._pushes = {_site(op): op for op in self.ops if op.name == "kern.push"}
        for op in self.ops:
            self._refuse_unknown(op)
        changed = True
        while changed:
            before = dict(self._forms)
            for op in self.ops:
                self._visit(op)
            changed = before != self._forms
        for op in self.ops:
            self._refuse(op)

    def form(self, value: ir.Value) -> Form:
        """0 where all lanes have the same value, c where each next lane has c more, else `VARIES`."""
        return self._forms.get(value, 0)

    def is_private(self, memory: ir.Value) -> bool:
        """Memory each work-item has its own of."""
        return not isinstance(memory.owner, ir.Block) and memory.owner.operation.name == "memref.alloca"

    def indices(self, op: ir.Operation) -> list[ir.Value]:
        return list(op.operands)[MEMORY_AT[op.name] + 1 :]

    def is_contiguous(self, op: ir.Operation) -> bool:
        """Whether an access of W lanes is W neighbours in memory."""
        forms = [self.form(i) for i in self.indices(op)]
        memory = op.operands[MEMORY_AT[op.name]]
        if self.is_private(memory):
            return all(f == 0 for f in forms)  # lanes are its last dimension
        strides, _ = ir.MemRefType(memory.type).get_strides_and_offset()
        return bool(forms) and forms[-1] == 1 and all(f == 0 for f in forms[:-1]) and strides[-1] == 1

    # -- forms ---------------------------------------------------------------------------------

    def _visit(self, op: ir.Operation) -> None:
        if op.name == "scf.for":
            body = op.regions[0].blocks[0]
            carried = list(body.arguments)[1:]
            self._put(body.arguments[0], 0)
            self._join(carried, list(op.operands)[3:])
            self._join(carried, _end(body))
            self._join(op.results, carried)
        elif op.name == "scf.if":
            for region in op.regions:
                for block in region.blocks:
                    self._join(op.results, _end(block))
            if self._known(op.operands[0]) and self.form(op.operands[0]) != 0:
                for result in op.results:
                    self._put(result, VARIES)
        elif op.name == "kern.pop":
            self._join(op.results, [self._pushes[_site(op)].operands[0]])
        elif all(self._known(v) for v in op.operands):
            for result in op.results:
                self._put(result, self._result(op))

    def _result(self, op: ir.Operation) -> Form:
        forms = [self.form(v) for v in op.operands]
        if op.name == "memref.load" and self.is_private(op.operands[0]):
            return VARIES
        if not any(f != 0 for f in forms):
            return VARIES if op.name == "kern.atomic_rmw" else 0
        if VARIES in forms or not isinstance(op.results[0].type, ir.IndexType):
            return VARIES
        left, *right = (f or 0 for f in forms)
        if op.name == "arith.addi":
            return left + right[0]
        if op.name == "arith.subi":
            return left - right[0]
        if op.name == "arith.muli":
            first, second = (kernels.is_constant(v) for v in op.operands)
            factor, moving = (second, left) if second is not None else (first, right[0])
            return VARIES if factor is None else factor * moving
        return VARIES

    def _join(self, targets, sources) -> None:
        for target, source in zip(targets, sources, strict=True):
            if self._known(source):
                self._put(target, self.form(source))

    def _put(self, value: ir.Value, form: Form) -> None:
        if value in self._forms and self._forms[value] != form:
            form = VARIES
        self._forms[value] = form

    def _known(self, value: ir.Value) -> bool:
        return value in self._forms or not is_inside(value, self.loop)

    # -- what stays scalar ---------------------------------------------------------------------

    def _refuse_unknown(self, op: ir.Operation) -> None:
        if op.name not in _KNOWN and not op.name.startswith(("arith.", "math.")):
            raise Scalar(f"`{op.name}` has no form for several work-items")
        if op.name in ("kern.push", "kern.pop") and _site(op) not in self._pushes:
            raise Scalar("what is taken off the tape is not known")
        if op.name == "kern.atomic_rmw" and has_uses(op.results[0]):
            raise Scalar("the old value of an atomic is used")

    def _refuse(self, op: ir.Operation) -> None:
        for result in op.results:
            if self.form(result) != 0 and not is_lane_type(result.type):
                raise Scalar(f"{result.type} does not lie in lanes")
        if op.name == "scf.for" and any(self.form(v) != 0 for v in list(op.operands)[:3]):
            raise Scalar("work-items run a loop unequally often")
        if op.name == "scf.if" and self.form(op.operands[0]) != 0:
            self._refuse_branch(op)
        if op.name.startswith(("arith.", "math.ipowi")) and any(self.form(v) != 0 for v in op.operands):
            self._refuse_trap(op)
        if op.name in ("memref.load", "memref.store"):
            memory = op.operands[MEMORY_AT[op.name]]
            same = not any(self.form(i) != 0 for i in self.indices(op))
            if same and memory in self.written and not self.is_private(memory):
                raise Scalar("work-items share a cell that is written")
            if not is_lane_type(ir.MemRefType(memory.type).element_type) and not same:
                raise Scalar("elements do not lie in lanes")

    def _refuse_trap(self, op: ir.Operation) -> None:
        """Integer divisions trap, and no hardware has vectors of them or of powers; two results have no use here."""
        is_float = isinstance(op.results[0].type, ir.FloatType)
        if len(op.results) != 1 or not (is_float or is_speculatable(op)):
            raise Scalar(f"`{op.name}` is computed lane by lane")

    def _refuse_branch(self, op: ir.Operation) -> None:
        """Both sides of a branch are computed, so nothing in them may be noticed."""
        for inner in find(op, lambda o: o.name not in ("scf.yield", "scf.if")):
            is_math = inner.name.startswith("math.") and _is_own(inner, op)
            if inner.regions or not (is_math or inner.name in _CHEAP or is_speculatable(inner)):
                raise Scalar("work-items take different branches")


def _is_own(op: ir.Operation, outer: ir.Operation) -> bool:
    """Whether `outer` is the op right around."""
    return op.parent is not None and op.parent.operation == outer


def is_lane_type(kind: ir.Type) -> bool:
    """Numbers a vector register holds."""
    if isinstance(kind, ir.IntegerType):
        return kind.width in (1, 8, 16, 32, 64)
    return isinstance(kind, ir.F32Type | ir.F64Type | ir.IndexType)


def _site(op: ir.Operation) -> int | None:
    if "kern.site" not in op.attributes:
        return None
    return ir.IntegerAttr(op.attributes["kern.site"]).value


def _end(block: ir.Block) -> list[ir.Value]:
    return list(block.operations[len(block.operations) - 1].operation.operands)
