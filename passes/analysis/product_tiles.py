"""How a product on a device is shared out among groups: the side of its tiles, and parts of its terms.

Comes in: what each tile would take (`ProductTile`). Goes out: a tile, and how many groups have each of them, with a
part of the terms each. Costs are estimates for a GPU of many multiprocessors, so a split has to be much better than
none. Only lengths decide, so that every run gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pykern.passes.analysis.cost_model.devices import FEWEST_GROUPS
from pykern.passes.analysis.cost_model.products import (
    FEWEST_PART_STEPS,
    JOINED_CELLS,
    JOINING,
    MOST_PARTS,
    MULTIPROCESSORS,
    WORTHWHILE,
)


@dataclass(frozen=True)
class ProductTile:
    """One way to cut the result: tiles of `side` rows and columns, `groups` of them, of `steps` each."""

    side: int
    groups: int
    steps: int
    clocks: tuple[int, int]
    """Of a step: of a multiprocessor, and of a group that is alone on it."""

    def time(self, parts: int, cells: int) -> float:
        """Clocks until the result is there."""
        busy, alone = self.clocks
        each = -(-self.groups * parts // MULTIPROCESSORS)
        taken = -(-self.steps // parts) * max(alone, busy * each)
        return taken if parts == 1 else taken + JOINING + parts * cells / JOINED_CELLS


def shared_out(tiles: Sequence[ProductTile], cells: int) -> tuple[ProductTile, int]:
    """The tile, and how many groups have each of them; `tiles` begin with the largest, `cells` is their result's size.

    The first tile of which there are enough groups, else the last, unless another one, or one whose terms are cut into
    parts, is much quicker.
    """
    plain = next((tile for tile in tiles if tile.groups >= FEWEST_GROUPS), tiles[-1])
    best, parts, least = plain, 1, WORTHWHILE * plain.time(1, cells)
    for tile in tiles:
        count = 1
        while count <= max(1, min(MOST_PARTS, tile.steps // FEWEST_PART_STEPS)):
            if (time := tile.time(count, cells)) <= least:
                best, parts, least = tile, count, time
            count *= 2
    return best, parts
