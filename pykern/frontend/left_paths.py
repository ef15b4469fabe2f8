"""Paths of a branch that end in return, break or continue: what follows the branch reads nothing of them.

Comes in: what the names mean at the end of each path. Goes out: which paths have left, and the values that are to be
merged: a path that has left takes the form of the other one. Kernels and programs differ in which values flow.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pykern.frontend.desugar import BROKE, RETURNED, SKIPPED
from pykern.frontend.merging import same
from pykern.frontend.values import Scalar, Value
from pykern.types import bool_

_TRUE = Scalar(bool_, const=True)


def have_left(
    node: ast.AST, unrolling: bool, paths: list[dict[str, Value]], before: Mapping[str, Value]
) -> list[bool]:
    """Of each path whether it has left; of a loop that is unrolled only where it returns."""
    flags = (RETURNED,) if unrolling else (RETURNED, BROKE, SKIPPED)
    left = [
        any(
            name.startswith(flags) and same(value, _TRUE) and not same(before.get(name), _TRUE)
            for name, value in names.items()
        )
        for names in paths
    ]
    if getattr(node, "else_has_left", False) and not unrolling:
        left[1] = True
    return left


@dataclass(frozen=True)
class Flow:
    """Which values may come out of a branch, when two of them meet there, and one of such a form that nobody reads."""

    flows: Callable[[Value | None], bool]
    meets: Callable[[Value, Value], object]
    zeros_like: Callable[[Value], Value]

    def still_read(
        self, left: list[bool], a: Value | None, b: Value | None
    ) -> tuple[Value | None, Value | None]:
        """What the paths give for a name, where one that has left takes the form of the other."""
        if left[0] == left[1]:
            return a, b
        gone, kept = (a, b) if left[0] else (b, a)
        if kept is not None and not (gone is not None and self._meet(gone, kept)):
            gone = self.zeros_like(kept) if self.flows(kept) else kept
        return (gone, kept) if left[0] else (kept, gone)

    def _meet(self, a: Value, b: Value) -> bool:
        return self.flows(a) and self.flows(b) and self.meets(a, b) not in (None, False)
