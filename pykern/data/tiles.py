"""What a launch of a tile kernel is, as plain data; and what all devices agree on about tiles.

Comes in: an index space, and how large tiles are to be. Goes out: `TileLaunch`, a part of the key of compiled code.
Read next: `pykern.frontend.program.tiles`, which translates, and `pykern.runtime.reference_tiles`, which runs Python.
"""

from __future__ import annotations

from pykern.data.records import record
from pykern.errors import NDRANGE, LaunchError


@record
class TileLaunch:
    """(start, step, count) of each dimension, and the sizes of tiles: None where they are open, () for all of them."""

    space: tuple[tuple[int, int, int], ...]
    sizes: tuple[int | None, ...] = ()

    def with_sizes(self, asked: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """One size a dimension: the launch's where it says one, else what the kernel asked for."""
        rank = len(self.space)
        for sizes, where in ((asked, "pk.tile"), (self.sizes, "tile=")):
            if sizes and len(sizes) != rank:
                raise LaunchError(
                    f"{where} has {len(sizes)} size{'s' * (len(sizes) != 1)}, and the ndrange {rank} "
                    f"dimension{'s' * (rank != 1)}",
                    hint="give one size a dimension, None where it is open, or none at all",
                    code=NDRANGE,
                )
            if any(size is not None and size < 1 for size in sizes):
                raise LaunchError(
                    f"{where}: the size of a tile is at least 1, and not {min(s for s in sizes if s is not None)}",
                    hint="leave the size out, and the compiler chooses one",
                    code=NDRANGE,
                )
        open_ones = (None,) * rank
        pairs = zip(asked or open_ones, self.sizes or open_ones, strict=True)
        return tuple(mine if theirs is None else theirs for mine, theirs in pairs)


_WIDE = {"float16": "float32", "bfloat16": "float32", "int8": "int32", "uint8": "int32"}


def wide(dtype: str) -> str | None:
    """NumPy's name for the type in which a tile kernel gives products of a narrow type; None where it is the same."""
    return _WIDE.get(dtype)


NO_SIZE = (
    "write pk.tiles(start, stop), or pk.tiles(n) for all from 0 on; the compiler chooses the size of a tile"
)


def backwards(start: int, stop: int) -> str:
    """Why there are no tiles of this range: what is meant as a size is taken for the end."""
    return f"pk.tiles({start}, {stop}) ends before it begins"
