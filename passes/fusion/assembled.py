"""What a tensor is assembled of: boxes, and for each of them the tensor whose elements lie there.

Comes in: a tensor that `tensor.insert_slice` and `tensor.extract_slice` make, as of `np.concatenate((x[1:], x[:1]))` or
of `o = np.zeros_like(x); o[1:] = x[:-1]`, or a look-up, as of `np.pad(x, 1, "wrap")`. Goes out: its `Part`s. Read next:
`box_plans`, which cuts its readers.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.cost_model.code_size import ASSEMBLED_DEPTH
from pykern.passes.fusion.lookups import looked_up
from pykern.passes.ir.boxes import Box, box_of
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.structured import is_fill
from pykern.passes.ir.values import is_argument, made_by
from pykern.passes.kernels import body

INSERT, EXTRACT = "tensor.insert_slice", "tensor.extract_slice"

Places = tuple[tuple["int | None", int], ...]
"""For each dimension of a source the dimension of the assembled tensor that moves along it, and what is added to its
index; with no dimension, the index itself."""


@dataclass(frozen=True)
class Part:
    """The elements of a box: those of a source at some places, or a number."""

    box: Box
    source: ir.Value
    places: Places

    def within(self, box: Box) -> Part | None:
        """What lies in a box of the whole."""
        met = self.box.meet(box)
        return Part(met, self.source, self.places) if met.volume else None

    def origin(self) -> tuple[ir.Value, Places]:
        """Where the elements are from: alike for parts that continue each other."""
        return self.source, self.places


def parts_of(value: ir.Value, depth: int = ASSEMBLED_DEPTH) -> list[Part]:
    """The parts of a tensor of known lengths, which fill it. What is not assembled is one part, and so is what has
    more than `depth` slices one behind the other."""
    if not depth:
        return [whole_part(value)]
    maker = made_by(value, INSERT, EXTRACT)
    bounds = None if maker is None else _bounds(maker)
    if maker is not None and bounds is not None:
        make = _of_insert if maker.name == INSERT else _of_extract
        return make(maker, *bounds, depth - 1)
    slices = looked_up(value)
    if slices is not None:
        return [Part(*each) for each in slices]
    number = _number(value)
    return [whole_part(value)] if number is None else [Part(whole_part(value).box, number, ())]


def whole_part(value: ir.Value) -> Part:
    """The tensor itself."""
    kind = ir.RankedTensorType(value.type)
    return Part(Box.of(kind.shape), value, tuple((d, 0) for d in range(kind.rank)))


def is_assembled(value: ir.Value) -> bool:
    """Whether the tensor is what `tensor.insert_slice` gives, with bounds that are known, or looked up in slices."""
    insert = made_by(value, INSERT)
    return looked_up(value) is not None if insert is None else _bounds(insert) is not None


def _of_insert(insert: ir.Operation, box: Box, kept: tuple[int, ...], depth: int) -> list[Part]:
    """The parts of what is inserted, and those of the tensor around it."""
    inside, around = (
        parts_of(value, depth) if _is_for_one(value) else [whole_part(value)]
        for value in list(insert.operands)[:2]
    )
    parts = []
    for part in inside:
        low, high = list(box.low), list(box.high)
        for d, place in enumerate(kept):
            low[place], high[place] = box.low[place] + part.box.low[d], box.low[place] + part.box.high[d]
        places = tuple((None, s) if d is None else (kept[d], s - box.low[kept[d]]) for d, s in part.places)
        parts.append(Part(Box(tuple(low), tuple(high)), part.source, places))
    whole = Box.of(ir.RankedTensorType(insert.results[0].type).shape)
    for rest, part in itertools.product(whole.around(box), around):
        met = part.within(rest)
        if met is not None:
            parts.append(met)
    return parts


def _of_extract(extract: ir.Operation, box: Box, kept: tuple[int, ...], depth: int) -> list[Part]:
    """The parts within the slice, seen from there."""
    found = []
    for part in parts_of(extract.operands[0], depth):
        met = part.within(box)
        if met is not None:
            moved = met.box.moved([-low for low in box.low])
            seen = Box(tuple(moved.low[d] for d in kept), tuple(moved.high[d] for d in kept))
            places = tuple(
                (None, s) if d is None else (kept.index(d) if d in kept else None, s + box.low[d])
                for d, s in part.places
            )
            found.append(Part(seen, part.source, places))
    return found


def _is_for_one(value: ir.Value) -> bool:
    """Whether an assembled tensor is made for one reader: else it is in memory anyway."""
    return made_by(value, INSERT) is None or len(list(itertools.islice(value.uses, 2))) == 1


def _bounds(op: ir.Operation) -> tuple[Box, tuple[int, ...]] | None:
    """The box of a slice, and which dimensions of the whole the slice has; None where these are not known."""
    box, part = box_of(op), op.operands[0] if op.name == INSERT else op.results[0]
    if box is None or not box.volume:
        return None
    given, kept = list(ir.RankedTensorType(part.type).shape), list[int]()
    for d, size in enumerate(box.sizes):  # dimensions of length 1 may be left out
        if len(kept) < len(given) and given[len(kept)] == size:
            kept.append(d)
    return (box, tuple(kept)) if len(kept) == len(given) else None


def _number(value: ir.Value) -> ir.Value | None:
    """The number that a tensor is filled with."""
    maker = made_by(value, "linalg.generic")
    if maker is None or not is_fill(maker) or len(list(body(maker).operations)) != 1:
        return None
    (number,) = terminator_operands(body(maker))
    if is_argument(number) and number.owner == body(maker):
        place = list(body(maker).arguments).index(number)
        return maker.operands[place] if place < len(maker.operands) - 1 else None
    return number
