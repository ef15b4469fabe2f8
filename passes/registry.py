"""Every pass by its name, and pipelines from text.

Comes in: a name, or text such as ``builtin.module(canonicalize,kern-expand-ndrange{subgroup-size=8})``.
Goes out: `Pass` objects; names that are not pykern's are left to MLIR. Users add passes through the
entry point group ``pykern.passes`` (name to a `Pass` class, or a callable that takes the module).
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
from collections.abc import Iterator
from difflib import get_close_matches

from pykern.errors import PassError
from pykern.passes.arithmetic.branch_conversions import BranchConversions
from pykern.passes.arithmetic.call_extremes import CallExtremes
from pykern.passes.arithmetic.expand_f16 import ExpandF16
from pykern.passes.arithmetic.expand_fp8 import ExpandFp8
from pykern.passes.arithmetic.expand_integer_power import ExpandIntegerPower
from pykern.passes.arithmetic.join_choices import JoinChoices
from pykern.passes.arithmetic.join_nan_tests import JoinNanTests
from pykern.passes.arithmetic.keep_roundings import KeepRoundings
from pykern.passes.arithmetic.round_once import RoundOnce
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.arithmetic.vector_math.expand_math import ExpandMath
from pykern.passes.autodiff.kernel.forward_kernel import ForwardKernel
from pykern.passes.autodiff.kernel.reverse_kernel import ReverseKernel
from pykern.passes.autodiff.tensor.forward import Forward
from pykern.passes.autodiff.tensor.reverse import Reverse
from pykern.passes.framework import Callback, Pass, Pipeline, Upstream
from pykern.passes.kernel.carry_cells import CarryCells
from pykern.passes.kernel.carry_divisions import CarryDivisions
from pykern.passes.kernel.carry_selected_loads import CarrySelectedLoads
from pykern.passes.kernel.check_bounds import CheckBounds
from pykern.passes.kernel.check_nans import CheckNans
from pykern.passes.kernel.choose_loads import ChooseLoads
from pykern.passes.kernel.count_loops import CountLoops
from pykern.passes.kernel.delinearise import Delinearise
from pykern.passes.kernel.delinearise_launch import DelineariseLaunch
from pykern.passes.kernel.drop_stop_gradient import DropStopGradient
from pykern.passes.kernel.expand_ndrange import ExpandNdrange
from pykern.passes.kernel.hoist_atomics import HoistAtomics
from pykern.passes.kernel.hoist_column_sums import HoistColumnSums
from pykern.passes.kernel.hoist_sums import HoistSums
from pykern.passes.kernel.interchange_strides import InterchangeStrides
from pykern.passes.kernel.items_from_loops import ItemsFromLoops
from pykern.passes.kernel.join_stores import JoinStores
from pykern.passes.kernel.keep_elements import KeepElements
from pykern.passes.kernel.limit_time import LimitTime
from pykern.passes.kernel.loops_around_items import LoopsAroundItems
from pykern.passes.kernel.narrow_indices import NarrowIndices
from pykern.passes.kernel.plain_divisions import PlainDivisions
from pykern.passes.kernel.privatise_reductions import PrivatiseReductions
from pykern.passes.kernel.promote_cells import PromoteCells
from pykern.passes.kernel.promote_private import PromotePrivate
from pykern.passes.kernel.rebase_loops import RebaseLoops
from pykern.passes.kernel.reuse_loads import ReuseLoads
from pykern.passes.kernel.shift_divisions import ShiftDivisions
from pykern.passes.kernel.simplify import Simplify
from pykern.passes.kernel.speculate_loads import SpeculateLoads
from pykern.passes.kernel.split_edges import SplitEdges
from pykern.passes.kernel.substitute_known import SubstituteKnown
from pykern.passes.kernel.tighten_bounds import TightenBounds
from pykern.passes.kernel.unroll_index_loops import UnrollIndexLoops
from pykern.passes.kernel.unroll_short_rows import UnrollShortRows
from pykern.passes.old_names import current
from pykern.passes.raise_to_linalg.raise_to_linalg import RaiseToLinalg
from pykern.passes.raise_to_linalg.unmask_sums import UnmaskSums
from pykern.passes.vectorize.items.transpose_items import TransposeItems
from pykern.passes.vectorize.items.vectorize_items import VectorizeItems
from pykern.passes.vectorize.masked_rows import MaskShortRows
from pykern.passes.vectorize.ordered.vectorize_rows import VectorizeRows
from pykern.passes.vectorize.scratch_rows import ScratchRows
from pykern.passes.vectorize.short_rows import VersionShortRows
from pykern.passes.vectorize.vectorize_elementary import VectorizeElementary
from pykern.passes.vectorize.vectorize_reductions import VectorizeReductions
from pykern.passes.vectorize.vectorize_streams import VectorizeStreams

ENTRY_POINTS = "pykern.passes"
LARGEST = 2**62
"""The largest number that passes take as an option: sums of a few of them still fit in 64 bits."""
OWN: tuple[type[Pass], ...] = (
    BranchConversions,
    CallExtremes,
    CarryCells,
    CarryDivisions,
    CarrySelectedLoads,
    CheckBounds,
    CheckNans,
    CountLoops,
    DropStopGradient,
    ExpandF16,
    ExpandFp8,
    ExpandIntegerPower,
    ExpandLibrary,
    ExpandMath,
    ExpandNdrange,
    Forward,
    ForwardKernel,
    HoistAtomics,
    HoistColumnSums,
    HoistSums,
    InterchangeStrides,
    ItemsFromLoops,
    KeepElements,
    LimitTime,
    MaskShortRows,
    NarrowIndices,
    PlainDivisions,
    PrivatiseReductions,
    PromoteCells,
    PromotePrivate,
    RaiseToLinalg,
    Reverse,
    ReverseKernel,
    RebaseLoops,
    ReuseLoads,
    JoinStores,
    TransposeItems,
    LoopsAroundItems,
    JoinChoices,
    JoinNanTests,
    KeepRoundings,
    RoundOnce,
    ScratchRows,
    Delinearise,
    DelineariseLaunch,
    ShiftDivisions,
    SplitEdges,
    SubstituteKnown,
    SpeculateLoads,
    ChooseLoads,
    Simplify,
    TightenBounds,
    UnmaskSums,
    UnrollIndexLoops,
    UnrollShortRows,
    VectorizeElementary,
    VectorizeItems,
    VectorizeReductions,
    VectorizeRows,
    VectorizeStreams,
    VersionShortRows,
)

_added: dict[str, type[Pass]] = {}


def register(*passes: type[Pass]) -> None:
    """Make passes known by name; a target registers its own. Raises `PassError` where another pass has the name."""
    for added in passes:
        there = known().get(added.name, added)
        if (there.__module__, there.__qualname__) != (added.__module__, added.__qualname__):
            raise PassError(f"two passes are called `{added.name}`: {there.__module__} and {added.__module__}",
                            hint="give one of them another name")  # fmt: skip
        _added[added.name] = added


def known() -> dict[str, type[Pass]]:
    """Name to class: pykern's passes and those targets registered."""
    return {p.name: p for p in OWN} | _added


