"""The tiles of a kernel whose index is a range."""

from __future__ import annotations

from typing import Any

from pykern.language.builtin import builtin


@builtin
def tile(*sizes: int | None) -> Any:
    """The tile of a kernel whose index is a range: ``i, j = pk.tile()``. A tile indexes arrays: ``x[i, j]`` holds what
    is there, the last tile has fewer elements. ``x[i + 1]`` is the tile beside it.

    An ndrange of one dimension gives one tile, else a tuple. How large tiles are is left to the compiler; `sizes` fix
    it, one a dimension, None where it stays open, and where a size is 1 there is an integer. ``tile=`` of a launch does
    the same. Stands once in a kernel, in a statement of its own. Raises `KernelError` outside of a kernel.
    """
    return _reference_tiles().tile(sizes)


@builtin
def tiles(start: int, stop: int | None = None) -> Any:
    """The tiles of a range, for a loop: ``for k in pk.tiles(n)``, or ``pk.tiles(start, stop)``. How many there are is
    left to the compiler, as for `tile`; what the loop carries is as after all of them.
    """
    return _reference_tiles().tiles(*((0, start) if stop is None else (start, stop)))


@builtin
def positions(tile: Any) -> Any:
    """The indices of a tile, as an array of i64: ``pk.positions(i)[:, None] >= pk.positions(k)`` is a causal mask."""
    return _reference_tiles().positions(tile)


def _reference_tiles() -> Any:
    from pykern.runtime import reference_tiles  # here: it needs NumPy

    return reference_tiles
