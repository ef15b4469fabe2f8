"""Where a work-item stands: in the ndrange, its workgroup and its subgroup."""

from __future__ import annotations

from typing import Any

from pykern.errors import KernelError, KernelTypeError
from pykern.language.builtin import builtin
from pykern.runtime import reference


def running_item(name: str) -> reference.WorkItem:
    """The work-item that asks for `name`. Raises `KernelError` outside of a kernel."""
    item = reference.current()
    if item is None:
        raise KernelError(
            f"pk.{name}() only works inside a kernel", hint="launch a kernel: k(..., ndrange=n)"
        )
    return item


def _coordinate(name: str, values: tuple[int, ...], dim: int | None) -> Any:
    if dim is None:
        return values[0] if len(values) == 1 else values
    if not 0 <= dim < len(values):
        raise KernelTypeError(f"pk.{name}({dim}): the ndrange has {len(values)} dimensions")
    return values[dim]


@builtin
def index(dim: int | None = None) -> Any:
    """Coordinate of this work-item in the ndrange: an int where it has one dimension, else a tuple; `dim` picks one.

    A range's start and step are in it. Coordinates are weak integers of 64 bits: they take the type of what they meet.
    Raises `KernelTypeError` for a `dim` that the ndrange does not have, `KernelError` outside of a kernel, as
    all names of this group.
    """
    return _coordinate("index", running_item("index").index, dim)


@builtin
def local_index(dim: int | None = None) -> Any:
    """Coordinate in the workgroup, from 0: an int, or a tuple; `dim` picks one."""
    return _coordinate("local_index", running_item("local_index").local, dim)


@builtin
def group_index(dim: int | None = None) -> Any:
    """Coordinate of the workgroup among the groups, from 0: an int, or a tuple; `dim` picks one."""
    return _coordinate("group_index", running_item("group_index").group, dim)


@builtin
def group_size(dim: int | None = None) -> Any:
    """Size of a full workgroup, also in a partial last one: an int, or a tuple; `dim` picks one."""
    return _coordinate("group_size", running_item("group_size").launch.workgroup, dim)


@builtin
def num_groups(dim: int | None = None) -> Any:
    """Number of workgroups, a partial last one included: an int, or a tuple; `dim` picks one."""
    return _coordinate("num_groups", running_item("num_groups").launch.groups, dim)


@builtin
def ndrange(dim: int | None = None) -> Any:
    """Number of work-items: an int, or a tuple; `dim` picks one. A range counts those it has."""
    return _coordinate("ndrange", running_item("ndrange").launch.counts, dim)


@builtin
def subgroup_size() -> int:
    """Work-items in a full subgroup: 32, or what the target has."""
    return running_item("subgroup_size").launch.subgroup_size


@builtin
def subgroup_index() -> int:
    """Number of the subgroup in its workgroup, from 0; work-items are dealt in row-major order."""
    item = running_item("subgroup_index")
    return item.linear // item.launch.subgroup_size


@builtin
def lane_index() -> int:
    """Place of this work-item in its subgroup, from 0."""
    item = running_item("lane_index")
    return item.linear % item.launch.subgroup_size
