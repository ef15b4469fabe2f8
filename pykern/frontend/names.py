"""Constants, names and attributes: what a word in a kernel means.

Comes in: `ast.Constant`, `ast.Name`, `ast.Attribute`. Goes out: the value that a local name, a captured one
or an attribute of an array or a struct stands for; a name without one is an error that says why.
"""

from __future__ import annotations

import ast
import builtins
from difflib import get_close_matches

from mlir import ir
from mlir.dialects import arith, memref

from pykern.data.elsewhere import FORMULAS, FRAMEWORKS, RANDOM, instead_of_elsewhere
from pykern.data.operator_functions import OF_ROWS
from pykern.data.scopes import dotted
from pykern.errors import (
    CAPTURED,
    CHANGED_KIND,
    NO_VALUE,
    UNDEFINED_NAME,
    KernelSyntaxError,
    KernelTypeError,
)
from pykern.frontend import arithmetic, complex_elements, row_reductions
from pykern.frontend.advice import METHODS, instead_of
from pykern.frontend.casts import zero
from pykern.frontend.complex_elements import ComplexArray
from pykern.frontend.complex_numbers import constant_pair
from pykern.frontend.mathematics import NAMES
from pykern.frontend.rows import Row
from pykern.frontend.slices import transposed
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
from pykern.types import by_numpy_name, weak_int


