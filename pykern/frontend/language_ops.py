"""Calls into the kernel language: index space, memory, atomics, collectives, prints, casts.

Each handler takes the translator, the call node, its positional values and keywords.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.operator_functions import ARITHMETIC, COMPARISONS, LOGICAL, OF_ROWS
from pykern.dialect import collectives, differentiation, index_space, memory
from pykern.errors import ARGUMENTS
from pykern.frontend import (
    arithmetic,
    closeness,
    complex_elements,
    complex_numbers,
    mathematics,
    philox,
    private_arrays,
    row_arrays,
    row_orders,
    row_products,
    row_reductions,
    row_stores,
    rows,
)  # fmt: skip
from pykern.frontend.advice import instead_of_function
from pykern.frontend.call_arguments import argument_nodes, given_by_name
from pykern.frontend.casts import bitcast, convert, materialise
from pykern.frontend.collective_ops import lane, reduction
from pykern.frontend.debug_checks import check_divisor
from pykern.frontend.memory_ops import ATOMICS, atomic, barrier, buffer, compare_exchange
from pykern.frontend.merging import flows, leaves
from pykern.frontend.reports import print_values
from pykern.frontend.values import (
    ComplexValue,
    NoneValue,
    RangeValue,
    Scalar,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.types import DType, bool_, f32, weak_float, weak_int

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls

POSITIONS = {
    "index": index_space.GlobalIdOp,
    "local_index": index_space.LocalIdOp,
    "group_index": index_space.GroupIdOp,
    "group_size": index_space.GroupSizeOp,
    "num_groups": index_space.NumGroupsOp,
    "ndrange": index_space.NdrangeOp,
}
LANES = {
    "subgroup_size": index_space.SubgroupSizeOp,
    "subgroup_index": index_space.SubgroupIdOp,
    "lane_index": index_space.LaneIdOp,
}
CASTS = {"int": weak_int, "float": weak_float, "bool": bool_}


def call(t: Calls, node: ast.Call, name: str) -> Value:
    """The value of ``name(...)``."""
    if name in _OF_NODES:
        return _OF_NODES[name](t, node)
    args, keywords = t.arguments(node)
    if name in OF_ROWS and args and rows.is_row(args[0]):
        return row_reductions.call(t, node, name, args[0], args[1:], keywords)
    if any(isinstance(a, ComplexValue) for a in args) or name in complex_numbers.NAMES:
        return complex_elements.call(t, node, name, args, keywords)
    if name in _OF_ITEMS and args and isinstance(args[0], TupleValue) and not keywords:
        return _of_items(t, node, name, args[0].items, args[1:])
    if name in mathematics.NAMES or name in mathematics.OF_NUMPY:
        return _mathematics(t, node, name, args, keywords)
    if name in POSITIONS:
        return _position(t, node, name, args, keywords)
    if name in LANES:
        return Scalar(weak_int, LANES[name].create())
    if name in ATOMICS:
        return atomic(t, node, ATOMICS[name], args)
    if name in CASTS:
        return _python_cast(t, node, name, args)
    if name in _OPERATORS:
        return _operator(t, node, name, args, keywords)
    handler = _HANDLERS.get(name)
    if handler is None:
        raise t.syntax_error(node, f"`{name}` is not available in kernels", instead_of_function(name))
    return handler(t, node, args, keywords)


_OPERATORS = {**ARITHMETIC, **COMPARISONS, **LOGICAL}


def _operator(t: Calls, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """``np.add(a, b)``: the operator."""
    given = given_by_name(t, node, ("a", "b"), args, keywords)
    if len(given) != 2:
        raise t.type_error(node, f"`{name}` takes two numbers", "give both", ARGUMENTS)
    a, b = given["a"], given["b"]
    if name in LOGICAL:
        a, b = (t.converted(node, node, v, bool_) for v in (a, b))
    return t.operator(node, _OPERATORS[name], a, b)


_OF_ITEMS = {"sum": ast.Add(), "any": ast.BitOr(), "all": ast.BitAnd()}
_STARTS = {
    "sum": Scalar(weak_int, const=0),
    "any": Scalar(bool_, const=False),
    "all": Scalar(bool_, const=True),
}


def _of_items(t: Calls, node: ast.Call, name: str, items: tuple[Value, ...], start: list[Value]) -> Value:
    """``sum((a, b, c))``, ``any`` and ``all``: of numbers or rows, one after the other."""
    if len(start) > (name == "sum"):
        raise t.type_error(
            node, f"`{name}` takes a tuple{' and a start' * (name == 'sum')}", "give no more", ARGUMENTS
        )
    total: Value = start[0] if start else _STARTS[name]
    for item in items:
        if name != "sum":
            item = t.converted(node, node, item, bool_)
        total = t.binary(node, _OF_ITEMS[name], total, item)  # type: ignore[attr-defined]
    return total


def known_names() -> list[str]:
    """The functions that kernels know."""
    tables = (
        mathematics.NAMES,
        complex_numbers.NAMES,
        POSITIONS,
        LANES,
        ATOMICS,
        CASTS,
        OF_ROWS,
        _HANDLERS,
        _OF_NODES,
    )
    return sorted({name for table in tables for name in table})


def _mathematics(t: Calls, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    if keywords:
        raise t.type_error(node, f"`{name}` takes no keyword `{next(iter(keywords))}` in kernels",
                           "give its arguments in order")  # fmt: skip
    if len(args) == 1 and isinstance(args[0], TupleValue) and name in ("min", "max"):
        args = list(args[0].items)
    if rows.are_operands(args):
        return rows.computed(t, node, args, lambda scalars: _of_numbers(t, node, name, scalars))
    scalars = [t.as_scalar(n, v) for n, v in zip(argument_nodes(node, args), args, strict=True)]
    return _of_numbers(t, node, name, scalars)


def _of_numbers(t: Calls, node: ast.Call, name: str, scalars: list[Scalar]) -> Value:
    with t.operands_of(node):
        if name in ("divmod", "cdiv") and len(scalars) == 2:
            check_divisor(t.source, *scalars)
        result = mathematics.apply(name, scalars, t.fastmath)
    return TupleValue(result) if isinstance(result, tuple) else result


def _position(t: Calls, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    rank = t.source.launch.rank
    chosen = args[0] if args else keywords.get("dim", NoneValue())
    if isinstance(chosen, NoneValue):
        values = tuple(Scalar(weak_int, POSITIONS[name].create(d)) for d in range(rank))
        return values[0] if rank == 1 else TupleValue(values)
    dim = t.as_scalar(node, chosen)
    if not dim.is_const or not isinstance(dim.const, int) or not 0 <= dim.const < rank:
        raise t.type_error(node, f"`{name}` takes a constant dimension in 0..{rank - 1}: "
                           f"the ndrange has {rank}", "launch with an ndrange of more dimensions")  # fmt: skip
    return Scalar(weak_int, POSITIONS[name].create(dim.const))


# -- memory -----------------------------------------------------------------------------------


# -- atomics ----------------------------------------------------------------------------------


# -- subgroups and groups ---------------------------------------------------------------------


# -- the rest ---------------------------------------------------------------------------------


def _range(t: Calls, node: ast.Call) -> Value:
    return t.range_value(node)


def _unroll(t: Calls, node: ast.Call) -> Value:
    args, _ = t.arguments(node)
    if len(args) == 1 and isinstance(args[0], TupleValue):
        return args[0]
    if len(args) != 1 or not isinstance(args[0], RangeValue):
        raise t.type_error(node, "pk.unroll takes a range", "write pk.unroll(range(4))")
    r = args[0]
    return RangeValue(r.start, r.stop, r.step, unroll=True)


def _static(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    value = args[0] if args else NoneValue()
    if isinstance(value, RangeValue):
        return RangeValue(value.start, value.stop, value.step, unroll=True)
    if flows(value) and not all(leaf.is_const for leaf in leaves(value)):
        raise t.type_error(node, "pk.static takes a value that is known at compile time",
                           "pass it as a `name: pk.static` parameter")  # fmt: skip
    return value


def _conversion(name: str, example: str, function: Callable[[Scalar, DType], Scalar]) -> Callable:
    """``pk.cast(x, dtype)`` and what is like it."""

    def apply(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = given_by_name(t, node, ("x", "dtype"), args, keywords)
        dtype = given.get("dtype")
        if not isinstance(dtype, TypeValue) or "x" not in given:
            raise t.type_error(
                node, f"pk.{name} takes a value and a dtype", f"write pk.{name}(x, pk.{example})"
            )
        value = given["x"]
        if rows.is_row(value):
            return rows.computed(t, node, [value], lambda one: function(one[0], dtype.dtype))
        number = t.as_scalar(node, value)
        with t.operands_of(node):
            return function(number, dtype.dtype)

    return apply


def _random(name: str) -> Callable:
    def apply(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        dtype = keywords.pop("dtype", TypeValue(f32))
        if keywords or len(args) < 2 or not isinstance(dtype, TypeValue) or dtype.dtype.weak:
            raise t.type_error(
                node, f"pk.{name} takes a seed, counters and a dtype", f"write pk.{name}(seed, i)"
            )
        seed, *counters = (t.as_scalar(n, v) for n, v in zip(argument_nodes(node, args), args, strict=True))
        with t.operands_of(node):
            return philox.draw(name, seed, counters, dtype.dtype, t.fastmath)

    return apply


def _stop_gradient(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if len(args) != 1 or keywords:
        raise t.type_error(node, "pk.stop_gradient takes one value")
    value = t.as_scalar(node, args[0])
    if not value.dtype.is_float or value.is_const:
        return value
    return Scalar(value.dtype, differentiation.StopGradientOp.create(materialise(value)))


def _dot(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = given_by_name(t, node, ("a", "b"), args, keywords)
    if len(given) != 2:
        raise t.type_error(node, f"`{ast.unparse(node.func)}` takes two rows", "give both", ARGUMENTS)
    return row_products.product(t, node, given["a"], given["b"])


def _norm(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if not args or not rows.is_row(args[0]):
        raise t.type_error(node, "`norm` takes one row in kernels", "write np.linalg.norm(x[i])")
    return row_reductions.norm(t, node, args[0], args[1:], keywords)


def _cross(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.cross(a, b)``: a row of three numbers, which are computed here; of rows of two elements, one number."""
    if len(args) != 2 or keywords or not all(isinstance(v, TupleValue) or rows.is_row(v) for v in args):
        raise t.type_error(node, "`cross` takes two rows of three elements", "write np.cross(x[i], y[i])")
    if all(_is_pair(t, v) for v in args):
        (a, b), (c, d) = (row_stores.items(t, node, v, 2).items for v in args)
        with t.operands_of(node):
            products = [arithmetic.binary("*", *pair, t.fastmath) for pair in ((a, d), (b, c))]
            return arithmetic.binary("-", *products, t.fastmath)
    (a, b, c), (d, e, f) = (row_stores.items(t, node, v, 3).items for v in args)
    pairs = ((b, f, c, e), (c, d, a, f), (a, e, b, d))
    with t.operands_of(node):
        products = [[arithmetic.binary("*", *p, t.fastmath) for p in (pair[:2], pair[2:])] for pair in pairs]
        return rows.of_numbers(t, node, [arithmetic.binary("-", *two, t.fastmath) for two in products])


