"""What the arguments and results of a program are, said in the way bufferization reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, tensor

from pykern.dialect import attributes as kern
from pykern.errors import TargetError
from pykern.passes.framework import Pass
from pykern.passes.kernels import argument_marks, body, integers, named, programs, replace

SYMBOL_PREFIX = "program."
"""Programs get names that no library function has: a user may well call one `exp`."""


@dataclass(frozen=True)
class PrepareSignature(Pass):
    """Mark which arguments may be written, pair results with arguments, make every result a tensor.

    In:  `kern.program` functions on tensors and scalars, with `kern.updated` and `kern.donated`.
    Out: `bufferization.writable` on each tensor argument; `kern.result_arguments`: per result the
         argument whose memory it may take, or -1; scalar results are tensors of rank 0. Ops that only
         speak to differentiation are gone.
    """

    name: ClassVar[str] = "kern-prepare-signature"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "kern.stop_gradient"):
            replace(op, [op.operands[0]])
        for function in programs(module):
            symbol = ir.StringAttr(function.attributes["sym_name"]).value
            function.attributes["sym_name"] = ir.StringAttr.get(SYMBOL_PREFIX + symbol)
            _results_to_tensors(function)
            _pair(function)


def _results_to_tensors(function: ir.Operation) -> None:
    end = list(body(function).operations)[-1].operation
    with ir.InsertionPoint(end), end.location:
        for n, value in enumerate(end.operands):
            if not isinstance(value.type, ir.RankedTensorType):
                if str(value.type) == "i1":  # a bool is a byte in memory
                    value = arith.ExtUIOp(ir.IntegerType.get_signless(8), value).result
                elif isinstance(value.type, ir.IndexType):
                    value = arith.IndexCastOp(ir.IntegerType.get_signless(64), value).result
                kind = ir.RankedTensorType.get([], value.type)
                end.operands[n] = tensor.FromElementsOp(kind, [value]).result
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    results = [v.type for v in end.operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kind.inputs, results))
    if any(not ir.RankedTensorType(t).has_static_shape for t in results):
        raise TargetError("a result has a length that is not known when the program is compiled")


def _pair(function: ir.Operation) -> None:
    arguments = list(body(function).arguments)
    end = list(body(function).operations)[-1].operation
    kinds = [v.type for v in end.operands]
    updated = list(integers(function, kern.UPDATED) or ())
    free = [n for n in integers(function, kern.DONATED) or () if n not in updated]
    pairs = [-1] * len(kinds)
    for n, argument in enumerate(reversed(updated), 1):
        pairs[len(kinds) - n] = argument
    for n in range(len(kinds) - len(updated)):
        fitting = [a for a in free if arguments[a].type == kinds[n]]
        if fitting:
            pairs[n] = fitting[0]
            free.remove(fitting[0])
    function.attributes[kern.RESULT_ARGUMENTS] = ir.DenseI64ArrayAttr.get(pairs)
    writable = {*updated, *(integers(function, kern.DONATED) or ())}
    marks = []
    for n, (argument, given) in enumerate(zip(arguments, argument_marks(function), strict=True)):
        attributes = {a.name: a.attr for a in given}
        if isinstance(argument.type, ir.RankedTensorType):
            attributes["bufferization.writable"] = ir.BoolAttr.get(n in writable)
        marks.append(ir.DictAttr.get(attributes))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
