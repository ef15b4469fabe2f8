"""Calls into the kernel language: index space, memory, atomics, collectives, prints, casts.

Each handler takes the translator, the call node, its positional values and keywords.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir

from pykern.data.operator_functions import ARITHMETIC, COMPARISONS, LOGICAL, OF_ROWS
from pykern.dialect import atomics, collectives, differentiation, index_space, memory, reports
from pykern.errors import ARGUMENTS, LaunchError
from pykern.frontend import arithmetic, mathematics, philox, row_reductions
from pykern.frontend.advice import instead_of_function
from pykern.frontend.casts import bitcast, bits, convert, materialise, memory_type
from pykern.frontend.debug_checks import check_divisor
from pykern.frontend.merging import flows, leaves
from pykern.frontend.values import (
    Array,
    NoneValue,
    RangeValue,
    Scalar,
    Text,
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
ATOMICS = {
    "atomic_add": "add", "atomic_sub": "sub", "atomic_min": "min", "atomic_max": "max",
    "atomic_and_": "and", "atomic_or_": "or", "atomic_xor": "xor", "atomic_exchange": "exchange",
}  # fmt: skip
CASTS = {"int": weak_int, "float": weak_float, "bool": bool_}


def call(t: Calls, node: ast.Call, name: str) -> Value:
    """The value of ``name(...)``."""
    if name in _OF_NODES:
        return _OF_NODES[name](t, node)
    args, keywords = t.arguments(node)
    if name in OF_ROWS and args and isinstance(args[0], Array):
        return row_reductions.call(t, node, name, args[0], args[1:], keywords)
    if name in mathematics.NAMES:
        return _mathematics(t, node, name, args, keywords)
    if name in POSITIONS:
        return _position(t, node, name, args, keywords)
    if name in LANES:
        return Scalar(weak_int, LANES[name].create())
    if name in ATOMICS:
        return _atomic(t, node, ATOMICS[name], args)
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
    given = _given(t, node, ("a", "b"), args, keywords)
    if len(given) != 2:
        raise t.type_error(node, f"`{name}` takes two numbers", "give both", ARGUMENTS)
    a, b = given["a"], given["b"]
    if name in LOGICAL:
        a, b = (arithmetic.truth(t.as_scalar(node, v)) for v in (a, b))
    return t.operator(node, _OPERATORS[name], a, b)


def known_names() -> list[str]:
    """The functions that kernels know."""
    tables = (mathematics.NAMES, POSITIONS, LANES, ATOMICS, CASTS, OF_ROWS, _HANDLERS, _OF_NODES)
    return sorted({name for table in tables for name in table})


def _mathematics(t: Calls, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    if keywords:
        raise t.type_error(node, f"`{name}` takes no keyword `{next(iter(keywords))}` in kernels",
                           "give its arguments in order")  # fmt: skip
    if len(args) == 1 and isinstance(args[0], TupleValue) and name in ("min", "max"):
        args = list(args[0].items)
    scalars = [t.as_scalar(n, v) for n, v in zip(_argument_nodes(node, args), args, strict=True)]
    with t.operands_of(node):
        if name in ("divmod", "cdiv") and len(scalars) == 2:
            check_divisor(t.source, *scalars)
        result = mathematics.apply(name, scalars, t.fastmath)
    return TupleValue(result) if isinstance(result, tuple) else result


def _given(
    t: Calls, node: ast.Call, names: tuple[str, ...], args: list[Value], keywords: dict
) -> dict[str, Value]:
    """Arguments by name. Raises `KernelTypeError` for one too many, and for a name there is not."""
    unknown = [*keywords.keys() - set(names), *keywords.keys() & set(names[: len(args)])]
    if len(args) > len(names) or unknown:
        what = f"not `{unknown[0]}` as well" if unknown else f"not {len(args)} values"
        raise t.type_error(node, f"`{ast.unparse(node.func)}` takes {', '.join(names)}: {what}",
                           "give each argument once", ARGUMENTS)  # fmt: skip
    return dict(zip(names, args, strict=False)) | keywords


def _argument_nodes(node: ast.Call, args: list[Value]) -> list[ast.expr]:
    return list(node.args) if len(node.args) == len(args) else [node] * len(args)


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


def _buffer(made: type[memory.BufferOp], space: str) -> Callable:
    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = _given(t, node, ("shape", "dtype"), args, keywords)
        if set(given) != {"shape", "dtype"} or not isinstance(given["dtype"], TypeValue):
            wrong = given.get("dtype")
            what = f", and this is {describe(wrong)}" if wrong is not None else ""
            written = ast.unparse(node.args[0]) if node.args else "(16, 16)"
            raise t.type_error(
                node, f"pk.{space} takes a shape and a dtype{what}", f"write pk.{space}({written}, pk.f32)"
            )
        dtype = given["dtype"].dtype
        if dtype.weak:
            raise t.type_error(
                node, f"pk.{space} takes a dtype of fixed width, not {dtype.name}", "write pk.i64"
            )
        if made is memory.SharedOp and _is_sized_at_launch(given["shape"]):
            return _shared_of_launch(t, node, dtype)
        shape = _constant_shape(t, node, given["shape"], space)
        buffer = made.create(shape, memory_type(dtype))
        return Array(f"pk.{space} memory", dtype, buffer, space, shape)

    return create


def _is_sized_at_launch(shape: Value) -> bool:
    if isinstance(shape, TupleValue) and len(shape.items) == 1:
        shape = shape.items[0]
    return isinstance(shape, NoneValue) or (
        isinstance(shape, Scalar) and shape.is_const and shape.const == -1
    )


def _shared_of_launch(t: Calls, node: ast.Call, dtype: DType) -> Value:
    """``pk.shared(None, dtype)``: as many elements as fit in the launch's `shared_bytes`."""
    if t.shared_bytes is None:
        raise LaunchError(
            f"`{t.source.function.name}` has a shared array without a length, and is launched without shared_bytes",
            t.span(node),
            f"say how many bytes: shared_bytes=64 * {dtype.itemsize}",
            t.call_notes(),
        )
    buffer = memory.DynamicSharedOp.create(t.shared_bytes, memory_type(dtype))
    return Array("pk.shared memory", dtype, buffer, "shared", (None,))


