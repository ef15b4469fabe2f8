"""Constants, names and attributes: what a word in a kernel means.

Comes in: `ast.Constant`, `ast.Name`, `ast.Attribute`. Goes out: the value that a local name, a captured one
or an attribute of an array or a struct stands for; a name without one is an error that says why.
"""

from __future__ import annotations

import ast

from mlir import ir
from mlir.dialects import arith, memref

from pykern.errors import KernelSyntaxError, KernelTypeError
from pykern.frontend import arithmetic, captured
from pykern.frontend.advice import instead_of
from pykern.frontend.translation import Translation
from pykern.frontend.values import (
    Array,
    NoneValue,
    Scalar,
    Text,
    TupleValue,
    TypeValue,
    Undefined,
    UnsupportedValue,
    Value,
    describe,
)
from pykern.types import weak_int


class Names(Translation):
    """The part of a translator that looks names up."""

    def of_Constant(self, node: ast.Constant) -> Value:  # noqa: N802
        if isinstance(node.value, str):
            return Text(node.value)
        if node.value is None:
            return NoneValue()
        with self.operands_of(node):
            return arithmetic.python_constant(node.value)

    def of_Name(self, node: ast.Name) -> Value:  # noqa: N802
        value = self.names.get(node.id)
        if value is None:
            value = self.frame.environment.captures.get(node.id)
        if value is None:
            raise self.syntax_error(node, f"the name `{node.id}` is not defined",
                                    "give it a value before, or define it where the kernel is decorated")  # fmt: skip
        if isinstance(value, Undefined):
            notes = ((f"`{node.id}` gets a value here only", value.where),) if value.where else ()
            raise KernelSyntaxError(
                f"`{node.id}` has no value on some paths that lead here", self.span(node),
                f"give `{node.id}` a value before the branch or the loop", notes,
            )  # fmt: skip
        if isinstance(value, UnsupportedValue):
            raise self.unsupported(node, node.id, value)
        return value

    def unsupported(self, node: ast.expr, name: str, value: UnsupportedValue) -> KernelTypeError:
        """An object that kernels have no use for; what to pass instead depends on its kind."""
        reason = f"`{name}` is {value.description}, which {self.PLACE} cannot use"
        return self.type_error(node, reason, instead_of(value.description))

    def of_Attribute(self, node: ast.Attribute) -> Value:  # noqa: N802
        path = captured.dotted(node)
        if path is not None and path.split(".")[0] not in self.names:
            value = self.frame.environment.captures.get(path)
            if isinstance(value, UnsupportedValue):
                raise self.unsupported(node, path, value)
            if value is not None:
                return value
        value = self.expression(node.value)
        if isinstance(value, Array):
            return self.array_attribute(node, value)
        if isinstance(value, TupleValue) and node.attr in value.fields:
            return value.items[value.fields.index(node.attr)]
        raise self.type_error(node, f"{describe(value)} has no attribute `{node.attr}` in {self.PLACE}",
                              "there are those of arrays, as x.shape, and the fields of structs")  # fmt: skip

    def array_attribute(self, node: ast.Attribute, array: Array) -> Value:
        if node.attr == "shape":
            return TupleValue(tuple(self.length(array, d) for d in range(len(array.shape))))
        if node.attr == "ndim":
            return Scalar(weak_int, const=len(array.shape))
        if node.attr == "dtype":
            return TypeValue(array.dtype)
        if node.attr == "size":
            total = Scalar(weak_int, const=1)
            for d in range(len(array.shape)):
                total = arithmetic.binary("*", total, self.length(array, d))
            return total
        raise self.type_error(node, f"an array has no attribute `{node.attr}` in kernels",
                              "there are shape, dtype, ndim, size")  # fmt: skip

    def length(self, array: Array, dimension: int) -> Scalar:
        known = array.shape[dimension]
        if known is not None:
            return Scalar(weak_int, const=known)
        index = arith.ConstantOp(ir.IndexType.get(), dimension).result
        return Scalar(weak_int, memref.DimOp(array.ssa, index).result)
