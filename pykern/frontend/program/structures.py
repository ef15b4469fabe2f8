"""Dicts and lists that a program makes, and what changes them: ``d["k"] = v``, ``x.append(v)``, ``del d["k"]``.

Comes in: values with `origins`, numbers of the dicts and lists they may be; negative ones are the caller's. Goes out:
new values of the names that hold the structure, which nobody can tell from Python's change in place; where somebody
could, it is refused (`sharing`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pykern.data.source import LIST
from pykern.frontend.program import appended_lists, arguments, sharing
from pykern.frontend.program.sharing import is_mutable
from pykern.frontend.program.values import Cell, DictValue, GrowingList, Structure, parts, with_parts
from pykern.frontend.values import ComplexValue, Scalar, Text, TupleValue, Value, describe

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

Make = Callable[[Structure], Structure]
CHANGES = ("append", "extend", "update")
NAMES = ("dict", "list", "tuple")


def new(t: ProgramTranslator, value: Structure) -> Structure:
    """A dict or list that the program has just made."""
    t.structures += 1
    return replace(value, origins=frozenset((t.structures,)))


def owned(t: ProgramTranslator, value: Value) -> Value:
    """A value whose dicts and lists nobody else has."""
    if not isinstance(value, TupleValue | DictValue):
        return value
    made = with_parts(value, [owned(t, item) for item in parts(value)])
    return new(t, made) if is_mutable(made) else made


def of_caller(value: Value, number: int) -> Value:
    """An argument: its dicts and lists are the caller's."""
    if not isinstance(value, TupleValue | DictValue):
        return value
    made = with_parts(value, [of_caller(item, number) for item in parts(value)])
    return replace(made, origins=frozenset((-1 - number,))) if is_mutable(made) else made


# -- new ones -------------------------------------------------------------------------------------


def kind(value: Value) -> str:
    """ "tuple", "list" or "dict" of a structure, "" of other values."""
    if isinstance(value, TupleValue) and not isinstance(value, ComplexValue):
        return "list" if value.name == LIST else "tuple"
    return "dict" if isinstance(value, DictValue) else ""


