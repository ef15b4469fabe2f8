"""``pk.vjp``, ``pk.jvp`` and ``pk.hvp`` inside of an array program, as they are called outside of one.

Comes in: a function and values of the program. Goes out: its value beside a `PullValue` that takes cotangents, its
value beside the tangent, the Hessian times a vector. Cotangents and tangents have the form of what they belong to; None
is zero.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from pykern.data.program_source import ProgramDerivative
from pykern.frontend.casts import convert, materialise, zero
from pykern.frontend.program import arguments, elementwise
from pykern.frontend.program.gradients import GradientValue, function, names_of, policy
from pykern.frontend.program.tensors import fill, from_scalar
from pykern.frontend.program.traced import Slot, Traced, is_variable, trace
from pykern.frontend.program.values import Cell, DictValue
from pykern.frontend.values import Extension, NoneValue, Scalar, TupleValue, Value, describe

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


@dataclass(frozen=True, eq=False)
class PullValue(Extension):
    """What `pk.vjp` gives beside the value: the function of cotangents, as it was there."""

    name: str
    traced: Traced
    value: Value
    active: tuple[int, ...]
    count: int
    checkpoint: str

    @property
    def description(self) -> str:
        return f"the pullback of {self.name}"


def _vjp(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``value, pull = pk.vjp(f, *args, checkpoint="all")``."""
    kept = policy(t, node, keywords.pop("checkpoint", NoneValue()))
    if keywords or not args:
        raise t.type_error(
            node, "`vjp` takes a function and its arguments", "write value, pull = pk.vjp(f, x)"
        )
    f, *args = args
    function(t, node, "vjp", f)
    active = tuple(n for n, value in enumerate(args) if any(_floats(value)))
    if not active:
        raise t.type_error(node, f"{describe(f)} is given no float: nothing can be differentiated")
    traced = trace(t, node, f, args, {}, _named(f, active))
    value = t.called_with(node, f, args, {})
    return TupleValue((value, PullValue(describe(f), traced, value, active, len(args), kept)))


def pull(t: ProgramTranslator, node: ast.Call, callee: PullValue, args: list, keywords: dict) -> Value:
    """The cotangents of the arguments for that of the value, a tuple."""
    given = arguments.bind(t, node, "pull", "cotangent", args, keywords)["cotangent"]
    seeds = list(_matched(t, node, callee.value, given, "the cotangent", constants=False))
    if not seeds:
        raise t.type_error(node, f"{callee.name} gives no float: nothing can be differentiated")
    places = tuple(range(len(callee.active)))
    asked = ProgramDerivative("vjp", places, callee.checkpoint, several=True)
    found = callee.traced.derivative(t, asked, seeds)
    assert isinstance(found, TupleValue)
    by_number = dict(zip(callee.active, found.items, strict=True))
    return TupleValue(tuple(by_number.get(n, NoneValue()) for n in range(callee.count)))


