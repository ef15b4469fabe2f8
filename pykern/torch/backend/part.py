"""A part of a graph at run time: the program for the lengths of a call, made once for each.

Comes in: the part as a graph, called with tensors (and with lengths, where these are known at run time alone). Goes
out: its results. Lengths of array programs are known when these are compiled, so a part with dynamic ones has a
program for each that came; beyond `MOST_PROGRAMS`, and where a program cannot be made, PyTorch runs the part, and the
summary says so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from pykern.errors import KernelError
from pykern.obtain.side_by_side import compile_side_by_side
from pykern.torch.backend.destinations import Destinations
from pykern.torch.backend.framework import (
    FakeTensorMode,
    GraphModule,
    Interpreter,
    Module,
    Node,
    Tensor,
    torch,
)
from pykern.torch.backend.program import Compiled, source_of, written
from pykern.torch.backend.writer import NotTaken

MOST_PROGRAMS = 16
"""Lengths for which a part is compiled; each takes a tenth of a second or more."""
NOWHERE = Destinations()


class Part(Module):
    """What stands in the graph in place of a part."""

    def __init__(self, graph: GraphModule, destinations: Destinations = NOWHERE) -> None:
        super().__init__()
        self.graph_module = graph
        self.destinations = destinations
        self.programs: dict[Any, Callable[..., Any]] = {}
        self.failure = ""
        self.operations = [n for n in graph.graph.nodes if n.op == "call_function"]
        self._lock = threading.Lock()
        values = _noted(graph)
        self.is_dynamic = not all(map(_is_known, values.values()))
        if not self.is_dynamic:
            made = self.programs[()] = self._made(values.__getitem__)
            self._run = made.run if isinstance(made, Compiled) else made

    def __call__(self, *args: Any) -> Any:
        """The results; without the hooks of modules, of which a part has none."""
        return self.forward(*args) if self.is_dynamic else self._run(*args)

    def forward(self, *args: Any) -> Any:
        key = tuple((a.shape, a.stride()) if isinstance(a, Tensor) else a for a in args)
        program = self.programs.get(key)
        return (self._program(key, args) if program is None else program)(*args)

    @property
    def compiled(self) -> list[Compiled]:
        """The programs that there are at the moment."""
        return [program for program in self.programs.values() if isinstance(program, Compiled)]

    def _program(self, key: Any, args: tuple) -> Callable[..., Any]:
        with self._lock:
            if key not in self.programs:
                if len(self.programs) >= MOST_PROGRAMS:
                    self.failure = f"more than {MOST_PROGRAMS} different lengths came"
                    return self._in_torch
                self.programs[key] = self._made(_values(self.graph_module, args).__getitem__)
            return self.programs[key]

    def _made(self, values: Callable[[Node], Any]) -> Callable[..., Any]:
        try:
            return Compiled(written(self.graph_module, values, self.destinations))
        except (NotTaken, KernelError) as error:
            self.failure = str(error)
            return self._in_torch

    def _in_torch(self, *args: Any) -> Any:
        """The part as PyTorch computes it."""
        results = self.graph_module(*args)
        for place, argument in self.destinations.updated:
            args[argument].copy_(results[place])
        return results


def compile_ahead(graphs: Iterable[tuple[GraphModule, Destinations]]) -> None:
    """Compile the parts whose lengths are known, side by side where there are many."""
    sources = []
    for graph, destinations in graphs:
        values = _noted(graph)
        if all(map(_is_known, values.values())):
            try:
                sources.append(source_of(written(graph, values.__getitem__, destinations)))
            except (NotTaken, KernelError):  # the part itself is going to say why
                continue
    compile_side_by_side(sources)


def _noted(graph: GraphModule) -> dict[Node, Any]:
    """What the values of a part are, as they were captured."""
    return {n: n.meta["val"] for n in graph.graph.nodes if "val" in n.meta}


def _is_known(value: Any) -> bool:
    """Whether the lengths and strides of a value are numbers."""
    if isinstance(value, tuple | list):
        return all(map(_is_known, value))
    if isinstance(value, Tensor):
        return all(isinstance(n, int) for n in (*value.shape, *value.stride()))
    return not isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool)


def _values(graph: GraphModule, args: tuple) -> dict[Node, Any]:
    """What the values of a part are where it is given these arguments; nothing is computed."""
    with FakeTensorMode():
        given = [
            torch.empty_strided(a.shape, a.stride(), dtype=a.dtype) if isinstance(a, Tensor) else a
            for a in args
        ]
        run = _Kept(graph, garbage_collect_values=False)
        run.run(*given)
    return run.found


class _Kept(Interpreter):
    """Runs a graph and keeps every value."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.found: dict[Node, Any] = {}

    def run_node(self, n: Node) -> Any:
        made = self.found[n] = super().run_node(n)
        return made
