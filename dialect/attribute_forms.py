"""What an attribute may hold, as functions: marks, numbers, lengths, names, tables.

Comes in: an op and the value of one of its attributes. Goes out: what is wrong with it, as the end of a sentence
that begins with the attribute's name, or None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mlir import ir

Check = Callable[[ir.Operation, ir.Attribute], "str | None"]


@dataclass(frozen=True)
class Form:
    """What a value has to be, as the reference names it, and the function that looks for what is wrong with one."""

    says: str
    check: Check

    def __call__(self, op: ir.Operation, value: ir.Attribute) -> str | None:
        return self.check(op, value)


def _form(says: str) -> Callable[[Check], Form]:
    return lambda check: Form(says, check)


CHECKPOINT = re.compile(r"(every|binomial)\((\d{1,18})\)")
"""How a loop is checkpointed, where it is not ``all``."""
_SHOWN = 60


def shown(value: ir.Attribute) -> str:
    """The value as a message may show it."""
    text = str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def small_integer(value: ir.Attribute) -> int | None:
    """An integer of at most 64 bits; None for all else."""
    if not isinstance(value, ir.IntegerAttr):
        return None
    return value.value if isinstance(value.type, ir.IndexType) or value.type.width <= 64 else None


@_form("unit")
def mark(op: ir.Operation, value: ir.Attribute) -> str | None:
    """A name alone."""
    return None if isinstance(value, ir.UnitAttr) else "is a mark, and is written without a value"


@_form("string")
def string(op: ir.Operation, value: ir.Attribute) -> str | None:
    return None if isinstance(value, ir.StringAttr) else f'is a string, such as "saxpy", not {shown(value)}'


@_form("name of a function")
def symbol(op: ir.Operation, value: ir.Attribute) -> str | None:
    """The name of a function."""
    if isinstance(value, ir.FlatSymbolRefAttr):
        return None
    return f"is the name of a function, such as @saxpy, not {shown(value)}"


@_form("type of floats")
def float_type(op: ir.Operation, value: ir.Attribute) -> str | None:
    """The type of floats."""
    if isinstance(value, ir.TypeAttr) and isinstance(value.value, ir.FloatType):
        return None
    return f"is a type of floats, such as f16, not {shown(value)}"


def integer(least: int, most: int | None = None) -> Form:
    """A number in a range."""
    said = f"{least}..{most}" if most is not None else f"{least} and above"

    def check(op: ir.Operation, value: ir.Attribute) -> str | None:
        number = small_integer(value)
        if number is None or number < least or (most is not None and number > most):
            return f"is an integer in {said}, not {shown(value)}"
        return None

    return Form(f"integer in {said}", check)


def integers_of(value: ir.Attribute) -> tuple[int, ...] | None:
    """What an array of integers holds, as ``array<i64: 0, 1>`` or ``[0, 1]``; None for another attribute."""
    if isinstance(value, ir.DenseI64ArrayAttr):
        return tuple(value)
    if isinstance(value, ir.ArrayAttr) and all(isinstance(item, ir.IntegerAttr) for item in value):
        return tuple(ir.IntegerAttr(item).value for item in value)
    return None


def lengths(least: int | None, count: int | None = None, ordered: bool = False) -> Form:
    """An array of i64; `ordered`: none is less than the one before."""

    def check(op: ir.Operation, value: ir.Attribute) -> str | None:
        if not isinstance(value, ir.DenseI64ArrayAttr):
            return f"is an array of i64, such as array<i64: 8, 8>, not {shown(value)}"
        numbers = tuple(value)
        if count is not None and len(numbers) != count:
            return f"has {len(numbers)} numbers rather than {count}"
        if least is not None and any(number < least for number in numbers):
            return f"has a number below {least}: {shown(value)}"
        if ordered and list(numbers) != sorted(numbers):
            return f"goes from the least to the largest value: {shown(value)}"
        return None

    many = "array of i64" if count is None else f"array of {count} i64"
    return Form(many if least is None else f"{many}, {least} and above", check)


def argument_numbers() -> Form:
    """Numbers of arguments of the function, each once; in either of MLIR's forms, as `integers_of` reads them."""
    numbers = lengths(0)

    def check(op: ir.Operation, value: ir.Attribute) -> str | None:
        given, count = integers_of(value), _arguments(op)
        wrong = numbers(op, value if given is None else ir.DenseI64ArrayAttr.get(given))
        if wrong is not None or given is None:
            return wrong
        if len(set(given)) != len(given):
            return f"names an argument twice: {shown(value)}"
        if any(number >= count for number in given):
            return f"names an argument that the function does not have: {shown(value)} of {count}"
        return None

    return Form("array of i64: numbers of arguments", check)


