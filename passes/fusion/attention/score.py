"""What a program does with the product of a query and a key, as a function of scalars.

Comes in: an `Attention`. Goes out: a `func.func` that takes the product, what else is read for it, and the indices; and
the operands to be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, func

from pykern.passes.fusion.attention.pattern import Attention
from pykern.passes.fusion.attention.softmax import CONVERSIONS
from pykern.passes.ir.clone import remake
from pykern.passes.ir.elements import Exprs, Operand, composed, dims, operand, within
from pykern.passes.ir.structured import is_elementwise
from pykern.passes.ir.values import defining, is_inside
from pykern.passes.kernels import body, find, identity, index_constant


@dataclass
class Score:
    """The function's arguments are the product, an index for each dimension of the scores, then `reads`."""

    attention: Attention
    reads: list[Operand] = field(default_factory=list)
    outer: list[ir.Value] = field(default_factory=list)
    """Scalars of the program."""

    def collect(self) -> bool:
        """Find what is read; False where an operand lies so that a vector of keys is no piece of memory."""
        self._visit(self.attention.top, dims(*range(self.attention.rank)))
        return all(self._is_readable(each) for each in self.reads)

    def _is_readable(self, each: Operand) -> bool:
        key = dims(self.attention.rank - 1)[0]
        return key not in each.at[:-1]

    def _visit(self, value: ir.Value, at: Exprs) -> None:
        op = defining(value)
        if op is not None and identity(op) == identity(self.attention.product):
            return
        if not isinstance(value.type, ir.RankedTensorType):
            self._need(value)
            return
        if op is None or not self._is_computed(value, at):
            if not any(r.value == value and r.at == at for r in self.reads):
                self.reads.append(Operand(value, at))
            return
        known = within(op, at)
        for inner in find(op, lambda o: True):
            for used in inner.operands:
                if not is_inside(used, op):
                    self._need(used)
        for number in range(len(op.operands) - 1):
            read = operand(op, number)
            self._visit(read.value, composed(read.at, known))

    def _need(self, value: ir.Value) -> None:
        op = defining(value)
        if (op is None or op.name != "arith.constant") and value not in self.outer:
            self.outer.append(value)

    def _is_computed(self, value: ir.Value, at: Exprs) -> bool:
        """Computed again for each score: what the product goes into, and what indices alone tell."""
        op = defining(value)
        if op is None or not is_elementwise(op, indices=True):
            return False
        is_score = at == dims(*range(self.attention.rank)) and self._has_product(value)
        return is_score or _of_indices(op)

    def _has_product(self, value: ir.Value) -> bool:
        op = defining(value)
        if op is None:
            return False
        if identity(op) == identity(self.attention.product):
            return True
        return is_elementwise(op, indices=True) and any(self._has_product(v) for v in list(op.operands)[:-1])

    def make(self, name: str) -> func.FuncOp:
        """The function, at the insertion point."""
        element = self.attention.element
        kinds = [ir.RankedTensorType(r.value.type).element_type for r in self.reads]
        outer = [v.type for v in self.outer]
        inputs = [element, *[ir.IndexType.get()] * self.attention.rank, *kinds, *outer]
        made = func.FuncOp(name, ir.FunctionType.get(inputs, [element]), visibility="private")
        with ir.InsertionPoint(made.add_entry_block()):
            arguments = list(made.arguments)
            self.product, self.indices = arguments[0], arguments[1 : 1 + self.attention.rank]
            after = 1 + self.attention.rank
            self.given = [self._wide(v) for v in arguments[after : after + len(kinds)]]
            self.scalars = dict(zip(self.outer, arguments[after + len(kinds) :], strict=True))
            func.ReturnOp([self._value(self.attention.top, dims(*range(self.attention.rank)))])
        return made

    def _value(self, value: ir.Value, at: Exprs) -> ir.Value:
        op = defining(value)
        if op is not None and identity(op) == identity(self.attention.product):
            return self.product
        if not isinstance(value.type, ir.RankedTensorType):
            return self._scalar(value)
        for read, argument in zip(self.reads, self.given, strict=True):
            if read.value == value and read.at == at:
                return argument
        assert op is not None
        known = within(op, at)
        values: dict[ir.Value, ir.Value] = {}
        for number, argument in enumerate(list(body(op).arguments)[:-1]):
            if list(argument.uses):
                read = operand(op, number)
                values[argument] = self._value(read.value, composed(read.at, known))
        *inside, end = [o.operation for o in body(op).operations]
        for each in inside:
            values[each.results[0]] = self._remade(each, values, known)
        result = end.operands[0]
        return self._wide(values[result] if result in values else self._scalar(result))

    def _remade(
        self, op: ir.Operation, values: dict[ir.Value, ir.Value], known: dict[int, ir.AffineExpr]
    ) -> ir.Value:
        if op.name == "linalg.index":
            expression = known[ir.IntegerAttr(op.attributes["dim"]).value]
            if isinstance(expression, ir.AffineDimExpr):
                return self.indices[expression.position]
            return index_constant(ir.AffineConstantExpr(expression).value)
        operands = [self._wide(values[v] if v in values else self._scalar(v)) for v in op.operands]
        kind, wide = op.results[0].type, self.attention.element
        if op.name in CONVERSIONS and all(t == wide or _is_narrow(t) for t in (op.operands[0].type, kind)):
            return operands[0]
        return remake(op, operands, [self.attention.element if _is_narrow(kind) else kind]).result

    def _wide(self, value: ir.Value) -> ir.Value:
        """f16 and bf16 are computed in the type of the sums."""
        if not _is_narrow(value.type):
            return value
        return arith.ExtFOp(self.attention.element, value).result

    def _scalar(self, value: ir.Value) -> ir.Value:
        if value in self.scalars:
            return self.scalars[value]
        op = defining(value)
        assert op is not None
        return op.clone().results[0]  # a constant


def _is_narrow(kind: ir.Type) -> bool:
    return isinstance(kind, ir.F16Type | ir.BF16Type)


def _of_indices(op: ir.Operation) -> bool:
    """Whether nothing is read for the op's result, and little computed."""
    tensors = [v for v in list(op.operands)[:-1] if isinstance(v.type, ir.RankedTensorType)]
    makers = [defining(v) for v in tensors]
    return all(m is not None and is_elementwise(m, indices=True) and _of_indices(m) for m in makers)
