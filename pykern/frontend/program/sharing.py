"""Who would see a change of a dict or list that a program makes, and whether that can be given.

Comes in: a structure that is to be changed, with its `origins`. Goes out: nothing, where all that hold it are names of
the function that changes it, and surely hold this one; an error that says who else does. Two values whose origins have
nothing in common are never the same dict.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pykern.data.source import LIST
from pykern.frontend.program.closures import functions
from pykern.frontend.program.values import DictMethod, DictValue, Structure, parts
from pykern.frontend.values import TupleValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator
    from pykern.frontend.translation import Frame


class Running(list[Any]):
    """What an unrolled loop runs over; `views` are origins of the structures that Python would read as it goes."""

    def __init__(self, items: list[Value], views: frozenset[int], frame: Frame, depth: int) -> None:
        super().__init__(items)
        self.views, self.frame, self.depth = views, frame, depth
        self.position = -1

    def __iter__(self) -> Iterator[Value]:
        for self.position in range(len(self)):  # noqa: B020
            yield self[self.position]


def is_mutable(value: Value) -> bool:
    return isinstance(value, DictValue) or (isinstance(value, TupleValue) and value.name == LIST)


def check(t: ProgramTranslator, node: ast.AST, written: str, held: Structure) -> None:
    """Raise where something else than names of this function holds the structure, or may hold it."""
    kind = "dict" if isinstance(held, DictValue) else "list"
    copied = f"take a copy first: {written} = {kind}({written})"
    if any(number < 0 for number in held.origins):
        raise t.type_error(node, f"`{written}` is the caller's {kind}, which a program cannot change",
                           f"{copied}, and return it")  # fmt: skip
    own = 0
    for frame, name, value in _held(t):
        for found in occurrences(value, held.origins):
            if frame is not t.frame:
                raise t.type_error(node, f"`{written}` is a {kind} of another function, which names it `{name}`",
                                   "return the new value, and put it in there")  # fmt: skip
            own += 1
            if not is_mutable(found):
                raise t.type_error(node, f"`{name}` is a view of `{written}`, and would change, too",
                                   f"take the view again behind this, or a copy: {name} = tuple({name})")  # fmt: skip
            if found.origins != held.origins or (own > 1 and len(held.origins) > 1):
                raise t.type_error(node, f"`{name}` may mean the same {kind} as `{written}`, on some path",
                                   f"{copied}, or let `{name}` have one")  # fmt: skip
    if not own:
        raise t.type_error(node, f"`{written}` is a {kind} without a name", f"give it one: d = {written}")


def check_loops(t: ProgramTranslator, node: ast.AST, written: str, held: Structure, made: Structure) -> None:
    """Raise where a loop that is being unrolled would find something else from now on."""
    if any(True for item in parts(made) for _ in occurrences(item, held.origins)):
        raise t.type_error(node, f"`{written}` would hold itself", f"put a copy in: dict({written})")
    pairs = zip(parts(held), parts(made), strict=False)
    changed = [n for n, (a, b) in enumerate(pairs) if a is not b]
    for loop in t.running:
        ahead = len(held.items) != len(made.items) or any(n > loop.position for n in changed)
        if loop.views & held.origins and ahead:
            raise t.type_error(node, f"`{written}` is changed ahead of a loop that runs over it",
                               "loop over a copy: for v in tuple(values)")  # fmt: skip
        waiting = any(
            True for n in range(loop.position + 1, len(loop)) for _ in occurrences(loop[n], held.origins)
        )
        if waiting and (loop.frame is not t.frame or loop.depth != len(t.journal)):
            raise t.type_error(node, f"`{written}` comes later in a loop, and is changed on one path only",
                               "change it where it comes")  # fmt: skip


def occurrences(value: Value, origins: frozenset[int]) -> Iterator[Structure]:
    """Where a value holds a structure that may be one of these."""
    if isinstance(value, DictMethod):
        yield from occurrences(value.of, origins)
    if isinstance(value, TupleValue | DictValue) and value.origins & origins:
        yield value
    for item in parts(value):
        yield from occurrences(item, origins)


def _held(t: ProgramTranslator) -> Iterator[tuple[Frame | None, str, Value]]:
    """Everything that a name means, or a function holds."""
    for frame in t.frames_in_reach():
        for name, value in frame.environment.locals.items():
            if name.startswith("."):
                continue
            yield frame, name, value
            for function in functions(value):
                for parameter, default in (*function.defaults.items(), *function.kept.items()):
                    yield None, parameter, default