def _is_pair(t: Calls, value: Value) -> bool:
    length = rows.lengths(t, value)[0]
    return length.is_const and length.const == 2


def _python_cast(t: Calls, node: ast.Call, name: str, args: list[Value]) -> Value:
    if len(args) != 1:
        raise t.type_error(node, f"`{name}` takes one value, not {len(args)}", f"write {name}(x)")
    return convert(t.as_scalar(node, args[0]), CASTS[name])


def _length(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if len(args) == 1 and isinstance(args[0], TupleValue):
        return Scalar(weak_int, const=len(args[0].items))
    if len(args) != 1 or not rows.is_row(args[0]):
        raise t.type_error(
            node,
            f"len takes an array or a tuple, not {describe(args[0]) if args else 'nothing'}",
            "write len(x), or x.shape[d] for another dimension",
        )
    return t.length(args[0], 0)


_OF_NODES: dict[str, Callable] = {
    "range": _range,
    "loop_range": _range,
    "unroll": _unroll,
    "print": print_values,
    **row_arrays.OF_NODES,
}
_HANDLERS: dict[str, Callable] = {
    "shared": buffer(memory.SharedOp, "shared"),
    "private": buffer(memory.PrivateOp, "private"),
    **{name: private_arrays.filled(name) for name in ("zeros", "ones", "empty", "full")},
    **dict.fromkeys(("dot", "inner", "vdot", "matmul"), _dot),
    **row_products.HANDLERS,
    "eye": private_arrays.eye,
    "copy": row_arrays.copy,
    "diag": row_arrays.diagonal,
    **row_orders.HANDLERS,
    **{f"{name}_like": row_arrays.like(name) for name in ("zeros", "ones", "empty", "full")},
    "norm": _norm,
    "isclose": closeness.is_close,
    "nan_to_num": closeness.nan_to_num,
    "cross": _cross,
    "barrier": barrier,
    "atomic_compare_exchange": compare_exchange,
    "subgroup_reduce": reduction(collectives.SubgroupReduceOp),
    "subgroup_scan": reduction(collectives.SubgroupScanOp),
    "group_reduce": reduction(collectives.GroupReduceOp),
    "subgroup_shuffle": lane(collectives.SubgroupShuffleOp),
    "subgroup_broadcast": lane(collectives.SubgroupBroadcastOp),
    "static": _static,
    "stop_gradient": _stop_gradient,
    "cast": _conversion("cast", "f32", convert),
    "bitcast": _conversion("bitcast", "u32", bitcast),
    "len": _length,
    **{name: _random(name) for name in philox.NAMES},
}
