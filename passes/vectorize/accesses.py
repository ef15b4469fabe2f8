"""What an innermost loop loads and stores, and whether W of its iterations may run as one.

Comes in: an scf.for of step 1. Goes out: `LoopAccesses`, or None where the loop stays scalar.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.ir.index_arithmetic import Affine, affine_of, hoist
from pykern.passes.ir.memory import RESHAPES
from pykern.passes.ir.values import has_uses, is_argument, is_inside, made_by
from pykern.passes.kernels import find

_FLOATS = (ir.F32Type, ir.F64Type)
_INTEGERS = (8, 16, 32, 64)
_UNARY = "absf absi ceil floor rint round roundeven sqrt trunc"
# elementary functions become arithmetic on vectors too; not those that leave some arguments to the C library
_NAMES = "exp exp2 expm1 log log2 log10 log1p powf tanh sinh cosh erf rsqrt atan asinh acosh atanh cbrt"
ELEMENTARY = {f"math.{name}" for name in _NAMES.split()}
_ELEMENTWISE_MATH = {f"math.{name}" for name in f"{_UNARY} copysign fma".split()} | ELEMENTARY

_QUESTIONS = {"memref.dim", "memref.extract_strided_metadata", "memref.extract_aligned_pointer_as_index"}


@dataclass(frozen=True)
class LoopAccess:
    """One memref.load or memref.store. `column` is its last index where that walks along memory."""

    op: ir.Operation
    memory: ir.Value
    indices: tuple[ir.Value, ...]
    column: Affine | None  # None: the same element in every iteration

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return ir.MemRefType(self.memory.type).element_type.width // 8

    def same_place(self, other: LoopAccess) -> bool:
        return self.column == other.column and self.indices[:-1] == other.indices[:-1]


@dataclass(frozen=True)
class LoopAccesses:
    """All accesses of a loop; `streamed` are stores to arrays of which the function only knows stores."""

    loads: tuple[LoopAccess, ...]
    stores: tuple[LoopAccess, ...]
    streamed: tuple[LoopAccess, ...]

    @property
    def arrays(self) -> list[ir.Value]:
        return list(dict.fromkeys(a.memory for a in (*self.loads, *self.stores)))


def accesses_of(loop: ir.Operation, arrays: list[ir.Value]) -> LoopAccesses | None:
    """The accesses of `loop` to `arrays` (which do not overlap), None where it cannot run as vectors."""
    loads: list[LoopAccess] = []
    stores: list[LoopAccess] = []
    for op in [o.operation for o in loop.regions[0].blocks[0].operations][:-1]:
        if op.name in ("memref.load", "memref.store"):
            found = _access(op, loop)
            if found is None or found.memory not in arrays:
                return None
            (loads if op.name == "memref.load" else stores).append(found)
        elif not has_vector_form(op):
            return None
    if any(store.column is None for store in stores) or not _independent(loads, stores):
        return None
    only_stored = {memory: is_only_stored(memory) for memory in {store.memory: None for store in stores}}
    streamed = tuple(store for store in stores if only_stored[store.memory])
    return LoopAccesses(tuple(loads), tuple(stores), streamed)


def is_only_stored(memory: ir.Value) -> bool:
    """No op reads the array, here or under another name, but for a row that waits there while arrays are small."""
    for use in memory.uses:
        op = use.owner.operation
        stored_to = op.name == "memref.store" and use.operand_number == 1
        if not stored_to and not is_question(op) and kern.KEPT_ROW not in op.attributes:
            return False
    return True


def is_question(op: ir.Operation) -> bool:
    """Whether the op asks for lengths or the place of an array, and no more."""
    return op.name in _QUESTIONS and not _gives_memory(op)


def arrays_of(function: ir.Operation) -> list[ir.Value]:
    """Arrays that do not overlap: the arguments, and scratch, which may be one of two pieces of memory. An array
    that is only seen in another shape is named by that."""
    made = find(function, lambda op: op.name in ("memref.alloca", "memref.alloc", "arith.select"))
    arrays: list[ir.Value] = [*function.regions[0].blocks[0].arguments, *(op.results[0] for op in made)]
    return [_as_seen(array) for array in arrays if isinstance(array.type, ir.MemRefType)]


def _as_seen(array: ir.Value) -> ir.Value:
    users = [use.owner.operation for use in array.uses if not is_question(use.owner.operation)]
    only = users[0] if len(users) == 1 else None
    return _as_seen(only.results[0]) if only is not None and only.name in RESHAPES else array


def argument(array: ir.Value) -> ir.Value | None:
    """What a function is given of an array, in whatever shape it is seen; None for scratch."""
    while (view := made_by(array, *RESHAPES)) is not None:
        array = view.operands[0]
    return array if is_argument(array) else None


def _gives_memory(op: ir.Operation) -> bool:
    return any(isinstance(result.type, ir.MemRefType) and has_uses(result) for result in op.results)


def _access(op: ir.Operation, loop: ir.Operation) -> LoopAccess | None:
    memory, *indices = list(op.operands)[0 if op.name == "memref.load" else 1 :]
    if is_inside(memory, loop) or not is_vector_element(ir.MemRefType(memory.type).element_type):
        return None
    if all(hoist(index, loop) for index in indices):
        return LoopAccess(op, memory, tuple(indices), None)
    *rows, last = indices
    column = affine_of(last, loop)
    if column is None or column.coefficient != 1 or not has_unit_stride(memory):
        return None
    return LoopAccess(op, memory, tuple(indices), column) if all(hoist(row, loop) for row in rows) else None


def has_unit_stride(memory: ir.Value) -> bool:
    strides, _ = ir.MemRefType(memory.type).get_strides_and_offset()
    return bool(strides) and strides[-1] == 1


def _independent(loads: list[LoopAccess], stores: list[LoopAccess]) -> bool:
    """Whether iterations do not meet: an array that is stored to has one place in each of them."""
    place = {store.memory: store for store in stores}
    return all(a.same_place(place[a.memory]) for a in (*loads, *stores) if a.memory in place)


def has_vector_form(op: ir.Operation) -> bool:
    if op.regions or len(op.results) != 1:
        return False
    kinds = [value.type for value in (*op.operands, *op.results)]
    if op.name.startswith("arith."):
        return all(is_vector_element(kind) or _is_index_or_i1(kind) for kind in kinds)
    return op.name in _ELEMENTWISE_MATH and all(is_vector_element(kind) for kind in kinds)


def is_vector_element(kind: ir.Type) -> bool:
    """Types whose vectors lie in memory and in registers as their elements do."""
    return isinstance(kind, _FLOATS) or (isinstance(kind, ir.IntegerType) and kind.width in _INTEGERS)


def _is_index_or_i1(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IndexType) or kind == ir.IntegerType.get_signless(1)
