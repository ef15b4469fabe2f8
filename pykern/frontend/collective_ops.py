"""Calls of the language in which work-items meet: reductions and scans of groups and subgroups, other lanes' values.

Each handler takes the translator, the call node, its positional values and keywords.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.dialect import collectives
from pykern.frontend.casts import convert, materialise
from pykern.frontend.values import (
    Scalar,
    Text,
    Value,
    describe,
)
from pykern.types import bool_, weak_int

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls
from pykern.frontend.call_arguments import given_by_name


def reduction(made: type[collectives.ReductionOp]) -> Callable:
    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        is_scan = made is collectives.SubgroupScanOp
        given = given_by_name(t, node, ("value", "op", "exclusive")[: 2 + is_scan], args, keywords)
        value = _value_of(t, node, given)
        op = given.get("op", Text("add"))
        kinds = ("add", "mul", "min", "max", "and", "or", "xor")
        if not isinstance(op, Text) or op.value not in kinds:
            raise t.type_error(node, f"a reduction is one of {', '.join(kinds)}, not {describe(op)}",
                               "write pk.group_reduce(x, 'add')")  # fmt: skip
        if value.dtype.is_float and op.value in ("and", "or", "xor"):
            raise t.type_error(node, f"`{op.value}` combines integers, not {value.dtype.name}",
                               "cast it first, as in pk.i32(x)")  # fmt: skip
        if value.dtype == bool_:
            value = convert(value, weak_int)
        kind = f"u{op.value}" if value.dtype.kind == "u" and op.value in ("min", "max") else op.value
        exclusive = t.as_scalar(node, given.get("exclusive", Scalar(bool_, const=False)))
        if not exclusive.is_const:
            raise t.type_error(node, "exclusive= of a scan must be known at compile time",
                               "write exclusive=True, or pass it as a pk.static parameter")  # fmt: skip
        wanted = collectives.SubgroupExclusiveScanOp if exclusive.const else made
        return Scalar(value.dtype, wanted.create(kind, materialise(value)))

    return create


def _value_of(t: Calls, node: ast.Call, given: dict[str, Value]) -> Scalar:
    if "value" not in given:
        raise t.type_error(node, "a collective takes the value that each work-item brings",
                           "write pk.subgroup_reduce(x[i], 'add')")  # fmt: skip
    return t.as_scalar(node, given["value"])


def lane(made: type[collectives.LaneOp]) -> Callable:
    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = given_by_name(t, node, ("value", "lane"), args, keywords)
        value = _value_of(t, node, given)
        if made is collectives.SubgroupShuffleOp and "lane" not in given:
            raise t.type_error(node, "a shuffle takes the lane to read", "write pk.subgroup_shuffle(x, lane)")
        lane = convert(t.as_scalar(node, given.get("lane", Scalar(weak_int, const=0))), weak_int)
        return Scalar(value.dtype, made.create(materialise(value), materialise(lane)))

    return create
