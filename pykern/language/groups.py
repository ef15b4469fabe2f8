"""What the work-items of a group have together: memory, barriers, collectives; and the memory of each."""

from __future__ import annotations

from typing import Any

from pykern.language.builtin import builtin
from pykern.language.work_items import running_item
from pykern.types import DType, named_type


@builtin
def shared(shape: int | tuple[int, ...] | None, dtype: DType) -> Any:
    """Memory that the work-items of a group share; its contents are undefined at first: ``pk.shared((8, 8), pk.f32)``.

    `shape` is known when compiling; or None (or -1), once in a kernel: then it is an array of one
    dimension with as many elements as fit in the `shared_bytes=` of the launch. Raises `TargetError` for more than
    the target has.
    """
    return running_item("shared").shared(shape, named_type(dtype) or dtype)


@builtin
def private(shape: int | tuple[int, ...], dtype: DType) -> Any:
    """Memory of this work-item, undefined at first; it keeps its contents across barriers.

    `shape` (a length or several) is known when compiling, and so is `dtype`, e.g. ``pk.private(4, pk.f32)``.
    """
    return running_item("private").private(shape, named_type(dtype) or dtype)


@builtin
def barrier() -> None:
    """Wait for the work-items of the group; memory written before is seen after.

    Those who have returned are not waited for. All others of a group have to come by, equally often.
    """
    running_item("barrier").barrier()


@builtin
def subgroup_reduce(value: Any, op: str = "add") -> Any:
    """The reduction of `value` over the subgroup, in its type, for every lane.

    `op` is "add", "mul", "min" or "max"; for integers also "and", "or", "xor".
    """
    return running_item("subgroup_reduce").collective("subgroup_reduce", value, op)


@builtin
def subgroup_scan(value: Any, op: str = "add", exclusive: bool = False) -> Any:
    """The scan of `value` over the lanes of the subgroup, in its type, this lane included unless `exclusive`.

    `op` as for `subgroup_reduce`. The first lane of an exclusive scan gets the neutral number of `op`: 0 for "add".
    """
    name = "subgroup_exclusive_scan" if exclusive else "subgroup_scan"
    return running_item("subgroup_scan").collective(name, value, op)


@builtin
def subgroup_shuffle(value: Any, lane: int) -> Any:
    """The `value` of lane `lane` of the subgroup, in its type."""
    return running_item("subgroup_shuffle").collective("subgroup_shuffle", value, lane)


@builtin
def subgroup_broadcast(value: Any, lane: int = 0) -> Any:
    """The `value` of one lane, for the whole subgroup."""
    return running_item("subgroup_broadcast").collective("subgroup_shuffle", value, lane)


@builtin
def group_reduce(value: Any, op: str = "add") -> Any:
    """The reduction of `value` over the workgroup, in its type, for every work-item; `op` as for `subgroup_reduce`."""
    return running_item("group_reduce").collective("group_reduce", value, op)
