"""What became of a compiled model: which operations run in array programs, which in PyTorch, and why.

Comes in: the graphs of a compilation, as they are made. Goes out: `Summary`, data that prints as a table. It is also
told on standard error with ``PYKERN_LOG=remarks``.
"""

from __future__ import annotations

import sys
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pykern.compiler.progress import write_stderr
from pykern.environment.settings import settings
from pykern.torch.backend.framework import GraphModule, OptimizedModule
from pykern.torch.backend.ops import FREE
from pykern.torch.backend.part import Part


@dataclass(frozen=True)
class Left:
    """Operations of one kind that stay in PyTorch."""

    operation: str
    count: int
    reason: str


@dataclass(frozen=True)
class GraphSummary:
    """One graph: forward, backward, or inference."""

    kind: str
    parts: tuple[Part, ...]
    left: tuple[Left, ...]

    @staticmethod
    def of(kind: str, graph: GraphModule, parts: list[Part], reasons: dict[str, str]) -> GraphSummary:
        """Of a graph in which the parts have been replaced; `reasons` is why a node was not taken."""
        stay = [n for n in graph.graph.nodes if n.op == "call_function" and n.target not in FREE]
        told = Counter((str(n.target), reasons.get(n.name, "alone, it gains nothing")) for n in stay)
        left = tuple(Left(name, count, why) for (name, why), count in told.items())
        return GraphSummary(kind, tuple(parts), left)

    @property
    def programs(self) -> tuple[Any, ...]:
        """The array programs (`pk.jit`) that the graph has at the moment, in order."""
        return tuple(one.program for part in self.parts for one in part.compiled)

    @property
    def taken(self) -> int:
        """Operations that run in array programs."""
        return sum(_work(part) for part in self.parts if not part.failure)

    @property
    def in_torch(self) -> int:
        """Operations that run in PyTorch."""
        return sum(each.count for each in self.left) + sum(_work(part) for part in self.parts if part.failure)

    def __str__(self) -> str:
        lines = [
            f"{self.kind}: {self.taken} operations in {len(self.parts)} programs, {self.in_torch} in PyTorch"
        ]
        lines += [f"  {_described(part)}" for part in self.parts]
        lines += [f"  {each.count} x {each.operation}: {each.reason}" for each in self.left]
        return "\n".join(lines)


def _described(part: Part) -> str:
    names = dict.fromkeys(one.text.name for one in part.compiled)
    several = f", {len(part.compiled)} programs for the lengths that came" if part.is_dynamic else ""
    made = f"{', '.join(names) or 'a part'} ({_work(part)} operations{several})"
    return f"{made}; in PyTorch: {part.failure}" if part.failure else made


def _work(part: Part) -> int:
    return sum(node.target not in FREE for node in part.operations)


@dataclass
class Summary:
    """All graphs of a compiled model, in the order in which they were compiled."""

    graphs: list[GraphSummary] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(map(str, self.graphs)) or "nothing has been compiled yet"

    def add(self, graph: GraphSummary) -> None:
        """Add a graph that has been compiled; ``PYKERN_LOG=remarks`` tells of it."""
        self.graphs.append(graph)
        if settings().logs("remarks"):
            write_stderr(f"{graph}\n")


_OF: weakref.WeakKeyDictionary[Any, Summary] = weakref.WeakKeyDictionary()
"""Summaries by what PyTorch makes at each `torch.compile`: the context that compiled calls run in."""


def summary_of(compiled: Callable[..., Any]) -> Summary:
    """What became of a model or function that ``torch.compile`` gave, so far; empty where it was another backend."""
    if isinstance(compiled, OptimizedModule):
        return _OF.get(compiled.dynamo_ctx, Summary())
    wrapper = getattr(compiled, "_compiled_call_impl", None) or compiled  # of ``model.compile()``
    cells = zip(wrapper.__code__.co_freevars, wrapper.__closure__ or (), strict=True)
    contexts = [cell.cell_contents for name, cell in cells if name == "self"]
    return _OF.get(contexts[0], Summary()) if contexts else Summary()


def summary_of_caller() -> Summary:
    """The summary of the compiled function that is being called: it is further up among the callers."""
    frame = sys._getframe()
    while frame is not None:
        context = frame.f_locals.get("self") if frame.f_code.co_name == "compile_wrapper" else None
        if context is not None:
            return _OF.setdefault(context, Summary())
        frame = frame.f_back
    return Summary()