class Names(Translation):
    """The part of a translator that looks names up."""

    def of_Constant(self, node: ast.Constant) -> Value:  # noqa: N802
        if isinstance(node.value, str):
            return Text(node.value)
        if node.value is None:
            return NoneValue()
        if isinstance(node.value, complex):
            return constant_pair(node.value)
        with self.operands_of(node):
            return arithmetic.python_constant(node.value)

    def of_Name(self, node: ast.Name) -> Value:  # noqa: N802
        value = self.names.get(node.id)
        if value is None:
            value = self.frame.environment.captures.get(node.id)
        if value is None and (place := self.place_of(node.id, self.frame.function.node.body)) is not None:
            raise KernelSyntaxError(
                f"`{node.id}` is read before it gets a value", self.span(node),
                self.instead_of_unassigned(node.id),
                ((f"`{node.id}` gets a value only here", place), *self.call_notes()), NO_VALUE,
            )  # fmt: skip
        if value is None:
            raise self.syntax_error(node, f"the name `{node.id}` is not defined",
                                    self.instead_of_name(node.id), UNDEFINED_NAME)  # fmt: skip
        if isinstance(value, Undefined):
            notes = ((f"`{node.id}` gets a value only here", value.where),) if value.where else ()
            error = KernelSyntaxError(
                f"`{node.id}` has no value on some paths that lead here", self.span(node),
                f"give `{node.id}` a value before the branch or the loop", (*notes, *self.call_notes()), NO_VALUE,
            )  # fmt: skip
            error.parameters = value.parameters
            raise error
        if isinstance(value, UnsupportedValue):
            raise self.unsupported(node, node.id, value)
        return value

    def unsupported(self, node: ast.expr, name: str, value: UnsupportedValue) -> KernelTypeError:
        """An object that kernels have no use for; what to pass instead depends on its kind."""
        if value.places:
            return self.type_error(node, f"`{name}` is {value.description}", instead_of(value.description),
                                   CHANGED_KIND, value.places)  # fmt: skip
        if value.description.endswith("which calls itself"):
            return self.type_error(node, f"`{name}` calls itself: {self.PLACE} have no recursion",
                                   instead_of(value.description), CAPTURED)  # fmt: skip
        reason = f"`{name}` is {value.description}, which {self.PLACE} cannot use"
        return self.type_error(node, reason, self.instead(value.description, name), CAPTURED)

    def instead(self, description: str, name: str) -> str:
        """What to write for an object that cannot be used here."""
        return instead_of(description, name)

    def known_functions(self) -> list[str]:
        """The names of ``pk.`` that mean something here."""
        from pykern.frontend.language_ops import known_names  # it is made of this class

        return known_names()

    def instead_of_unassigned(self, name: str) -> str:
        """A name that is read above its first assignment."""
        return f"give `{name}` a value before the branch or the loop"

    def instead_of_name(self, name: str) -> str:
        """A name that is like it, or how it would be defined."""
        known = [n for n in (*self.names, *self.frame.environment.captures) if not n.startswith(".")]
        near = get_close_matches(name, known, 1)
        if near:
            return f"did you mean `{near[0]}`?"
        if (dtype := by_numpy_name(name)) is not None:
            return f"write pk.{dtype.name}"
        if (instead := instead_of_elsewhere(f".{name}")) is not None:
            return instead
        return "give it a value before, or define it where the kernel is decorated"

    def of_Attribute(self, node: ast.Attribute) -> Value:  # noqa: N802
        path = dotted(node)
        if path is not None and path.split(".")[0] not in self.names:
            value = self.frame.environment.captures.get(path)
            if isinstance(value, UnsupportedValue):
                raise self.unsupported(node, path, value)
            if value is not None:
                return value
            self.refuse_unknown(node)
            self.refuse_undefined(node, path)
        value = self.expression(node.value)
        if isinstance(value, ComplexArray):
            return complex_elements.attribute(self, node, value)  # type: ignore[arg-type]
        if isinstance(value, Array | Row):
            return self.array_attribute(node, value)
        if isinstance(value, Scalar) and node.attr in ("real", "imag"):
            return value if node.attr == "real" else zero(value.dtype)
        if isinstance(value, TupleValue) and node.attr in value.fields:
            return value.items[value.fields.index(node.attr)]
        hint = METHODS.get(node.attr, "there are those of arrays, as x.shape, and the fields of structs")
        raise self.type_error(node, f"{describe(value)} has no attribute `{node.attr}` in {self.PLACE}", hint)

    def refuse_unknown(self, node: ast.Attribute) -> None:
        """``pk.sqroot``: the module has nothing of this name."""
        owner = dotted(node.value)
        module = self.frame.environment.captures.get(owner) if owner else None
        if not isinstance(module, UnsupportedValue) or not module.description.startswith("the module"):
            return
        top = module.description.split("`")[1]
        hint = f"`{top}` has no such name"
        if top in ("pykern", "numpy", "math"):
            hint = (
                self.instead_of_missing(f"{owner}.{node.attr}")
                or self._like(node.attr, str(owner), top)
                or hint
            )
        raise self.syntax_error(node, f"`{owner}.{node.attr}` is not defined", hint, UNDEFINED_NAME)

    def refuse_undefined(self, node: ast.Attribute, path: str) -> None:
        """``tl.load``, ``cuda.grid``: of a module that was not imported, and is not needed."""
        root = path.partition(".")[0]
        known = root in self.names or root in self.frame.environment.captures
        hint = None
        if not known and not self.place_of(root, self.frame.function.node.body):
            hint = self.instead_of_foreign(path)
        if hint is not None:
            raise self.syntax_error(node, f"the name `{root}` is not defined", hint, UNDEFINED_NAME)

    def instead_of_foreign(self, path: str) -> str | None:
        """What to write for a name of another library, ``jnp.sin``, or of a module that nobody knows."""
        root, _, name = path.partition(".")
        name = name.rpartition(".")[2]
        if (instead := instead_of_elsewhere(path)) is not None or root not in FRAMEWORKS:
            return instead
        return (
            f"write pk.{name}"
            if name in self.known_functions()
            else self.instead("a function of a library", path)
        )

    def _like(self, name: str, owner: str, top: str) -> str | None:
        """A name of the module that is like it; a type by NumPy's name; what Python itself calls so."""
        known = self.known_functions()
        dtype = by_numpy_name(name) if top == "pykern" else None
        if dtype is not None:
            return f"did you mean `{owner}.{dtype.name}{'_' * hasattr(builtins, dtype.name)}`?"
        if name in known and hasattr(builtins, name):
            return f"it is Python's own: write `{name}`"
        if top == "pykern" and name in FORMULAS:
            return FORMULAS[name]
        near = get_close_matches(name, [n for n in known if n in NAMES or not hasattr(builtins, n)], 1)
        return f"did you mean `{owner}.{near[0]}`?" if near else None

    def instead_of_missing(self, path: str) -> str | None:
        """What to write for a name that stands elsewhere for what is often wanted."""
        if ".random" in path:
            return RANDOM
        return instead_of_elsewhere(path)

    def array_attribute(self, node: ast.Attribute, array: Array | Row) -> Value:
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
        if node.attr == "T" and array.shape:
            return transposed(self, node, array)  # type: ignore[arg-type]
        if node.attr in (*OF_ROWS, *row_reductions.METHODS) and array.shape:
            return row_reductions.RowMethod(array, node.attr)
        hint = METHODS.get(node.attr, "there are shape, dtype, ndim, size")
        raise self.type_error(node, f"an array has no attribute `{node.attr}` in kernels", hint)

    def length(self, array: Array | Row, dimension: int) -> Scalar:
        if isinstance(array, Row):
            return array.shape[dimension]
        known = array.shape[dimension]
        if known is not None:
            return Scalar(weak_int, const=known)
        index = arith.ConstantOp(ir.IndexType.get(), len(array.outer) + dimension).result
        return Scalar(weak_int, memref.DimOp(array.ssa, index).result)
