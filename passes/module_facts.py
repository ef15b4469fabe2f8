"""Facts about a module while a pipeline runs on it, so that passes which would find nothing to do are not run.

Comes in: a module, and after each pass whether it changed something. Goes out: which names of ops are there, and
whether the module is as canonicalization left it. Read next: `framework` (who asks).
"""

from __future__ import annotations

from typing import Protocol

from mlir import ir

from pykern.dialect import attributes as kern

CLEANING = "canonicalize,cse"


class Step(Protocol):
    """A pass, as far as it is asked here."""

    def is_idle(self, facts: ModuleFacts) -> bool: ...


class ModuleFacts:
    """The facts about one module while one pipeline runs on it."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.is_clean = False
        """Whether nothing has changed since canonicalization."""
        self._names: frozenset[str] | None = None
        self._scalar: frozenset[str] = frozenset()

    def skips(self, step: Step) -> bool:
        """Whether a pass need not run: it would change nothing, or nothing that matters."""
        return step.is_idle(self)

    def has(
        self, beginnings: tuple[str, ...], scalar: bool = False, but: frozenset[str] = frozenset()
    ) -> bool:
        """Whether the name of an op begins so, and is not one of `but`; with `scalar` only in functions that may have
        scalar loops."""
        every = self.names
        names = self._scalar if scalar else every
        return any(name.startswith(beginnings) and name not in but for name in names)

    @property
    def names(self) -> frozenset[str]:
        """Names of the ops that are there."""
        if self._names is None:
            self._look()
            assert self._names is not None
        return self._names

    def changed(self) -> None:
        """Record that anything may have changed."""
        self._names, self.is_clean = None, False

    def made(self, names: tuple[str, ...]) -> None:
        """Record that ops of these names may have been added, and any others removed."""
        self.is_clean = False
        if self._names is not None:
            self._names, self._scalar = self._names.union(names), self._scalar.union(names)

    def cleaned(self) -> None:
        """Record that canonicalization and `cse` ran last."""
        self._names, self.is_clean = None, True

    def _look(self) -> None:
        scalar: set[str] = set()
        vectors: set[str] = set()
        for op in self.module.body.operations:
            found = names_of(op.operation)
            (vectors if kern.IN_VECTORS in op.attributes or not found & _MEMORY else scalar).update(found)
        self._scalar, self._names = frozenset(scalar), frozenset(scalar | vectors)


_MEMORY = {"memref.load", "memref.store", "memref.atomic_rmw", "kern.atomic_rmw", "kern.atomic_cas", "kern.push",
           "kern.pop", "vector.load", "vector.store", "vector.transfer_read", "vector.transfer_write"}  # fmt: skip
"""A function without any of these does nothing itself: it calls others."""


def names_of(root: ir.Operation) -> set[str]:
    """Names of the ops under `root`, and its own."""
    found: set[str] = set()
    advance, add = ir.WalkResult.ADVANCE, found.add

    def visit(op: ir.Operation) -> ir.WalkResult:
        add(op.name)
        return advance

    root.walk(visit)
    return found
