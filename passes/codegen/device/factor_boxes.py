"""Which factors of a product can be copied box by box, by a tensor map, and where each box begins.

Comes in: a `ProductSpace`. Goes out: `FactorBoxes`, or None. A map has up to five dimensions, the fastest of elements
side by side; the others are multiples of 16 bytes apart (CUDA driver API, "Tensor Map Object Management").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mlir import ir

from pykern.data.tensor_form import MOST_DIMENSIONS, MOST_LENGTH, MOST_STRIDE, TensorForm
from pykern.dialect.warpgroups import ELEMENT_BYTES, ROW_BYTES, ROWS
from pykern.passes.analysis.alignment import BYTES, is_aligned
from pykern.passes.codegen.device.product_space import ProductSpace
from pykern.passes.ir.values import defining

LINES, TERM = -1, -2
"""Whose a dimension is that counts lines, or terms; other ones are numbers of groups."""


@dataclass(frozen=True)
class FactorBoxes:
    """One factor: whose its dimensions are, the fastest first, their lengths, and the bytes between elements."""

    kind: str
    whose: tuple[int, ...]
    """`LINES`, `TERM`, or the group of a batch."""
    lengths: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def terms(self) -> int:
        """Of a step."""
        return terms_of(self.kind)

    @property
    def by_terms(self) -> bool:
        """Whether terms are side by side."""
        return self.whose[0] == TERM

    def form(self, side: int) -> TensorForm:
        """The map for a tile of `side` lines. Boxes have 128 bytes of elements side by side."""
        box = tuple(self._box_length(each, side) for each in self.whose)
        return TensorForm(self.kind, self.lengths, self.strides[1:], box)

    def _box_length(self, whose: int, side: int) -> int:
        if whose == TERM:
            return self.terms
        return (side if self.by_terms else ROWS) if whose == LINES else 1

    def first_lines(self, side: int) -> Iterator[int]:
        """Of the boxes of a tile."""
        return iter(range(0, side, side if self.by_terms else ROWS))

    def corner(self, counters: Mapping[int, ir.Value], line: ir.Value, term: ir.Value) -> list[ir.Value]:
        """Of the box from a line and a term on, in the batch that `counters` tell."""
        known = {**counters, LINES: line, TERM: term}
        return [known[each] for each in self.whose]


def terms_of(kind: str) -> int:
    """Terms in a row of shared memory, of a type of elements."""
    return ROW_BYTES // ELEMENT_BYTES[kind]


def factor_boxes(product: ProductSpace, n: int, element: str, aligned: bool) -> FactorBoxes | None:
    """Of elements of a type of `ELEMENT_BYTES`; `aligned`: whether the program's arguments begin at multiples of 16
    bytes."""
    array = product.space.op.operands[n]
    if product.group.prologues[n] is not None or not may_have_map(array, aligned):
        return None
    return boxes_of(element, _dimensions(product, n, ir.MemRefType(array.type)))


def may_have_map(array: ir.Value, aligned: bool) -> bool:
    """Whether an array begins where maps do; kernels take the whole array where they read several parts of it."""
    owner = defining(array)
    return aligned and is_aligned(array) and (owner is None or owner.name != "memref.subview")


def boxes_of(element: str, dimensions: list[tuple[int, int, int]] | None) -> FactorBoxes | None:
    """Of elements of a type of `ELEMENT_BYTES`, from whose each dimension is, its length and stride, the fastest
    first."""
    if element not in ELEMENT_BYTES or dimensions is None or not 2 <= len(dimensions) <= MOST_DIMENSIONS:
        return None
    whose, lengths, strides = zip(*dimensions, strict=True)
    nbytes = ELEMENT_BYTES[element]
    apart = tuple(stride * nbytes for stride in strides)
    lies_well = (
        strides[0] == 1
        and whose[0] in ((LINES, TERM) if nbytes == 2 else (TERM,))
        and {LINES, TERM} <= set(whose)
    )
    fits = all(0 < each < MOST_STRIDE and each % BYTES == 0 for each in apart[1:])
    if not (lies_well and fits and all(0 < length < MOST_LENGTH for length in lengths)):
        return None
    return FactorBoxes(element, whose, lengths, apart)


def _dimensions(product: ProductSpace, n: int, kind: ir.MemRefType) -> list[tuple[int, int, int]] | None:
    """Whose each dimension is, its length and stride, the fastest first. Those that count lines are one, and so are
    those that count terms; None where they do not lie so."""
    space, lines = product.space, (product.rows, product.columns)[n]
    strides, _ = kind.get_strides_and_offset()
    if not kind.has_static_shape or ir.ShapedType.get_dynamic_stride_or_offset() in strides:
        return None
    place = {d: k for k, group in enumerate(space.groups) for d in group}
    groups = [place[ir.AffineDimExpr(each).position] for each in space.maps[n].results]
    if any([g for g in dict.fromkeys(groups) if g in side] != list(side) for side in (lines, product.terms)):
        return None  # counted in another order
    found: list[tuple[int, int, int]] = []
    for group, length, stride in zip(groups[::-1], kind.shape[::-1], strides[::-1], strict=True):
        whose = LINES if group in lines else TERM if group in product.terms else group
        if found and found[-1][0] == whose and stride == found[-1][1] * found[-1][2]:
            _, known, step = found.pop()
            found.append((whose, known * length, step))
        else:
            found.append((whose, length, stride))
    return found if len({whose for whose, _, _ in found}) == len(found) else None
