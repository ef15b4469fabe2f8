"""Which cells belong to one work-item alone, and so which kernels can be differentiated right.

Work-items of a launch run in any order. What one writes and another may read or write has no
derivative that is right in every order, so it is refused, at its line. In: a kernel. Out: `Sharing`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.dialect.index_space import NdrangeOp
from pykern.errors import NotDifferentiable
from pykern.passes import kernels
from pykern.passes.autodiff.kernel.linear import LinearForm, linear_form
from pykern.passes.ir.values import is_argument, made_by


@dataclass
class ArrayUses:
    """What a kernel does with one array."""

    loads: list[ir.Operation] = field(default_factory=list)
    stores: list[ir.Operation] = field(default_factory=list)
    atomics: list[ir.Operation] = field(default_factory=list)

    @property
    def all(self) -> list[ir.Operation]:
        return self.loads + self.stores + self.atomics

    @property
    def written(self) -> bool:
        return bool(self.stores or self.atomics)


class Sharing:
    """Accesses by array argument, and whether each work-item keeps to cells of its own in it."""

    def __init__(self, kernel: ir.Operation) -> None:
        self.kernel = kernel
        self.accesses: dict[ir.Value, ArrayUses] = {
            a: ArrayUses() for a in kernels.body(kernel).arguments if isinstance(a.type, ir.MemRefType)
        }
        kinds = {"memref.load": "loads", "memref.store": "stores"}
        for op in kernels.named(kernel, *kernels.MEMORY_OPERAND):
            memory = op.operands[kernels.MEMORY_OPERAND[op.name]]
            if memory in self.accesses:
                getattr(self.accesses[memory], kinds.get(op.name, "atomics")).append(op)
        self.own = {m: self._own(a.all) for m, a in self.accesses.items()}

    def refuse_races(self) -> None:
        """Raises `NotDifferentiable` where one work-item may see or undo what another wrote."""
        if kern.NOALIAS not in self.kernel.attributes:
            raise NotDifferentiable(
                "two arguments overlap, and one of them is written",
                span_of(self.kernel.location),
                "pass a copy: x.copy()",
            )
        for found in self.accesses.values():
            self._refuse_old_values(found)
        for memory, found in self.accesses.items():
            self._refuse(memory, found)

    def _refuse_old_values(self, found: ArrayUses) -> None:
        for op in found.atomics:
            if op.name == "kern.atomic_cas" or next(iter(op.results[0].uses), None) is not None:
                raise NotDifferentiable(
                    "what an atomic gives back depends on the order of the work-items",
                    span_of(op.location),
                    "compute the index of the element from that of the work-item",
                )

    def _refuse(self, memory: ir.Value, found: ArrayUses) -> None:
        if self.own[memory] or not found.written:
            return
        if found.loads:
            other = (found.stores + found.atomics)[0]
            raise NotDifferentiable(
                "this array is written in the same launch, and another work-item may have written the cell",
                span_of(found.loads[0].location),
                "read from another array, or split the kernel into two launches",
                notes=(("written here", span_of(other.location)),),
            )
        if found.stores:
            raise NotDifferentiable(
                "two work-items may store to the same cell: which of them is last is left to chance",
                span_of(found.stores[0].location),
                "index with pk.index() in each dimension, or use pk.atomic_add",
            )

    # -- cells of one work-item ----------------------------------------------------------------

    def _own(self, accesses: list[ir.Operation]) -> bool:
        """Whether a work-item's cells in the array are disjoint from those of every other."""
        if not accesses:
            return True
        static = kernels.integers(self.kernel, kern.NDRANGE)
        return all(
            (static is not None and static[d] <= 1) or self._separated(accesses, d)
            for d in range(kernels.rank(self.kernel))
        )

    def _separated(self, accesses: list[ir.Operation], dim: int) -> bool:
        """Whether work-items that differ in `dim` touch different cells."""
        first = _indices(accesses[0])
        for position in range(len(first)):
            forms = [linear_form(_indices(op)[position]) for op in accesses]
            if all(f == forms[0] for f in forms) and _moves_with(forms[0], "kern.global_id", dim):
                return True
            grouped = all(f == forms[0] for f in forms) and _moves_with(forms[0], "kern.group_id", dim)
            if grouped and self._one_of("kern.local_id", accesses, dim):
                return True
        return self._one_of("kern.global_id", accesses, dim)

    def _one_of(self, id_name: str, accesses: list[ir.Operation], dim: int) -> bool:
        """Whether every access stands under the same ``id == constant``."""
        found = [_pinned(op, id_name, dim) for op in accesses]
        return found[0] is not None and all(c == found[0] for c in found)


def _indices(op: ir.Operation) -> list[ir.Value]:
    return list(op.operands)[kernels.MEMORY_OPERAND[op.name] + 1 :]


def _moves_with(form: LinearForm, id_name: str, dim: int) -> bool:
    """Whether the index is c * id + what is the same for all work-items, c not 0."""
    moving = [leaf for leaf in form.terms if not _uniform(leaf)]
    return len(moving) == 1 and _is_id(moving[0], id_name, dim)


def _is_id(value: ir.Value, name: str, dim: int) -> bool:
    maker = made_by(value, name)
    return maker is not None and maker.opview.dim == dim


def _uniform(value: ir.Value) -> bool:
    """The same for every work-item of a launch: an argument, or a length."""
    if is_argument(value):
        around = value.owner.owner
        return isinstance(around, ir.OpView) and around.operation.name == "func.func"
    return made_by(value, "memref.dim", NdrangeOp.OPERATION_NAME, "kern.group_size") is not None


def _pinned(op: ir.Operation, id_name: str, dim: int) -> int | None:
    """The constant c of an enclosing ``if id == c``."""
    inner, parent = op, op.parent
    while parent is not None and parent.operation.name != "func.func":
        branch = parent.operation
        if branch.name == "scf.if" and inner.block == branch.regions[0].blocks[0]:
            for part in _conjuncts(branch.operands[0]):
                constant = _equals(part, id_name, dim)
                if constant is not None:
                    return constant
        inner, parent = branch, branch.parent
    return None


def _conjuncts(condition: ir.Value) -> list[ir.Value]:
    both = made_by(condition, "arith.andi")
    return [condition] if both is None else [c for operand in both.operands for c in _conjuncts(operand)]


def _equals(condition: ir.Value, id_name: str, dim: int) -> int | None:
    compared = made_by(condition, "arith.cmpi")
    if compared is None or ir.IntegerAttr(compared.attributes["predicate"]).value != 0:  # eq
        return None
    left, right = map(linear_form, compared.operands)
    difference = left - right
    if len(difference.terms) != 1:
        return None
    ((leaf, factor),) = difference.terms.items()
    if abs(factor) == 1 and _is_id(leaf, id_name, dim):
        return -difference.constant * factor
    return None
