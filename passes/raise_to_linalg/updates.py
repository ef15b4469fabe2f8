"""One statement as one linalg op on the part of a tensor that it changes.

Read next: `writing`, which goes through the program; `scatter`, for places that are no slices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from mlir import ir
from mlir.dialects import linalg

from pykern.passes.raise_to_linalg.bodies import Body, IndexedTensor, generic
from pykern.passes.raise_to_linalg.boxes import Boxes, IterationBox
from pykern.passes.raise_to_linalg.builder import Builder
from pykern.passes.raise_to_linalg.conditions import SGE, SLT, facts
from pykern.passes.raise_to_linalg.evaluation import from_stored, never_empty, stored_type, to_stored
from pykern.passes.raise_to_linalg.expressions import (
    Apply,
    Carried,
    Expression,
    Fold,
    Load,
    Mask,
    expressions_of,
    is_costly,
    reachable,
    vector_dims,
)
from pykern.passes.raise_to_linalg.forms import Dim, Form
from pykern.passes.raise_to_linalg.named import named_op
from pykern.passes.raise_to_linalg.reductions import neutral
from pykern.passes.raise_to_linalg.scalars import Scalars
from pykern.passes.raise_to_linalg.views import View, extract, held_view, insert, padded, view_of


@dataclass(frozen=True)
class Destination:
    """Where the results go: cells of an array, or the element of each position of a box.

    What a loop carries is changed as a slice, even all of it: that ties the result to its place.
    """

    subscripts: tuple[Form, ...] = ()
    lengths: tuple[Form, ...] = ()
    held: IterationBox | None = None
    is_new: bool = False

    def view(self, box: IterationBox, scalars: Scalars) -> View | None:
        if self.held is not None:
            found = held_view(self.held.dims, self.held, box, scalars)
            return replace(found, is_whole=found.is_whole and self.is_new)
        return view_of(self.subscripts, box, scalars)


@dataclass(frozen=True)
class Update:
    """`target[place] = value` over a box where `mask` holds, or combined with what is there."""

    target: ir.Value
    place: Destination
    value: Expression
    mask: Mask = ()
    combine: str | None = None
    attributes: dict[str, ir.Attribute] = field(default_factory=dict)


@dataclass(eq=False)
class Updates:
    """Emits updates. `held` are folds that were computed, each with the box asked for, or None for
    all positions, and the box its tensor has; `frozen` are values kept from before a change;
    `stored` are values that were stored, and the load that gives them back.
    """

    builder: Builder
    scalars: Scalars
    lengths: dict[int, tuple[Form, ...]]
    holding: frozenset = frozenset()
    held: dict[Fold | Apply, list[tuple[IterationBox | None, IterationBox, ir.Value]]] = field(
        default_factory=dict
    )
    frozen: dict[Load | Carried, tuple[IterationBox, ir.Value]] = field(default_factory=dict)
    stored: dict[Expression, Load] = field(default_factory=dict)

    @property
    def boxes(self) -> Boxes:
        return Boxes(self.builder, self.holding)

    # -- values that are held in a tensor of their own ------------------------------------------

    def hold(self, fold: Fold | Apply, box: IterationBox) -> tuple[IterationBox, ir.Value]:
        """A tensor with the fold's value for every position of a box, and the box it was made for."""
        wanted = box.restricted(box.free(vector_dims(fold)))
        if (found := self._known(fold, wanted)) is not None:
            return found
        made = self.filled(fold, wanted)
        self.held.setdefault(fold, []).append((wanted, wanted, made))
        return wanted, made

    def _known(self, fold: Fold | Apply, wanted: IterationBox) -> tuple[IterationBox, ir.Value] | None:
        known = self.held.get(fold, [])
        return next(((base, made) for box, base, made in known if box is None or box == wanted), None)

    def hold_everywhere(self, fold: Fold) -> None:
        """Compute a fold once for all positions, and keep the tensor for later uses."""
        box = self.boxes.full(vector_dims(fold))
        self.held.setdefault(fold, []).insert(0, (None, box, self.filled(fold, box)))

    def filled(self, value: Expression, box: IterationBox, mask: Mask = ()) -> ir.Value:
        """A new tensor with the value for every position of the box."""
        sizes = [self.scalars.count(box, dim) for dim in box.dims]
        dynamic = [ir.ShapedType.get_dynamic_size()] * len(sizes)
        kind = ir.RankedTensorType.get(dynamic, stored_type(value.type))
        target = ir.Operation.create("tensor.empty", results=[kind], operands=sizes).results[0]
        # a copy as a whole would be taken for what it is a copy of
        place = Destination(held=box, is_new=not isinstance(value, Load | Carried))
        return self.assign(Update(target, place, value, mask), box)

    def assign(self, update: Update, box: IterationBox) -> ir.Value:
        """An update; of a fold as a fill and a collection into the same place."""
        if not isinstance(update.value, Fold) or update.combine is not None:
            return self.emit(update, box)
        fold = update.value
        narrow, rest = self.boxes.narrowed(box, update.mask)
        known = self._known(fold, narrow.restricted(narrow.free(vector_dims(fold))))
        is_read = self._is_stored(fold, narrow, rest)
        if rest or known is not None or is_read or update.target in self._read(fold):
            return self.emit(update, box)
        target = self.assign(replace(update, value=fold.initial), box)
        collected = Update(target, update.place, fold.value, fold.mask, fold.combine, fold.attributes)
        return self.emit(collected, self.boxes.full(fold.dims, narrow))

    def _read(self, fold: Fold) -> list[ir.Value]:
        """Tensors the fold looks at."""
        return [p.tensor for p in reachable([fold]) if isinstance(p, Load | Carried) and p.tensor is not None]

    def freeze(self, value: Load | Carried) -> None:
        """Keep the value: what it is read from is about to change."""
        if value not in self.frozen:
            box = self.boxes.full(vector_dims(value))
            mask = value.mask if isinstance(value, Load) else ()
            # what differs within the box only: an element may be asked for under any other condition
            mask = tuple(literal for literal in mask if set(vector_dims(literal[0])) <= set(box.dims))
            made = self.filled(value, box, mask)
            self.frozen[value] = box, made
            if not box.dims:
                self.scalars.lookup[value] = made, []

    # -- one linalg op --------------------------------------------------------------------------

    def emit(self, update: Update, box: IterationBox) -> ir.Value:
        """The changed target."""
        box, rest = self.narrowed(update, box)
        box, rest = self.pinned(update, box, rest)
        view = update.place.view(box, self.scalars)
        assert view is not None
        parallel = view.dims
        reduced = [dim for dim in box.dims if dim not in parallel]
        leaves = self.leaves([update.value, *expressions_of(rest)], self._stops(update, box, rest))
        part = extract(update.target, view)
        out = IndexedTensor(part, view.maps)
        body = Body(box.true | self.holding, scalars=self.scalars, box=box, dims=[*parallel, *reduced])
        inputs: dict[Expression, IndexedTensor] = {}
        own = [leaf for leaf in leaves if self._is_own(leaf, update, box)]
        for leaf in leaves:
            if leaf not in own and (operand := self._operand(leaf, box, rest, body)) is not None:
                inputs[leaf] = operand
        if not rest and not leaves and update.combine is None and not vector_dims(update.value):
            return insert(self._fill(update.value, part), update.target, view)
        if not rest and (made := named_op(update.combine, update.value, inputs, out)) is not None:
            return insert(made, update.target, view)
        unseen = [
            dim for dim in reduced if not any(((dim, 1),) in operand.maps for operand in inputs.values())
        ]
        shapes = [IndexedTensor(self._shape(box, dim), [((dim, 1),)]) for dim in unseen]

        def compute(op: ir.Operation, elements: list[ir.Value], old: ir.Value) -> ir.Value:
            body.op = op
            for leaf, element in zip(inputs, elements, strict=False):
                body.elements[leaf] = from_stored(element, leaf.type)
            body.elements.update(dict.fromkeys(own, old))
            return to_stored(self._result(update, rest, body, from_stored(old, update.value.type)), old.type)

        made = generic(parallel, reduced, [*inputs.values(), *shapes], out, compute)
        return insert(made, update.target, view)

    def narrowed(self, update: Update, box: IterationBox) -> tuple[IterationBox, Mask]:
        """The box without what the mask leaves out, and where a masked access would lie outside."""
        box, rest = self.boxes.narrowed(box, update.mask)
        if rest and update.place.held is None:
            box = self.boxes.inside(box, update.place.subscripts, list(update.place.lengths))
        known = {*rest, *box.true, *self.holding}
        for leaf in self.leaves([update.value, *expressions_of(rest)]):
            if isinstance(leaf, Load) and self._rest(leaf.mask, box) and set(leaf.mask) <= known:
                box = self.boxes.inside(box, leaf.subscripts, list(self.lengths[leaf.array]))
        return box, rest

    def _rest(self, mask: Mask, box: IterationBox) -> Mask:
        return tuple(literal for literal in mask if literal not in box.true and literal not in self.holding)

    def _result(self, update: Update, rest: Mask, body: Body, old: ir.Value) -> ir.Value:
        value = body.value(update.value)
        if update.combine is None:
            return _select(body.conjunction(rest), value, old) if rest else value
        if rest:
            nothing = body.value(neutral(self.builder, update.combine, update.value.type))
            value = _select(body.conjunction(rest), value, nothing)
        made = ir.Operation.create(
            update.combine, results=[old.type], operands=[old, value], attributes=dict(update.attributes)
        )
        return made.results[0]

    def _fill(self, value: Expression, part: ir.Value) -> ir.Value:
        filling = to_stored(self.scalars.value(value), ir.RankedTensorType(part.type).element_type)
        made = linalg.fill(filling, outs=[part])
        return made if isinstance(made, ir.Value) else made.result

    def _shape(self, box: IterationBox, dim: Dim) -> ir.Value:
        """An operand that is never read: it says how many positions a dimension has."""
        kind = ir.RankedTensorType.get([ir.ShapedType.get_dynamic_size()], ir.IntegerType.get_signless(8))
        return ir.Operation.create("tensor.empty", [kind], [self.scalars.count(box, dim)]).results[0]

    # -- operands -------------------------------------------------------------------------------

    def leaves(self, roots: list[Expression], stop: Callable = lambda _: False) -> list[Expression]:
        """What comes out of tensors, each once; and the values at which to stop."""
        found: dict[Expression, None] = {}
        seen: set[Expression] = set()
        waiting = roots[::-1]
        while waiting:
            value = waiting.pop()
            if value in seen:
                continue
            seen.add(value)
            stopped = stop(value)
            if stopped or isinstance(value, Load | Carried | Fold):
                found[value] = None
            if not stopped and not isinstance(value, Carried | Fold):
                waiting += value.parts[::-1]
        return list(found)

    def _stops(self, update: Update, box: IterationBox, rest: Mask) -> Callable[[Expression], bool]:
        """Values that are not computed in the body: stored ones, and costly ones of fewer dimensions."""

        def stops(value: Expression) -> bool:
            if self._is_stored(value, box, rest):
                return True
            dims = box.free(vector_dims(value))
            return 0 < len(dims) < len(box.dims) and is_costly(value)

        return stops

    def _is_own(self, leaf: Expression, update: Update, box: IterationBox) -> bool:
        """Whether the leaf is what the statement's own place holds."""
        return (
            isinstance(leaf, Load)
            and leaf.tensor == update.target
            and leaf.subscripts == update.place.subscripts
            and update.place.held is None
        )

    def _is_stored(self, value: Expression, box: IterationBox, rest: Mask) -> bool:
        """Whether a value is to be read where it was stored. Where the store was masked that has to hold, and a value
        that decides whether it does cannot be read there."""
        if value not in self.stored or box.pins:
            return False
        own = set(self.stored[value].mask) - box.true - self.holding
        return own <= set(rest) and not (own and value in reachable(expressions_of(rest)))

    def _operand(self, leaf: Expression, box: IterationBox, rest: Mask, body: Body) -> IndexedTensor | None:
        """The tensor to read element by element; None for one that is looked up by computed indices."""
        if self._is_stored(leaf, box, rest):
            leaf = self.stored[leaf]
        if isinstance(leaf, Fold | Apply) or leaf in self.frozen:
            base, made = self.hold(leaf, box) if isinstance(leaf, Fold | Apply) else self.frozen[leaf]
            view = held_view(base.dims, base, box, self.scalars)
            return IndexedTensor(extract(made, view), view.maps)
        if isinstance(leaf, Carried):
            base = self.boxes.full(leaf.dims)
            view = held_view(base.dims, base, box, self.scalars)
            return IndexedTensor(extract(leaf.tensor, view), view.maps)
        assert isinstance(leaf, Load)
        view = view_of(leaf.subscripts, box, self.scalars)
        guarded = self._rest(leaf.mask, box)
        if view is None:
            body.sources[leaf] = never_empty(leaf.tensor) if guarded else leaf.tensor
            return None
        source = leaf.tensor
        lengths = self.lengths[leaf.array]
        pairs = zip(leaf.subscripts, lengths, strict=True)
        if guarded and not all(self.boxes.is_inside(box, form, length) for form, length in pairs):
            source, view = padded(source, view)
        return IndexedTensor(extract(source, view), view.maps)

    # -- dimensions that the place does not show ------------------------------------------------

    def pinned(self, update: Update, box: IterationBox, rest: Mask) -> tuple[IterationBox, Mask]:
        """Dimensions that an equation of the mask gives by others, and those that run backwards."""
        if update.place.held is not None:
            return box, rest
        for form in update.place.subscripts:
            form = box.resolved(form)
            dims = [dim for dim in form.dims if dim.value is None]
            if len(dims) == 1 and form.factor(dims[0]) < 0:
                box = self._flipped(box, dims[0])
        if update.combine is not None:
            return box, rest
        shown = {d for form in update.place.subscripts for d in box.resolved(form).dims}
        for dim in [d for d in box.dims if d not in shown]:
            pin = next((p for literal in update.mask if (p := _solution(literal, dim)) is not None), None)
            if pin is not None:
                box, rest = self._pin(box, rest, dim, pin)
        return box, rest

    def _pin(self, box: IterationBox, rest: Mask, dim: Dim, pin: Form) -> tuple[IterationBox, Mask]:
        old = box.range(dim)
        kept = tuple(pair for pair in box.ranges if pair[0] is not dim)
        box = replace(box, ranges=kept, pins=(*box.pins, (dim, pin)))
        value, bounds = self.builder.index(box.resolved(pin)), []
        for predicate, forms in ((SGE, old.lows), (SLT, old.highs)):
            bounds += [(self.builder.compare(predicate, value, self.builder.index(f)), True) for f in forms]
        box, more = self.boxes.narrowed(box, tuple(bounds))
        return box, (*rest, *more)

    def _flipped(self, box: IterationBox, dim: Dim) -> IterationBox:
        old = box.range(dim)
        reversed_dim = Dim(f"{dim}'", old.lows, old.highs, dim.step)
        low, high = old.lows[0], old.highs[0]
        if len(old.lows) != 1 or len(old.highs) != 1 or dim.step is not None:
            return box
        ranges = tuple((reversed_dim if d is dim else d, r) for d, r in box.ranges)
        pin = low + high - 1 - Form(((reversed_dim, 1),))
        return replace(box, ranges=ranges, pins=(*box.pins, (dim, pin)))


def _solution(literal: tuple[Expression, bool], dim: Dim) -> Form | None:
    """The value of `dim` that an equation implies."""
    found = facts(literal)
    for form in found.zero if found else ():
        factor = form.factor(dim)
        if abs(factor) == 1 and dim.step is None:
            return form.without(dim) * -factor
    return None


def _select(condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
    return ir.Operation.create("arith.select", [yes.type], [condition, yes, no]).results[0]
