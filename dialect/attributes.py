"""Every attribute of the name `kern.*`, and what it may hold: passes read them without asking again.

Comes in: an op of a module that came from outside, or that a pass left. Goes out: nothing, or a `VerifyError` at the
op's place. Read next: `kernels` (attributes of kernels that have to agree with one another), `context` (who asks).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from difflib import get_close_matches

from mlir import ir

from pykern.data.schedule import Schedule
from pykern.dialect.attribute_forms import (
    Form,
    argument_numbers,
    array_of,
    checkpoint,
    either,
    function_mark,
    integer,
    json_text,
    lengths,
    mark,
    result_numbers,
    string,
    symbol,
    table,
)
from pykern.dialect.diagnostics import span_of
from pykern.dialect.kernels import check_kernel
from pykern.errors import VerifyError

PREFIX = "kern."
MAX_DIMENSIONS = 8

_KINDS = {"bool": ir.BoolAttr, "int": ir.IntegerAttr, "str": ir.StringAttr}
_SCHEDULE = {field.name: _KINDS[str(field.type)] for field in dataclasses.fields(Schedule)}
_TILE = dict.fromkeys(
    ("row", "lane", "width", "unroll", "prefetch", "ordered", "start", "first", "last", "reads", "clip"),
    ir.IntegerAttr,
)
_DOT = {"intrinsic": ir.StringAttr, "adds": ir.BoolAttr, "first": ir.IntegerAttr, "lifted": ir.BoolAttr}

FORMS: Mapping[str, Form] = {
    # what the frontend says of kernels and programs
    "kern.kernel": function_mark,
    "kern.program": function_mark,
    "kern.plain": mark,
    "kern.noalias": mark,
    "kern.name": string,
    "kern.rank": integer(1, MAX_DIMENSIONS),
    "kern.ndrange": lengths(0),
    "kern.workgroup": lengths(1),
    "kern.updated": argument_numbers(),
    "kern.donated": argument_numbers(),
    "kern.result_tree": json_text,
    "kern.helper": function_mark,
    "kern.custom": array_of(ir.FlatSymbolRefAttr, "names of two functions, such as [@forward, @backward]", 2),
    "kern.gradients": lengths(-1),
    "kern.cuda": string,
    # what passes say to later ones, of functions
    "kern.sequential": mark,
    "kern.endless": mark,
    "kern.in_vectors": mark,
    "kern.rows": mark,
    "kern.nest": mark,
    "kern.repeats": mark,
    "kern.strided": mark,
    "kern.raised": mark,
    "kern.report": mark,
    "kern.shared_bytes": integer(0),
    "kern.arguments": array_of(ir.StringAttr, "an array of strings"),
    "kern.tape": lengths(0, 2),
    "kern.tape_slots": either(mark, integer(0)),
    "kern.result_arguments": result_numbers,
    "kern.launches": symbol,
    "kern.writes": argument_numbers(),
    "kern.schedule": table(_SCHEDULE, needed=tuple(_SCHEDULE)),
    "kern.attention": either(mark, symbol),
    "kern.maps": array_of(ir.AffineMapAttr, "an array of affine maps"),
    "kern.lengths": lengths(0),
    "kern.unshifted": mark,
    # of arguments
    "kern.written": mark,
    "kern.cache_bytes": mark,
    # of loops and other ops
    "kern.launch": mark,
    "kern.items": mark,
    "kern.ends": mark,
    "kern.kept_row": mark,
    "kern.chunk": mark,
    "kern.tape_state": mark,
    "kern.site": integer(0),
    "kern.range": lengths(None, 2, ordered=True),
    "kern.checkpoint": checkpoint,
    "kern.trips_at_most": integer(0),
    "kern.needed": lengths(None),
    "kern.part": integer(0),
    "kern.tile": table(_TILE, needed=("row", "lane", "width")),
    "kern.dot": table(_DOT, needed=tuple(_DOT)),
}


def check_attributes(root: ir.Operation) -> None:
    """Raises `VerifyError` where an attribute of an op, or of an argument of a function, is not of its form."""
    wrong: list[VerifyError] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        try:
            _check_op(op)
        except VerifyError as error:  # the bindings make a RuntimeError of what goes through a walk
            wrong.append(error)
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    root.walk(visit)
    if wrong:
        raise wrong[0]


def _check_op(op: ir.Operation) -> None:
    for name in op.attributes:
        if name.startswith(PREFIX):
            _check(op, name, lambda name=name: op.attributes[name])
        elif name in ("arg_attrs", "res_attrs"):
            _check_arguments(op, op.attributes[name])
    if "kern.kernel" in op.attributes:
        check_kernel(op)


def _check_arguments(op: ir.Operation, given: ir.Attribute) -> None:
    for marks in given if isinstance(given, ir.ArrayAttr) else ():
        for named in marks if isinstance(marks, ir.DictAttr) else ():
            if named.name.startswith(PREFIX):
                _check(op, named.name, lambda named=named: named.attr)


def _check(op: ir.Operation, name: str, read: Callable[[], ir.Attribute]) -> None:
    form = FORMS.get(name)
    if form is None:
        near = get_close_matches(name, FORMS, 1)
        hint = f"did you mean `{near[0]}`?" if near else "attributes of your own want a prefix of your own"
        raise VerifyError(f"there is no attribute `{name}`", span_of(op.location), hint)
    try:
        wrong = form(op, read())
    except TypeError:  # the bindings have no class for arrays of some types
        wrong = "is of a kind that nothing here reads"
    if wrong is not None:
        raise VerifyError(f"attribute `{name}` of `{op.name}` {wrong}", span_of(op.location))