@_form("array of i64: for each result the number of an argument, or -1")
def result_numbers(op: ir.Operation, value: ir.Attribute) -> str | None:
    """For each result the number of an argument, or -1."""
    wrong = lengths(-1)(op, value)
    if wrong is not None:
        return wrong
    given, count = tuple(ir.DenseI64ArrayAttr(value)), _arguments(op)
    if any(number >= count for number in given):
        return f"names an argument that the function does not have: {shown(value)} of {count}"
    kind = _function_type(op)
    if kind is not None and len(given) < len(kind.results):
        return f"has {len(given)} numbers for {len(kind.results)} results"
    return None


def array_of(kind: type[ir.Attribute], said: str, count: int | None = None) -> Form:
    """An array of attributes of one kind."""

    def check(op: ir.Operation, value: ir.Attribute) -> str | None:
        right = isinstance(value, ir.ArrayAttr) and all(isinstance(item, kind) for item in value)
        return None if right and count in (None, len(value)) else f"is {said}, not {shown(value)}"

    return Form(said, check)


def table(kinds: Mapping[str, type[ir.Attribute]], needed: tuple[str, ...] = ()) -> Form:
    """Values by name, each of its kind; some may be left out."""

    def check(op: ir.Operation, value: ir.Attribute) -> str | None:
        if not isinstance(value, ir.DictAttr):
            return f"is a table with {', '.join(kinds)}, not {shown(value)}"
        names = {named.name for named in value}
        for named in value:
            if named.name not in kinds:
                return f"has `{named.name}`: there are {', '.join(kinds)}"
            is_wide = kinds[named.name] is ir.IntegerAttr and small_integer(named.attr) is None
            if is_wide or not isinstance(named.attr, kinds[named.name]):
                return f"has {shown(named.attr)} for `{named.name}`"
        missing = [name for name in needed if name not in names]
        return f"lacks `{missing[0]}`" if missing else None

    return Form(f"dictionary of {', '.join(kinds)}", check)


def either(*forms: Form) -> Form:
    """One form or another."""

    def check(op: ir.Operation, value: ir.Attribute) -> str | None:
        wrong = [form(op, value) for form in forms]
        return None if None in wrong else ", or ".join(w for w in wrong if w)

    return Form(" or ".join(form.says for form in forms), check)


@_form("string of JSON")
def json_text(op: ir.Operation, value: ir.Attribute) -> str | None:
    """A string that describes a structure."""
    wrong = string(op, value)
    if wrong is not None:
        return wrong
    try:
        json.loads(ir.StringAttr(value).value)
    except (ValueError, RecursionError) as error:
        return f"is no JSON: {error}"
    return None


@_form('"all", "every(k)" or "binomial(s)"')
def checkpoint(op: ir.Operation, value: ir.Attribute) -> str | None:
    """How a loop keeps its states."""
    if isinstance(value, ir.StringAttr):
        found = CHECKPOINT.fullmatch(value.value)
        if value.value == "all" or (found is not None and int(found[2]) > 0):
            return None
    return f'is "all", "every(k)" or "binomial(s)", not {shown(value)}'


def _function_type(op: ir.Operation) -> ir.FunctionType | None:
    if "function_type" not in op.attributes:
        return None
    kind = op.attributes["function_type"]
    if not isinstance(kind, ir.TypeAttr) or not isinstance(kind.value, ir.FunctionType):
        return None
    return ir.FunctionType(kind.value)


def _arguments(op: ir.Operation) -> int:
    """How many arguments the function has; of what is no function as many as its region."""
    kind = _function_type(op)
    if kind is not None:
        return len(kind.inputs)
    blocks = list(op.regions[0].blocks) if len(op.regions) else []
    return len(list(blocks[0].arguments)) if blocks else 0
