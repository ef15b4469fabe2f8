"""`pkj.halo` and `pkj.owned`: parts of an array on many devices, with the elements next to them, under `shard_map`.

Comes in: the part of a device, and which axes of the mesh cut its dimensions. Goes out: the part with a rim of what the
neighbours own, exchanged by `ppermute`, and back. Both are made of operations of JAX, so they have derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pykern.api.kernel import KernelBase
from pykern.api.reach import widest
from pykern.errors import KernelTypeError
from pykern.jax.framework import Array, jax, jnp
from pykern.jax.function import Primitive

REPEAT = "repeat"


@dataclass(frozen=True)
class Cut:
    """A dimension of an array that is cut along an axis of the mesh."""

    dim: int
    axis: Any
    devices: int
    width: int
    periodic: bool

    def widened(self, part: Array, edges: Any) -> Array:
        """The part between what its two neighbours own."""
        low, high = self._ends(part, self.width)
        before, behind = self._sent(high, 1), self._sent(low, -1)
        if not self.periodic and not _is_zero(edges):  # a device without a neighbour is sent zeros
            first, last = self._ends(part, 1)
            before = jnp.where(self._is_first, self._edge(first, before, edges), before)
            behind = jnp.where(self._is_last, self._edge(last, behind, edges), behind)
        return jnp.concatenate([before, part, behind], self.dim)

    def narrowed(self, wide: Array) -> Array:
        """The part without its halo."""
        return jax.lax.slice_in_dim(wide, self.width, wide.shape[self.dim] - self.width, axis=self.dim)

    def at_edges(self, part: Array, edges: Array) -> Array:
        """The part with the outermost elements of the whole array as they are in `edges`."""
        if self.periodic:
            return part
        place = jax.lax.broadcasted_iota(jnp.int32, part.shape, self.dim)
        first, last = place < self.width, place >= part.shape[self.dim] - self.width
        return jnp.where((self._is_first & first) | (self._is_last & last), edges, part)

    def _ends(self, part: Array, width: int) -> tuple[Array, Array]:
        length = part.shape[self.dim]
        return (
            jax.lax.slice_in_dim(part, 0, width, axis=self.dim),
            jax.lax.slice_in_dim(part, length - width, length, axis=self.dim),
        )

    def _sent(self, end: Array, by: int) -> Array:
        """What the device that stands `by` places before this one has."""
        pairs = [(k, (k + by) % self.devices) for k in range(self.devices)]
        return jax.lax.ppermute(end, self.axis, [(a, b) for a, b in pairs if self.periodic or b == a + by])

    def _edge(self, outermost: Array, like: Array, edges: Any) -> Array:
        """What stands in the halo outside of the whole array."""
        return jnp.broadcast_to(outermost if edges is REPEAT else jnp.asarray(edges, like.dtype), like.shape)

    @property
    def _is_first(self) -> Array:
        return jax.lax.axis_index(self.axis) == 0

    @property
    def _is_last(self) -> Array:
        return jax.lax.axis_index(self.axis) == self.devices - 1


def halo(
    part: Array, dims: Any, width: Any = 1, *, periodic: bool | Sequence[bool] = False, edges: float | str = 0
) -> Array:
    """The part of an array that a device has, with `width` elements of its neighbours on each side of what is cut.

    Call it under `jax.shard_map`. `dims` says which axis of the mesh each dimension is cut along, as the
    `PartitionSpec` of the array does: ``P("rows")``, ``(None, "columns")``, or ``"rows"`` for the first. `width` is a
    number, one for each of `dims`, or the kernel that reads the array: then it is as far as the kernel looks. The
    elements of corners come from the neighbours along diagonals. `periodic`, one flag or one for each of `dims`, makes
    the first device the neighbour of the last; otherwise the halo outside of the whole array is filled with the number
    `edges`, or with the outermost elements, ``edges="repeat"``.

    The result has the dtype of `part`, and is 2 `width` longer along each cut dimension. Raises `KernelTypeError` for
    what is no axis of the mesh, and for parts shorter than `width`; `LaunchError` where it is not known how far a
    kernel looks.
    """
    if isinstance(edges, str):
        if edges != REPEAT:
            raise KernelTypeError(f"edges={edges!r} is neither a number nor {REPEAT!r}")
        edges = REPEAT
    part = jnp.asarray(part)
    for cut in _cuts("pkj.halo", part.ndim, dims, width, periodic):
        if part.shape[cut.dim] < cut.width:
            raise KernelTypeError(
                f"dimension {cut.dim} of a part has {part.shape[cut.dim]} elements, and its halo {cut.width}",
                hint=f"cut it among fewer devices than the {cut.devices} along {cut.axis!r}",
            )
        part = cut.widened(part, edges)
    return part


def owned(
    wide: Array,
    dims: Any,
    width: Any = 1,
    *,
    periodic: bool | Sequence[bool] = False,
    edges: Array | None = None,
) -> Array:
    """The inverse of `halo`: what the device owns of `wide`, an array with a halo of the same `dims` and `width`.

    With `edges`, the part as it was before a step, the outermost `width` elements of the whole array are taken from it
    along what is not `periodic`: they stay, as those do that a kernel leaves alone (``if 0 < i < n - 1``). Raises
    `KernelTypeError` as `halo` does, and for `edges` of another shape.
    """
    cuts = _cuts("pkj.owned", wide.ndim, dims, width, periodic)
    for cut in cuts:
        wide = cut.narrowed(wide)
    if edges is None:
        return wide
    if edges.shape != wide.shape:
        raise KernelTypeError(f"`edges` has the shape {edges.shape}, and the part that is owned {wide.shape}")
    for cut in cuts:
        wide = cut.at_edges(wide, edges)
    return wide


def _cuts(what: str, rank: int, dims: Any, width: Any, periodic: Any) -> list[Cut]:
    """What is cut, and how."""
    named = (dims,) if isinstance(dims, str) else tuple(dims)
    if len(named) > rank:
        raise KernelTypeError(f"{what}: an array of {rank} dimensions is not cut along {len(named)}")
    widths, flags = _widths(what, width, rank, len(named)), _each(periodic, len(named))
    if len(widths) != len(named) or len(flags) != len(named):
        raise KernelTypeError(
            f"{what}: {len(widths)} widths and {len(flags)} flags are given for {len(named)} dimensions"
        )
    return [
        Cut(dim, axis, _devices(what, axis), widths[dim], bool(flags[dim]))
        for dim, axis in enumerate(named)
        if axis is not None and widths[dim]
    ]


def _widths(what: str, width: Any, rank: int, count: int) -> tuple[int, ...]:
    kernel = width.of if isinstance(width, Primitive) else width
    found = widest({"": kernel}, rank)[:count] if isinstance(kernel, KernelBase) else _each(width, count)
    if not all(isinstance(n, int) and n >= 0 for n in found):
        raise KernelTypeError(
            f"{what}: the width of a halo is a number of elements or a kernel, not {width!r}"
        )
    return found


def _each(value: Any, count: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,) * count


def _is_zero(edges: float | str) -> bool:
    return isinstance(edges, int | float) and edges == 0


def _devices(what: str, axis: Any) -> int:
    try:
        return jax.lax.axis_size(axis)
    except NameError:
        raise KernelTypeError(
            f"{what}: there is no axis {axis!r} of a mesh here",
            hint="call it inside of jax.shard_map over a mesh that has it",
        ) from None