def _jvp(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``value, tangent = pk.jvp(f, primals, tangents)``."""
    given = arguments.bind(t, node, "jvp", "f primals tangents", args, keywords)
    return _pushed(t, node, "jvp", function(t, node, "jvp", given["f"]), given)


def _hvp(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``pk.hvp(f, primals, tangents, checkpoint="all")``: the tangent of the gradient."""
    given = arguments.bind(t, node, "hvp", "f primals tangents checkpoint=", args, keywords)
    kept = policy(t, node, given["checkpoint"])
    primals = _items(t, node, "hvp", given["primals"])
    every = tuple(n for n, value in enumerate(primals) if any(_floats(value)))
    f = function(t, node, "hvp", given["f"])
    if not every:
        raise t.type_error(node, f"{describe(f)} is given no float: nothing can be differentiated")
    asked = ProgramDerivative("gradient", every, kept, value=False, several=True)
    found = _pushed(t, node, "hvp", GradientValue(f, asked), given).items[1]
    assert isinstance(found, TupleValue)
    by_number = dict(zip(every, found.items, strict=True))
    products = tuple(by_number.get(n, NoneValue()) for n in range(len(primals)))
    return TupleValue(products) if len(primals) > 1 else products[0]


def _pushed(t: ProgramTranslator, node: ast.Call, name: str, f: Value, given: dict[str, Value]) -> TupleValue:
    primals, tangents = (_items(t, node, name, given[key]) for key in ("primals", "tangents"))
    if len(primals) != len(tangents):
        raise t.type_error(node, f"{len(tangents)} tangents for {len(primals)} arguments",
                           "give one for each, None for a constant")  # fmt: skip
    active = tuple(n for n, value in enumerate(tangents) if not isinstance(value, NoneValue))
    if not active:
        raise t.type_error(node, "every tangent is None", "give one for what the derivative is taken by")
    seeds = [
        seed
        for n in active
        for seed in _matched(t, node, primals[n], tangents[n], "the tangent", constants=True)
    ]
    traced = trace(t, node, f, primals, {}, _named(f, active))
    found = traced.derivative(t, ProgramDerivative("jvp", tuple(range(len(active)))), seeds)
    assert isinstance(found, TupleValue)
    return found


def _named(f: Value, active: tuple[int, ...]) -> dict[Slot, str]:
    names = names_of(f) or []
    return {n: names[n] if n < len(names) else f"argument {n}" for n in active}


def _items(t: ProgramTranslator, node: ast.AST, name: str, value: Value) -> list[Value]:
    if isinstance(value, TupleValue):
        return list(value.items)
    raise t.type_error(node, f"`{name}` takes tuples of primals and tangents, not {describe(value)}",
                       f"write pk.{name}(f, (x,), (v,))")  # fmt: skip


def _floats(value: Value) -> Iterator[bool]:
    """For every number and array in a value: whether a derivative can be taken by it."""
    if isinstance(value, TupleValue | DictValue):
        for item in value.items:
            yield from _floats(item[1] if isinstance(item, tuple) else item)
    elif isinstance(value, Cell | Scalar):
        yield value.dtype.is_float


def _matched(
    t: ProgramTranslator, node: ast.AST, form: Value, given: Value, what: str, constants: bool
) -> Iterator[ir.Value]:
    """The derivatives of the floats of `form`, in order, each in the type it has there.

    `constants`: of numbers that are known, too.
    """
    if isinstance(form, TupleValue | DictValue):
        for inner, item in _pairs(t, node, form, given, what):
            yield from _matched(t, node, inner, item, what, constants)
    elif isinstance(form, Cell) and form.dtype.is_float:
        yield _array(t, node, form, given, what)
    elif (
        isinstance(form, Scalar)
        and form.dtype.is_float
        and (is_variable(form) if constants else not form.is_const)
    ):
        number = (
            zero(form.dtype)
            if isinstance(given, NoneValue)
            else convert(t.as_scalar(node, given), form.dtype)
        )
        yield materialise(number)


def _pairs(
    t: ProgramTranslator, node: ast.AST, form: TupleValue | DictValue, given: Value, what: str
) -> list[tuple[Value, Value]]:
    if isinstance(given, NoneValue):
        return [(inner, given) for inner in _values(form)]
    fits = isinstance(given, TupleValue | DictValue) and len(given.items) == len(form.items)
    if isinstance(form, DictValue):
        fits = (
            fits
            and isinstance(given, DictValue)
            and {k for k, _ in given.items} == {k for k, _ in form.items}
        )
    if not fits or isinstance(given, DictValue) != isinstance(form, DictValue):
        raise t.type_error(node, f"{what} is {describe(given)}, and belongs to {describe(form)}",
                           "give it the form of what it belongs to")  # fmt: skip
    if isinstance(form, DictValue) and isinstance(given, DictValue):
        return [(inner, dict(given.items)[key]) for key, inner in form.items]
    assert isinstance(given, TupleValue)
    return list(zip(_values(form), given.items, strict=True))


def _values(form: TupleValue | DictValue) -> list[Value]:
    return [v for _, v in form.items] if isinstance(form, DictValue) else list(form.items)


def _array(t: ProgramTranslator, node: ast.AST, form: Cell, given: Value, what: str) -> ir.Value:
    if isinstance(given, NoneValue):
        return fill(zero(form.dtype), form.dtype, form.shape)
    if isinstance(given, Scalar) and not form.shape:
        return from_scalar(convert(given, form.dtype), form.dtype)
    if not isinstance(given, Cell) or given.shape != form.shape:
        raise t.type_error(node, f"{what} is {describe(given)}, and belongs to {describe(form)}",
                           "give it the shape of what it belongs to: pk.ones_like(y)")  # fmt: skip
    made = given if given.dtype == form.dtype else elementwise.cast(t, node, given, form.dtype)
    assert isinstance(made, Cell)
    return made.ssa


HANDLERS: dict[str, Callable] = {"vjp": _vjp, "jvp": _jvp, "hvp": _hvp}
