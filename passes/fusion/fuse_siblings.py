"""Operations over the same elements run as one loop: memory is read once, and results stay in registers for readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.analysis.cost_model.code_size import SIBLING_OPS
from pykern.passes.analysis.cost_model.lengths import FUSED_STREAMS
from pykern.passes.framework import Pass
from pykern.passes.fusion.joined_op import join_ops
from pykern.passes.fusion.legality import Order, may_wait
from pykern.passes.ir.memory import ancestor_in, outputs_of
from pykern.passes.ir.structured import indexing_maps, loop_lengths, reduces, reduction_loops
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import find, programs
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class FuseSiblings(Pass):
    """Join linalg.generic ops over one iteration space that read an array in common, or of which one reads what the
    other one makes.

    In:  linalg.generic on tensors.
    Out: fewer of them, with several results. Ops stay apart where one needs another element of the other's
         result, or one that is summed up; where something in between writes what the first one reads; and where
         one is a product of matrices, or reads windows.
    """

    name: ClassVar[str] = "kern-fuse-siblings"

    def run(self, module: ir.Module) -> bool:
        changed = False
        for function in programs(module):
            while _fuse(function):
                changed = True
        return changed


def _fuse(function: ir.Operation) -> bool:
    """Go over all pairs once."""
    generics = find(function, lambda op: op.name == "linalg.generic")
    if len(generics) > SIBLING_OPS:
        return False
    changed = False
    order = Order()
    done: dict[tuple, list[ir.Operation]] = {}
    for op in generics:
        second, alike = op, done.setdefault(_loops(op), [])
        while first := _to_join(alike, second, order):
            remark(second, "runs in one loop with another operation over the same arrays")
            alike.remove(first)
            second = join_ops([first, second])
            order, changed = Order(), True
        alike.append(second)
    return changed


def _loops(op: ir.Operation) -> tuple:
    """The block that an operation stands in and its loops: in these, two that are joined are alike."""
    return op.block, tuple(reduction_loops(op)), tuple(loop_lengths(op))


def _to_join(alike: list[ir.Operation], second: ir.Operation, order: Order) -> ir.Operation | None:
    return next((first for first in reversed(alike) if _may_join(first, second, order)), None)


def _may_join(first: ir.Operation, second: ir.Operation, order: Order) -> bool:
    needs = _needs(first, second)
    if needs is None or not (needs or _shared(first, second)):
        return False
    if _streams(first, second) > FUSED_STREAMS:
        return False
    if reduces(first) and not (_sums_elements(first) and _sums_elements(second)):
        return False
    return may_wait(first, second, order)


def _needs(first: ir.Operation, second: ir.Operation) -> bool | None:
    """Whether the second reads results of the first one; None where they have to stay apart for that.

    They may run together where both go over elements one by one, and the same iteration reads what was made in it.
    Sums of a product and its factors are left to what computes the product (`readers`, `prologues`).
    """
    made = list(first.results)
    read = [(v, m) for v, m in zip(second.operands, indexing_maps(second), strict=True) if v in made]
    inside = [use for r in made for use in r.uses if use.owner.operation != second]
    if any(ancestor_in(use.owner.operation, second.block) == second for use in inside):
        return None  # its body reads them
    if not read:
        return False
    ways = indexing_maps(first)[-len(made) :]
    is_same = all(m == ways[made.index(v)] and m.is_permutation for v, m in read)
    if reduces(first) or not is_same or _is_beside_product(first) or _is_beside_product(second):
        return None
    return True


def _is_beside_product(op: ir.Operation) -> bool:
    makers = [made_by(value, "linalg.generic") for value in op.operands]
    users = [use.owner.operation for result in op.results for use in result.uses]
    return any(map(multiplies, filter(None, makers))) or any(
        user.name == "linalg.generic" and multiplies(user) for user in users
    )


def _streams(first: ir.Operation, second: ir.Operation) -> int:
    """Arrays that both read and write together: not what only the second one reads of the first one."""
    made = list(first.results)
    read = {v for op in (first, second) for v in _inputs(op) if v not in made}
    left = [r for r in made if any(use.owner.operation != second for use in r.uses)]
    return len(read) + len(left) + len(list(second.results))


def _inputs(op: ir.Operation) -> list[ir.Value]:
    return list(op.operands)[: len(op.operands) - outputs_of(op)]


def _shared(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether both read an array along all dimensions, in the same way, or slices of it that lie one in the other."""
    one, other = (
        [(_whole(v), m) for v, m in zip(_inputs(op), indexing_maps(op), strict=False)
         if m.n_dims and len(m.results) == m.n_dims]
        for op in (first, second)
    )  # fmt: skip
    return any(a == c and b == d for a, b in one for c, d in other)


def _whole(value: ir.Value) -> tuple[ir.Value, str]:
    """An array, and which cache lines of it are read: of columns of a slice in strides the same as of their
    neighbours."""
    slice_ = made_by(value, "tensor.extract_slice")
    if slice_ is None or len(slice_.operands) > 1:
        return value, ""
    *rows, column = ir.DenseI64ArrayAttr(slice_.attributes["static_offsets"])
    *others, stride = ir.DenseI64ArrayAttr(slice_.attributes["static_strides"])
    if stride < 2:
        return value, ""
    return slice_.operands[0], f"{rows} {column // stride} {others} {stride}"


def _sums_elements(op: ir.Operation) -> bool:
    """Whether an iteration has elements of its own: nothing is multiplied with what others read too, or looked at in
    windows."""
    maps = indexing_maps(op)[: len(_inputs(op))]
    if all(len(m.results) == m.n_dims for m in maps):
        return True
    return not multiplies(op) and all(m.is_projected_permutation for m in maps)