@functools.cache
def _entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    return {e.name: e for e in importlib.metadata.entry_points(group=ENTRY_POINTS)}


def pass_by_name(name: str) -> Pass:
    """The pass `name` with its default options. Raises `PassError` where nobody knows it."""
    name = current(name)
    if name in known():
        return known()[name]()
    if name in _entry_points():
        return _added_by_others(name, "")
    names = sorted({*known(), *_entry_points()})
    near = get_close_matches(name, names, 1)
    raise PassError(
        f"no pass `{name}`", hint=f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"
    )


def parse_pipeline(text: str) -> Pipeline:
    """A pipeline from its text; ``builtin.module(...)`` around it may be left out."""
    inner = text.strip()
    if inner.startswith("builtin.module(") and inner.endswith(")"):
        inner = inner[len("builtin.module(") : -1]
    return Pipeline(tuple(_parse_pass(part) for part in split(inner)))


def split(text: str) -> Iterator[str]:
    """The parts of a text between commas that are not inside brackets."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character in "({<[") - (character in ")}>]")
        if depth < 0:
            raise PassError(f"pipeline `{text}`: a bracket too many at column {position + 1}")
        if character == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    if depth:
        raise PassError(f"pipeline `{text}`: a bracket is not closed")
    if text[start:].strip():
        yield text[start:].strip()


def _parse_pass(text: str) -> Pass:
    name, _, options = text.partition("{")
    found = with_text(name.strip(), options.removesuffix("}"))
    return Upstream(pipeline=text) if found is None else found


def with_text(name: str, options: str) -> Pass | None:
    """A pass of pykern's or of an installed package, with options as text; None where the name is neither's."""
    name = current(name)
    if name in known():
        return with_options(known()[name], options)
    return _added_by_others(name, options) if name in _entry_points() else None


def _added_by_others(name: str, options: str) -> Pass:
    entry = _entry_points()[name]
    try:
        loaded = entry.load()
    except (ImportError, AttributeError) as error:
        raise PassError(f"pass `{name}` cannot be loaded from {entry.value}: {error}") from None
    if isinstance(loaded, type) and issubclass(loaded, Pass):
        return with_options(loaded, options)
    if options.strip():
        raise PassError(f"pass `{name}` is a function, and takes no options")
    return Callback(function=loaded)


def with_options(kind: type[Pass], options: str) -> Pass:
    """A pass from ``name=value name=value``. Raises `PassError` for what the pass does not have."""
    fields = {f.name.replace("_", "-"): f for f in dataclasses.fields(kind)}
    values: dict[str, object] = {}
    for item in options.split():
        key, _, value = item.partition("=")
        if key not in fields:
            raise PassError(
                f"pass `{kind.name}` has no option `{key}`", hint=f"there are: {', '.join(fields) or 'none'}"
            )
        field = fields[key]
        try:
            values[field.name] = made = _value(value, field.default)
        except ValueError:
            raise PassError(
                f"pass `{kind.name}`: `{item}` is {_NO.get(type(field.default), 'no such value')}"
            ) from None
        for number in made if isinstance(made, tuple) else (made,):
            if isinstance(number, int) and not 0 <= number <= LARGEST:
                raise PassError(f"pass `{kind.name}`: `{item}` is not in 0..{LARGEST}")
        if field.name in kind.powers and (not isinstance(made, int) or made.bit_count() != 1):
            raise PassError(f"pass `{kind.name}`: `{item}` is no power of two")
    lacking = [
        name
        for name, f in fields.items()
        if f.name not in values and f.default is f.default_factory is dataclasses.MISSING
    ]
    if lacking:
        raise PassError(f"pass `{kind.name}` needs its option `{lacking[0]}`")
    return kind(**values)


_NO = {
    int: "no integer",
    bool: "neither true nor false",
    tuple: "no list of integers, with commas between",
    str: "no text",
}


def _value(text: str, default: object) -> object:
    if isinstance(default, bool):
        if text not in ("true", "false", "1", "0", ""):
            raise ValueError
        return text in ("true", "1", "")
    if isinstance(default, tuple):
        return tuple(int(item) for item in text.split(",") if text)
    return type(default)(text)
