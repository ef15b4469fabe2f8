"""What is most likely not meant: work-items that all do the same, or that write over each other.

Comes in: a kernel as the frontend made it, of a launch or of a program that launches it. Goes out: sentences at lines
of Python, for launches of more than one work-item: `Artifact.warnings`. Nothing is refused: a value that all of them
write may be the same, and the last one may be as good as any.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar

from mlir import ir

from pykern.data.artifact import Remark
from pykern.dialect.diagnostics import span_of
from pykern.passes.analysis.uniformity import Uniformity
from pykern.passes.ir.values import made_by
from pykern.passes.kernel.check_bounds import array_names
from pykern.passes.kernels import body, named
from pykern.passes.remarks import collecting

PLACES = (
    "kern.global_id",
    "kern.local_id",
    "kern.group_id",
    "kern.lane_id",
    "kern.subgroup_id",
    "kern.local_linear_id",
)
"""Ops that tell work-items apart."""
_KEPT: ContextVar[dict[Remark, None] | None] = ContextVar("pykern_warnings", default=None)


def collected() -> AbstractContextManager[dict[Remark, None]]:
    """Keep what is said of kernels that are looked at inside, each sentence once."""
    return collecting(_KEPT)


def look_at(kernel: ir.Operation, debug: bool) -> None:
    """Say what there is to say of a kernel; with `debug`, also who writes over whom."""
    kept = _KEPT.get()
    if kept is None:
        return
    if is_alike(kernel):
        kept[alike(kernel)] = None
    if debug:
        kept.update(dict.fromkeys(races(kernel)))


def is_alike(kernel: ir.Operation) -> bool:
    """Whether every work-item stores the same into the same arrays: none asks which it is."""
    arguments = set(body(kernel).arguments)
    stores = any(op.operands[1] in arguments for op in named(kernel, "memref.store"))
    return stores and not named(kernel, *PLACES)


def alike(kernel: ir.Operation) -> Remark:
    """The warning for such a kernel."""
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    return _at(
        kernel,
        f"every work-item of `{name}` does the same: it never asks pk.index(). Launch it with ndrange=1",
    )


def races(kernel: ir.Operation) -> Iterator[Remark]:
    """Stores by all work-items to one element, of values that differ."""
    uniform = Uniformity(kernel)
    groups = named(kernel, "kern.group_id")
    uniform.vary([op.results[0] for op in groups])
    names = array_names(kernel)
    for op in named(kernel, "memref.store"):
        value, array, *indices = op.operands
        if array not in names or _is_private(array) or uniform.is_uniform(value):
            continue
        if uniform.all_uniform(indices) and _comes_by(op, kernel, uniform):
            name = names[array]
            yield _at(
                op,
                f"all work-items write one element of `{name}`, one over the other: pk.atomic_add(array, index, value) "
                "adds, pk.group_reduce sums up within a group",
            )


def _is_private(array: ir.Value) -> bool:
    return made_by(array, "kern.private") is not None


def _comes_by(op: ir.Operation, kernel: ir.Operation, uniform: Uniformity) -> bool:
    """Whether all work-items come to it."""
    parent = _parent(op)
    while parent != kernel:
        tests = list(parent.operands)[:3] if parent.name == "scf.for" else list(parent.operands)[:1]
        if parent.name not in ("scf.for", "scf.if") or not uniform.all_uniform(tests):
            return False
        parent = _parent(parent)
    return True


def _parent(op: ir.Operation) -> ir.Operation:
    assert op.parent is not None  # of what stands in a kernel
    return op.parent.operation


def _at(op: ir.Operation, text: str) -> Remark:
    span = span_of(op.location)
    return Remark(text) if span is None else Remark(text, span.file, span.line)