def _constant_shape(t: Calls, node: ast.Call, value: Value, space: str) -> tuple[int, ...]:
    items = value.items if isinstance(value, TupleValue) else (value,)
    shape: list[int] = []
    for item in items:
        length = t.as_scalar(node.args[0] if node.args else node, item)
        if not length.is_const or not isinstance(length.const, int) or length.const < 0:
            raise t.type_error(node, f"the shape of pk.{space} must be known at compile time",
                               "use constants, captured values, or a pk.static parameter")  # fmt: skip
        shape.append(length.const)
    return tuple(shape)


def _barrier(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if args or keywords:
        raise t.type_error(node, "pk.barrier takes no arguments: all of a group meet", "write pk.barrier()")
    memory.BarrierOp.create()
    return NoneValue()


# -- atomics ----------------------------------------------------------------------------------


def _element(t: Calls, node: ast.Call, args: list[Value], count: int) -> tuple[Array, list[ir.Value]]:
    if len(args) != count or not isinstance(args[0], Array):
        raise t.type_error(node, f"an atomic takes an array, an index and {count - 2} more",
                           "write pk.atomic_add(x, i, value) or pk.atomic_add(x, (i, j), value)")  # fmt: skip
    array = args[0]
    items = args[1].items if isinstance(args[1], TupleValue) else (args[1],)
    if len(items) != len(array.shape):
        raise t.type_error(
            node.args[1],
            f"{describe(array)} has {len(array.shape)} dimensions, {len(items)} given",
            "give the index as a tuple: pk.atomic_add(x, (i, j), value)",
        )
    if array.dtype.is_storage:
        raise t.type_error(node, f"atomics are not available for {array.dtype.name}", "use pk.f32")
    if not array.writes:
        raise t.type_error(node, f"`{array.name}` is annotated pk.In: the kernel may not write it",
                           "annotate it pk.InOut")  # fmt: skip
    return array, [*array.outer, *(t.index(node.args[1], v, array, d, node) for d, v in enumerate(items))]


def _atomic(t: Calls, node: ast.Call, kind: str, args: list[Value]) -> Value:
    array, indices = _element(t, node, args, 3)
    dtype = array.dtype
    if dtype == bool_ or (dtype.is_float and kind in ("and", "or", "xor")):
        raise t.type_error(node, f"atomic `{kind}` is not available for {dtype.name}",
                           "use an array of pk.i32 or pk.u32")  # fmt: skip
    if dtype.kind == "u" and kind in ("min", "max"):
        kind = "u" + kind
    with t.operands_of(node):
        value = materialise(arithmetic.element(t.as_scalar(node.args[2], args[2]), dtype))
    return Scalar(dtype, atomics.AtomicRmwOp.create(kind, value, array.ssa, indices))


def _compare_exchange(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    array, indices = _element(t, node, args, 4)
    if array.dtype == bool_:
        raise t.type_error(node, "atomics are not available for bool", "use pk.i32")
    with t.operands_of(node):
        expected, desired = (
            materialise(arithmetic.element(t.as_scalar(node, v), array.dtype)) for v in args[2:]
        )
    return Scalar(array.dtype, atomics.AtomicCasOp.create(expected, desired, array.ssa, indices))


# -- subgroups and groups ---------------------------------------------------------------------


def _reduction(made: type[collectives.ReductionOp]) -> Callable:
    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        is_scan = made is collectives.SubgroupScanOp
        given = _given(t, node, ("value", "op", "exclusive")[: 2 + is_scan], args, keywords)
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


def _lane(made: type[collectives.LaneOp]) -> Callable:
    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = _given(t, node, ("value", "lane"), args, keywords)
        value = _value_of(t, node, given)
        if made is collectives.SubgroupShuffleOp and "lane" not in given:
            raise t.type_error(node, "a shuffle takes the lane to read", "write pk.subgroup_shuffle(x, lane)")
        lane = convert(t.as_scalar(node, given.get("lane", Scalar(weak_int, const=0))), weak_int)
        return Scalar(value.dtype, made.create(materialise(value), materialise(lane)))

    return create


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
        given = _given(t, node, ("x", "dtype"), args, keywords)
        dtype = given.get("dtype")
        if not isinstance(dtype, TypeValue) or "x" not in given:
            raise t.type_error(
                node, f"pk.{name} takes a value and a dtype", f"write pk.{name}(x, pk.{example})"
            )
        value = t.as_scalar(node, given["x"])
        with t.operands_of(node):
            return function(value, dtype.dtype)

    return apply


def _random(name: str) -> Callable:
    def apply(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        dtype = keywords.pop("dtype", TypeValue(f32))
        if keywords or len(args) < 2 or not isinstance(dtype, TypeValue) or dtype.dtype.weak:
            raise t.type_error(
                node, f"pk.{name} takes a seed, counters and a dtype", f"write pk.{name}(seed, i)"
            )
        seed, *counters = (t.as_scalar(n, v) for n, v in zip(_argument_nodes(node, args), args, strict=True))
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


def _python_cast(t: Calls, node: ast.Call, name: str, args: list[Value]) -> Value:
    if len(args) != 1:
        raise t.type_error(node, f"`{name}` takes one value, not {len(args)}", f"write {name}(x)")
    return convert(t.as_scalar(node, args[0]), CASTS[name])


def _length(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if len(args) == 1 and isinstance(args[0], TupleValue):
        return Scalar(weak_int, const=len(args[0].items))
    if len(args) != 1 or not isinstance(args[0], Array) or not args[0].shape:
        raise t.type_error(
            node,
            f"len takes an array or a tuple, not {describe(args[0]) if args else 'nothing'}",
            "write len(x), or x.shape[d] for another dimension",
        )
    return t.length(args[0], 0)


def _print(t: Calls, node: ast.Call) -> Value:
    args, keywords = t.arguments(node)
    separator, end = keywords.get("sep", Text(" ")), keywords.get("end", Text("\n"))
    unknown = set(keywords) - {"sep", "end"}
    if unknown or not isinstance(separator, Text) or not isinstance(end, Text):
        raise t.type_error(node, "print takes values, and the strings sep and end",
                           "write pk.print('x =', x)")  # fmt: skip
    parts: list[str] = []
    values: list[Scalar] = []
    for item, value in zip(_argument_nodes(node, args), args, strict=True):
        parts.append(_template(t, item, value, values))
    template = _escaped(separator).join(parts) + _escaped(end)
    reports.PrintOp.create(template, [v.dtype.name for v in values], [bits(v) for v in values])
    return NoneValue()


def _template(t: Calls, node: ast.expr, value: Value, values: list[Scalar]) -> str:
    if isinstance(value, Text):
        return _escaped(value)
    if isinstance(value, TupleValue):
        return "(" + ", ".join(_template(t, node, item, values) for item in value.items) + ")"
    values.append(t.as_scalar(node, value))
    return "{}"


def _escaped(text: Text) -> str:
    return text.value.replace("{", "{{").replace("}", "}}")


def assertion(t: Calls, node: ast.Assert) -> None:
    """``assert condition, "message"``."""
    condition = arithmetic.truth(t.scalar(node.test))
    message = t.expression(node.msg) if node.msg else Text("")
    if not isinstance(message, Text):
        raise t.type_error(node.msg or node, "the message of an assert is a string constant in kernels",
                           "print the value with pk.print before")  # fmt: skip
    if condition.is_const and condition.const:
        return
    reports.AssertOp.create(materialise(condition), message.value)


_OF_NODES: dict[str, Callable] = {"range": _range, "loop_range": _range, "unroll": _unroll, "print": _print}
_HANDLERS: dict[str, Callable] = {
    "shared": _buffer(memory.SharedOp, "shared"),
    "private": _buffer(memory.PrivateOp, "private"),
    "barrier": _barrier,
    "atomic_compare_exchange": _compare_exchange,
    "subgroup_reduce": _reduction(collectives.SubgroupReduceOp),
    "subgroup_scan": _reduction(collectives.SubgroupScanOp),
    "group_reduce": _reduction(collectives.GroupReduceOp),
    "subgroup_shuffle": _lane(collectives.SubgroupShuffleOp),
    "subgroup_broadcast": _lane(collectives.SubgroupBroadcastOp),
    "static": _static,
    "stop_gradient": _stop_gradient,
    "cast": _conversion("cast", "f32", convert),
    "bitcast": _conversion("bitcast", "u32", bitcast),
    "len": _length,
    **{name: _random(name) for name in philox.NAMES},
}