def call(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """``dict(d, k=v)``, ``list(items)``, ``tuple(items)``."""
    given = args[0] if args else TupleValue(())
    if len(args) > 1 or (keywords and name != "dict"):
        raise t.type_error(node, f"`{name}` takes one value", f"write {name}(items)")
    if name == "dict":
        pairs = dict(given.items) if isinstance(given, DictValue) else _of_pairs(t, node, given)
        return new(t, DictValue(tuple((pairs | keywords).items())))
    items = tuple(t.items(node, given))
    return new(t, TupleValue(items, LIST)) if name == "list" else TupleValue(items)


def _of_pairs(t: ProgramTranslator, node: ast.AST, given: Value) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for pair in t.items(node, given):
        if not isinstance(pair, TupleValue) or len(pair.items) != 2 or not isinstance(pair.items[0], Text):
            raise t.type_error(node, f"dict takes pairs of a string and a value, not {describe(pair)}",
                               "write dict(zip(names, values))")  # fmt: skip
        found[pair.items[0].value] = pair.items[1]
    return found


# -- changes --------------------------------------------------------------------------------------


def assign(t: ProgramTranslator, target: ast.Subscript, value: Value) -> None:
    """``d["k"] = v``, ``x[2] = v``, also of what is inside: ``p["layer"]["w"] = v``."""
    _change(t, target, target.value, lambda held: _with_item(t, target, held, value))


def delete(t: ProgramTranslator, target: ast.Subscript) -> None:
    """``del d["k"]``."""

    def without(held: Structure) -> Structure:
        place = _place(t, target, held)
        return replace(held, items=(*held.items[:place], *held.items[place + 1 :]))

    _change(t, target, target.value, without)


def changed_by_method(t: ProgramTranslator, node: ast.Call) -> bool:
    """Whether a statement is ``x.append(v)``, ``x.extend(t)`` or ``d.update(e)`` of a structure; then it is done."""
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr not in CHANGES or _root(called.value) is None:
        return False
    held = t.expression(called.value)
    if isinstance(held, GrowingList) and called.attr == "append":
        appended_lists.append(t, node, held, t.expression(node.args[0]))
        return True
    wanted = DictValue if called.attr == "update" else TupleValue
    if not isinstance(held, wanted) or not is_mutable(held):
        return False
    args, keywords = t.arguments(node)
    if called.attr == "update":
        added = call(t, node, "dict", args, keywords)
        assert isinstance(added, DictValue)
        more = dict(added.items)
        _change(t, node, called.value, lambda d: replace(d, items=tuple((dict(d.items) | more).items())))
        return True
    item = arguments.bind(t, node, called.attr, "value", args, keywords)["value"]
    items = (item,) if called.attr == "append" else tuple(t.items(node, item))
    _change(t, node, called.value, lambda x: replace(x, items=(*x.items, *items)))
    return True


def _change(t: ProgramTranslator, node: ast.AST, target: ast.expr, make: Make) -> None:
    """Let the structure `target` be another one wherever this function names it."""
    held = t.expression(target)
    if not isinstance(held, TupleValue | DictValue) or not is_mutable(held):
        raise t.type_error(node, f"{describe(held)} cannot be assigned to in parts",
                           "make a new one: d = {**d, 'k': v}, t = (*t[:2], v)")  # fmt: skip
    made = make(held)
    sharing.check(t, node, ast.unparse(target), held)
    sharing.check_loops(t, node, ast.unparse(target), held, made)
    for name, value in list(t.names.items()):
        if not name.startswith(".") and any(True for _ in sharing.occurrences(value, held.origins)):
            t.names[name] = _replaced(value, held.origins, made)
    for loop in t.running:
        for n in range(loop.position + 1, len(loop)):
            loop[n] = _replaced(loop[n], held.origins, made)


def _replaced(value: Value, origins: frozenset[int], made: Value) -> Value:
    """The value, `made` in the place of the structure with these origins."""
    if not isinstance(value, TupleValue | DictValue):
        return value
    if value.origins & origins:
        return made
    return with_parts(value, [_replaced(item, origins, made) for item in parts(value)])


def _root(target: ast.expr) -> str | None:
    """The name a chain of items begins with."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def _with_item(t: ProgramTranslator, target: ast.Subscript, held: Structure, value: Value) -> Structure:
    if isinstance(held, DictValue):
        key = t.expression(target.slice)
        if not isinstance(key, Text):
            raise t.type_error(target, "the keys of a dict are strings in array programs",
                               "use a list for what is counted")  # fmt: skip
        return replace(held, items=tuple((dict(held.items) | {key.value: value}).items()))
    items = list(held.items)
    items[_place(t, target, held)] = value
    return replace(held, items=tuple(items))


def _place(t: ProgramTranslator, target: ast.Subscript, held: Structure) -> int:
    """The place of the item a subscript names."""
    key = t.expression(target.slice)
    if isinstance(held, DictValue):
        names = [name for name, _ in held.items]
        if isinstance(key, Text) and key.value in names:
            return names.index(key.value)
        raise t.type_error(
            target, f"{describe(held)} has no such key", f"there are {', '.join(names) or 'none'}"
        )
    number = key.const if isinstance(key, Scalar) and key.is_const else None
    if not isinstance(number, int):
        raise t.type_error(target, "the index of a list item that is assigned must be known at compile time",
                           "loop over range(n), which is unrolled, or keep an array: pk.stack(t)")  # fmt: skip
    if not -len(held.items) <= number < len(held.items):
        raise t.type_error(target, f"{number} is outside of {describe(held)}", "add to its end: x.append(v)")
    return number % len(held.items)


def is_number(value: Value) -> bool:
    """Whether ``+=`` makes a new value of it: no array that is written in place."""
    return isinstance(value, Scalar) or (isinstance(value, Cell) and value.is_scalar)
