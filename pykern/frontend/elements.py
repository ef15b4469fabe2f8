"""Elements of arrays and of tuples: subscripts, and the loads and stores they stand for.

Comes in: `ast.Subscript`. Goes out: memref.load and memref.store, with elements as memory holds them (a
bool is a byte, an fp8 its bits); a slice or an index outside of a known length is an error at its place.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from mlir import ir
from mlir.dialects import arith, memref

from pykern.errors import CHANGED_KIND, INDICES, KernelTypeError
from pykern.frontend import arithmetic, complex_elements, from_end, row_stores, rows, short_rows, slices
from pykern.frontend.casts import convert, materialise, mlir_type, to_storage
from pykern.frontend.complex_elements import ComplexArray
from pykern.frontend.names import Names
from pykern.frontend.rows import Row, View
from pykern.frontend.values import (
    Array,
    ComplexValue,
    LanguageName,
    Scalar,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.types import bool_, weak_int


class Elements(Names):
    """The part of a translator that reads and writes memory."""

    instead_of_tuple = (
        "loop over the tuple, or over pk.unroll(range(...)) with constant bounds; for any index put the values "
        "into an array and pass it"
    )

    def of_Subscript(self, node: ast.Subscript) -> Value:  # noqa: N802
        base = self.expression(node.value)
        if isinstance(base, ComplexArray):
            return complex_elements.load(self, node, base)
        if isinstance(base, ComplexValue):
            raise self.type_error(node, "a complex number is not indexed", "write z.real and z.imag")
        if isinstance(base, TupleValue):
            return self.tuple_item(node, base)
        if isinstance(base, TypeValue | LanguageName):
            return base  # an annotation such as pk.f32[:]
        if rows.is_row(base) and slices.has_slice(node.slice, len(base.shape)):
            return slices.sliced(self, node, base)
        if isinstance(base, Row):
            return self.row_item(node, base)
        array, indices = self.subscript(node, base)
        if len(indices) < len(array.outer) + len(array.shape):
            return self.part(node, array, indices)
        return self.load(node, array, indices)

    def item(self, node: ast.expr, array: rows.Rows, index: Scalar) -> Value:
        """The element or the row of `array`, which is `node`, at one place of its first dimension."""
        if isinstance(array, Row):
            return rows.item(self, node, array, index)
        indices = [*array.outer, materialise(convert(index, weak_int))]
        return self.load(node, array, indices) if len(array.shape) == 1 else self.part(node, array, indices)

    def part(self, node: ast.expr, array: Array, indices: list[ir.Value]) -> Array:
        """``x[i]`` of an array with more dimensions: a row, which is indexed as an array of its own."""
        taken = len(indices) - len(array.outer)
        if not taken:
            return array
        return replace(array, name=ast.unparse(node), shape=array.shape[taken:], outer=tuple(indices))

    def tuple_item(self, node: ast.Subscript, base: TupleValue) -> Value:
        if isinstance(node.slice, ast.Slice):
            bounds = [
                self.scalar(b) if b else None for b in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            if all(b is None or b.is_const for b in bounds):
                return TupleValue(base.items[slice(*(b.const if b else None for b in bounds))])
        index = self.scalar(node.slice)
        if not index.is_const or not isinstance(index.const, int):
            written = ast.unparse(node.slice)
            reason = f"a tuple is indexed by a constant, and `{written}` is known only when this runs"
            raise self.type_error(node.slice, reason, self.instead_of_tuple)
        if not -len(base.items) <= index.const < len(base.items):
            raise self.type_error(node, f"index {index.const} is outside of a tuple of {len(base.items)}",
                                  "its first item is t[0], its last one t[-1]")  # fmt: skip
        return base.items[index.const]

    def row_item(self, node: ast.Subscript, row: Row) -> Value:
        """``(x[i] - x[j])[k]``: an element, or with fewer indices than dimensions a row of a computed row."""
        found: Value = row
        for index in self.row_indices(node, row):
            if not isinstance(found, Row):
                raise self.type_error(node, f"{describe(row)} has fewer dimensions than indices are given",
                                      "give one index for each dimension", INDICES)  # fmt: skip
            place = self.place(node, index, found, 0)
            rows.check_index(self, found, place, found.shape[0])
            found = rows.item(self, node, found, place)
        return found

    def row_indices(self, node: ast.Subscript, row: Row) -> list[Scalar]:
        """The indices of a computed row, a tuple's one by one."""
        nodes = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        while nodes and len(nodes) <= len(row.shape) and slices.is_whole(nodes[-1]):
            nodes.pop()
        found: list[Scalar] = []
        for part in nodes:
            value = self.expression(part.value if isinstance(part, ast.Starred) else part)
            several = value.items if isinstance(value, TupleValue) else (value,)
            found += [self.as_scalar(part, v) for v in several]
        return found

    def store_part(self, target: ast.Subscript, value: Value, written: ast.expr | None) -> None:
        """``x[i] = value``: an element, a row, a slice, or a part of a short computed row."""
        base = self.expression(target.value)
        if isinstance(base, ComplexArray):
            complex_elements.store(self, target, base, value)
        elif isinstance(base, Row) and not rows.shows_memory(base):
            short_rows.put(self, target, base, value, written or target)
        elif rows.is_row(base) and slices.has_slice(target.slice, len(base.shape)):
            part = slices.sliced(self, target, base)
            assert isinstance(part, Array | View)
            row_stores.store(self, target, part, value, written)
        elif isinstance(base, View):
            self._store_in_view(target, base, value, written)
        else:
            array, indices = self.subscript(target, base)
            if len(indices) == len(array.outer) + len(array.shape):
                self.store(target, array, indices, value, written)
            else:
                row_stores.store(self, target, self.part(target, array, indices), value, written)

    def _store_in_view(
        self, target: ast.Subscript, base: View, value: Value, written: ast.expr | None
    ) -> None:
        part: Value = base
        *before, last = self.row_indices(target, base) or [None]
        for index in before:
            assert isinstance(part, View)
            part = rows.item(self, target, part, self.place(target, index, part, 0))  # type: ignore[arg-type]
        if not isinstance(part, View):
            raise self.type_error(target, f"{describe(base)} has fewer dimensions than indices are given",
                                  "give one index for each dimension", INDICES)  # fmt: skip
        if last is None:
            row_stores.store(self, target, part, value, written)
            return
        last = self.place(target, last, part, 0)
        if len(part.shape) > 1:
            row_stores.store(self, target, rows.item(self, target, part, last), value, written)  # type: ignore[arg-type]
        else:
            row_stores.put(self, target, part, (last,), value, written)

    def subscript(self, node: ast.Subscript, base: Value | None = None) -> tuple[Array, list[ir.Value]]:
        """The array and the index values of ``x[i, j]``, of the first dimensions or of all."""
        if base is None:
            base = self.expression(node.value)
        if isinstance(base, TupleValue):
            raise self.type_error(
                node,
                f"{self.called(node.value, base)} cannot be changed",
                "keep values that change in an array of the work-item's own, as in t = np.zeros(3)",
            )
        if not isinstance(base, Array):
            raise self.type_error(
                node, f"{self.called(node.value, base)} cannot be indexed", self.instead_of_index(node)
            )
        return base, [*base.outer, *self.indices(node, base)]

    @staticmethod
    def called(node: ast.expr, value: Value) -> str:
        """A value by its name, where it has one."""
        return f"`{node.id}`: {describe(value)}" if isinstance(node, ast.Name) else describe(value)

    @staticmethod
    def instead_of_index(node: ast.Subscript) -> str:
        """What to write instead of an index into what holds no elements."""
        if isinstance(node.value, ast.Subscript):
            return f"`{ast.unparse(node.value)}` is one element: it takes no further index"
        if isinstance(node.value, ast.Name):
            return f"pass an array for `{node.value.id}`, or write `{node.value.id}` without an index"
        return "only arrays and tuples hold elements"

    def indices(self, access: ast.Subscript, array: Array) -> list[ir.Value]:
        node = access.slice
        nodes = list(node.elts) if isinstance(node, ast.Tuple) else [node]
        if len(nodes) <= len(array.shape):
            while nodes and slices.is_whole(nodes[-1]):
                nodes.pop()  # x[i, :] is x[i]
        items: list[tuple[ast.expr, Value]] = []
        for item in nodes:
            if isinstance(item, ast.Slice) or (isinstance(item, ast.Constant) and item.value in (None, ...)):
                raise self.syntax_error(item, "slices are not available in a work-item kernel",
                                        self.instead_of_slice(node, array))  # fmt: skip
            if isinstance(item, ast.Starred):
                spread = self.expression(item.value)
                items += (
                    [(item, v) for v in spread.items] if isinstance(spread, TupleValue) else [(item, spread)]
                )
                continue
            value = self.expression(item)
            items += [(item, v) for v in value.items] if isinstance(value, TupleValue) else [(item, value)]
        if len(items) > len(array.shape):
            plural = "" if len(array.shape) == 1 else "s"
            raise self.type_error(node, f"{describe(array)} has {len(array.shape)} dimension{plural}, "
                                  f"and {len(items)} {'index is' if len(items) == 1 else 'indices are'} given",
                                  self.other_indices(nodes, items, array), INDICES)  # fmt: skip
        return [self.index(item, value, array, d, access) for d, (item, value) in enumerate(items)]

    @staticmethod
    def instead_of_slice(indices: ast.expr, array: Array) -> str:
        """What to write instead of a slice: an element, or a loop over those that it names."""
        parts = indices.elts if isinstance(indices, ast.Tuple) else [indices]
        if not array.shape:
            return f"an array of no dimensions has one element: {array.name if array.name.isidentifier() else 'x'}[()]"
        axis = next((n for n, part in enumerate(parts) if isinstance(part, ast.Slice)), None)
        if (
            axis is None
            or len(parts) != len(array.shape)
            or any(isinstance(part, ast.Starred) for part in parts)
        ):
            return "a work-item reads and writes single elements: x[i, j]"
        one = ", ".join("k" if isinstance(part, ast.Slice) else ast.unparse(part) for part in parts)
        name = array.name if array.name.isidentifier() else "x"
        return f"a work-item reads and writes single elements: in `for k in range({name}.shape[{axis}]):` {name}[{one}]"

    def other_indices(self, nodes: list[ast.expr], items: list, array: Array) -> str:
        """What to write: an index that is a tuple is unpacked, else there are more or fewer."""
        one = nodes[0]
        if len(nodes) == 1 and isinstance(one, ast.Name) and len(items) > 1:
            fewer = "or launch over fewer dimensions"
            return f"`{one.id}` is a tuple of {len(items)}: write {array.name}[{one.id}[0]], {fewer}"
        return f"write {array.name}[{', '.join('ijklmnpq'[: len(array.shape)]) or '()'}]"

    def index(self, node: ast.expr, value: Value, array: Array, dimension: int, access: ast.expr) -> ir.Value:
        """An index of an access as `index`; a negative constant counts from the end, as Python's does."""
        scalar = self.place(node, self.as_scalar(node, value), array, dimension)
        if scalar is not value and isinstance(value, Scalar) and value.is_const:
            from_end.note(self.frame.function.source.file, access, dimension)
        return materialise(convert(scalar, weak_int))

    def place(self, node: ast.expr, scalar: Scalar, array: rows.Rows, dimension: int) -> Scalar:
        """An index, where it is a negative constant counted from the start."""
        if not scalar.dtype.is_integer:
            advice = "use // to divide, or pk.cast(x, pk.i64) to cut off the fraction"
            raise self.type_error(
                node, f"an index must be an integer, not {describe(scalar)}", advice, INDICES
            )
        if scalar.is_const:
            known = array.shape[dimension]
            length = known.const if isinstance(known, Scalar) else known
            if length is not None and not -length <= scalar.const < length:
                raise self.type_error(node, f"index {scalar.const} is outside of dimension {dimension} of "
                                      f"{describe(array)}",
                                      f"indices are {-length} to {length - 1}", INDICES)  # fmt: skip
            if scalar.const < 0:
                return arithmetic.binary("+", self.length(array, dimension), scalar)
        return scalar

    def load(self, node: ast.AST, array: Array, indices: list[ir.Value]) -> Scalar:
        if not array.reads:
            raise self.type_error(node, f"`{array.name}` is annotated pk.Out: the kernel may not read it",
                                  "annotate it pk.InOut")  # fmt: skip
        value = memref.LoadOp(array.ssa, indices).result
        if array.dtype == bool_:
            value = arith.CmpIOp(arith.CmpIPredicate.ne, value,
                                 arith.ConstantOp(value.type, 0).result).result  # fmt: skip
        if array.dtype.is_storage:
            value = arith.ExtFOp(mlir_type(array.dtype.loaded), value).result
        return Scalar(array.dtype.loaded, value)

    def store(
        self,
        node: ast.AST,
        array: Array,
        indices: list[ir.Value],
        value: Value,
        written: ast.AST | None = None,
    ) -> None:
        """Store into the element `node`. An error of the value stands at `written`, where one expression gives it."""
        if not array.writes:
            raise self.type_error(node, f"`{array.name}` is annotated pk.In: the kernel may not write it",
                                  "annotate it pk.InOut or pk.Out")  # fmt: skip
        with self.operands_of(node):
            stored = materialise(
                arithmetic.element(self.as_scalar(written or node, value), array.dtype.loaded)
            )
        memref.StoreOp(self.in_memory(stored, array), array.ssa, indices)
        self.note_array_write(array.ssa)

    def note_array_write(self, array: ir.Value | None) -> None:
        """`array` is written, None for all. Raises `KernelTypeError` where the loop around has read a row that is
        computed from it: in the next iteration the row would have other elements than where it got its name."""
        found = self.array_writes.note(array)
        if found is not None:
            place, text = found
            raise KernelTypeError(
                f"`{text}` is computed where it is read, and the loop around writes what it is computed from", place,
                "compute it in the loop, or keep it in t = np.zeros(3, np.float32) with t[:] = ...", self.call_notes(),
                CHANGED_KIND,
            )  # fmt: skip

    def in_memory(self, value: ir.Value, array: Array) -> ir.Value:
        """An element as memory holds it."""
        if array.dtype.is_storage:
            return to_storage(value, array.dtype)
        if array.dtype != bool_:
            return value
        return arith.ExtUIOp(ir.IntegerType.get_signless(8), value).result
