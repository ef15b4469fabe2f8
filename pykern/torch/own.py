"""A derivative that the user wrote: `@f.backward`.

Comes in: the rule, and a call. Goes out: gradients by the rule, and tangents by its transpose: what the rule does to
cotangents is linear, so forward mode is the same derivative. Where the rule gives none, `NotDifferentiable` is raised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from pykern.errors import NotDifferentiable
from pykern.torch.complex_parts import parts_of, wholes
from pykern.torch.framework import torch
from pykern.torch.operation import Call, Operation, as_tuple


class Saved(SimpleNamespace):
    """Arguments and results of a call by name, and in order: ``saved.x``, ``saved[0]``, ``x, y = saved``."""

    def __getitem__(self, number: int) -> Any:
        return self.values[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)


class Own:
    """The rule of an operation."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation

    def pull(self, active: tuple[int, ...], call: Call, cotangents: Sequence[Any]) -> list[Any]:
        """The gradients that the rule gives."""
        assert self.operation.rule is not None
        kinds = self.operation.result_kinds(call)
        arguments, results = wholes(self.operation.kinds, call.arguments), wholes(kinds, call.results)
        followed = "".join(kind for kind, is_float in zip(kinds, call.floats, strict=True) if is_float)
        named = dict(zip(self.operation.names, arguments, strict=False))
        named |= dict(zip(self.operation.result_names, results, strict=False))
        named |= {"results": results, "values": (*arguments, *results)}
        found = as_tuple(self.operation.rule(Saved(**named), *wholes(followed, cotangents)))
        tensors = [n for n, a in enumerate(call.arguments) if isinstance(a, torch.Tensor)]
        if len(found) != len(tensors):
            raise NotDifferentiable(
                f"the derivative of `{self.operation.name}` gives {len(found)} gradients for {len(tensors)} tensors",
                hint="give one for each argument that is a tensor, in order; None where nothing is ever differentiated",
            )
        given = dict(zip(tensors, found, strict=True))
        for n in active:
            if given[n] is None:
                raise NotDifferentiable(
                    f"the derivative of `{self.operation.name}` gives none by `{self.operation.names[n]}`",
                    hint="give zeros where it is zero",
                )
        return [parts_of(given[n]) if self.operation.kinds[n] == "C" else given[n] for n in active]

    def push(self, active: tuple[int, ...], call: Call, tangents: Sequence[Any]) -> tuple[Any, ...]:
        """The tangents: the rule, transposed."""
        floats = [r for r, is_float in zip(call.results, call.floats, strict=True) if is_float]
        zeros = [torch.zeros_like(r) for r in floats]
        _, transposed = torch.func.vjp(lambda *cotangents: tuple(self.pull(active, call, cotangents)), *zeros)
        return transposed(tuple(tangents))
