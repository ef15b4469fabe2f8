"""One part of a graph as a compiled array program, for tensors of given lengths and strides.

Comes in: a part (a graph of ATen operations), what its values are. Goes out: `Compiled`, which takes the part's tensors
as they lie and writes into tensors that PyTorch allocates. The text of the program is kept for errors, for the explorer
and for the summary; parts with the same text are one program.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import pykern as pk
from pykern.data.abi import KEPT_LEAST
from pykern.data.digests import digest_of
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, Parameter
from pykern.obtain.code import loaded
from pykern.obtain.memory_code import memory_code
from pykern.obtain.schedules import tuned
from pykern.program.plan import Plan
from pykern.runtime.caching_allocator import caching_allocator
from pykern.torch.backend.destinations import Destinations
from pykern.torch.backend.framework import GraphModule, Node, Tensor, torch
from pykern.torch.backend.ops import FREE, TABLE
from pykern.torch.backend.writer import CONSTANTS, TYPES, DType, NotTaken, Writer

MOST_WORDS = 4
"""Operations that the name of a program lists."""
_PROGRAMS: dict[str, Any] = {}


@dataclass(frozen=True)
class Form:
    """How a tensor lies in memory."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DType

    @staticmethod
    def of(tensor: Tensor) -> Form:
        return Form(tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)

    @cached_property
    def order(self) -> tuple[int, ...] | None:
        """The axes of dense elements, the fastest last; None where they are not dense. Axes of one element may be
        anywhere: they stay where they are, unless others change places."""
        axes = range(len(self.shape))
        order = tuple(sorted(axes, key=lambda a: (self.shape[a] != 1, -self.strides[a])))
        step = 1
        for axis in reversed(order):
            if self.shape[axis] != 1 and self.strides[axis] != step:
                return None
            step *= self.shape[axis]
        others = [axis for axis in order if self.shape[axis] != 1]
        return tuple(axes) if others == sorted(others) else order

    @property
    def as_stored(self) -> tuple[tuple[int, ...], DType]:
        """The lengths in the order of memory, and the type: all that a program knows of the form of dense elements."""
        return tuple(self.shape[axis] for axis in self.order or ()), self.dtype

    @property
    def dense(self) -> Form:
        """The same where it is dense, else in the order of the axes."""
        if self.order is not None:
            return self
        strides = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return Form(self.shape, tuple(strides), self.dtype)


@dataclass(frozen=True)
class Text:
    """The text of a program: what it takes, what it gives."""

    name: str
    source: str
    parameters: tuple[tuple[str, Form], ...]
    results: tuple[Form, ...]
    donated: tuple[str, ...] = ()
    """Parameters whose memory results may take."""
    updated: dict[int, int] = field(default_factory=dict)
    """Results that are the new values of parameters, by number."""


def written(part: GraphModule, value: Callable[[Node], Any], destinations: Destinations) -> Text:
    """The program of a part. Raises `NotTaken` where a rule does."""
    w = Writer(value)
    nodes = list(part.graph.nodes)
    parameters = [(w.parameter(n), Form.of(value(n)).dense) for n in nodes if n.op == "placeholder"]
    for node in nodes:
        if node.op == "call_function":
            w.write(node, TABLE[node.target])
    [output] = [n for n in nodes if n.op == "output"]
    results, forms = [], []
    updated = dict(destinations.updated)
    for n, node in enumerate(output.args[0]):
        form = Form.of(value(node)).dense
        order = form.order
        assert order is not None
        straight = order == tuple(range(len(order)))
        forms.append(form)
        if n in updated:
            w.lines.append(f"{parameters[updated[n]][0]}[...] = {w.name(node)}")
        else:
            results.append(w.name(node) if straight else f"pk.transpose({w.name(node)}, {order!r})")
    name = _named(nodes)
    head = f"def {name}({', '.join(n for n, _ in parameters)}):"
    body = [*w.lines, f"return ({''.join(f'{each}, ' for each in results)})"]
    donated = tuple(
        name for n, (name, form) in enumerate(parameters) if n in destinations.donated and _fits(form, forms)
    )
    return Text(name, "\n    ".join([head, *body]) + "\n", tuple(parameters), tuple(forms), donated, updated)


def _fits(form: Form, results: list[Form]) -> bool:
    """Whether a result may take memory of this form: one that a program takes for equal has to be equal."""
    alike = [each for each in results if each.as_stored == form.as_stored]
    return bool(alike) and all(each == form for each in alike)


def _named(nodes: list[Node]) -> str:
    """After what it computes, as in ``fused_addmm_gelu``."""
    words = [
        n.target.overloadpacket.__name__.strip("_")
        for n in nodes
        if n.op == "call_function" and n.target not in FREE and hasattr(n.target, "overloadpacket")
    ]
    return "_".join(["fused", *dict.fromkeys(words)][: MOST_WORDS + 1])


def program_of(text: Text) -> Any:
    """The program as a function of Python that pykern compiles; one for each text."""
    if text.source not in _PROGRAMS:
        file = f"<pykern.torch {digest_of(text.source, 12)}>"
        linecache.cache[file] = len(text.source), None, text.source.splitlines(keepends=True), file
        names: dict[str, Any] = {"pk": pk, "__name__": "pykern_of_torch", **CONSTANTS}
        exec(compile(text.source, file, "exec"), names)
        _PROGRAMS[text.source] = pk.jit(names[text.name])
    return _PROGRAMS[text.source]


def source_of(text: Text) -> ProgramSource:
    """What the compiler is given. Raises `NotTaken` for tensors that programs do not take."""
    program = program_of(text)
    parameters = [Parameter(name, _spec(form)) for name, form in text.parameters]
    return tuned(program.source_of(program.captured()[0], parameters, donated=text.donated))


class Compiled:
    """A program that is ready to run on tensors."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.program = program_of(text)
        names = tuple(name for name, _ in text.parameters)
        parameters = [Parameter(name, _spec(form)) for name, form in text.parameters]
        source = tuned(self.program.source_of(self.program.captured()[0], parameters, donated=text.donated))
        self._plan = Plan(*loaded(source), names, source)
        self._taken = self._checked()
        if self._plan.is_large:
            memory_code.wanted()
        self.run = self._written()

    def _checked(self) -> list[int]:
        """The parameter whose memory each result takes, -1 for new memory. Raises `NotTaken` where the code would not
        write what is needed."""
        layout = self._plan.layout
        returned = [n for n in range(len(self.text.results)) if n not in self.text.updated]
        places = [
            *returned,
            *sorted(self.text.updated, key=lambda n: layout.updated.index(self.text.updated[n])),
        ]
        made = dict(zip(places, layout.results, strict=True))
        for n, form in enumerate(self.text.results):
            shape, dtype = form.as_stored
            gives = tuple(made[n].shape), made[n].dtype
            if gives != (shape, _name(dtype)):
                raise NotTaken(f"the program gives {gives}, and {(shape, _name(dtype))} is needed")
        return [made[n].argument for n in range(len(self.text.results))]

    def __call__(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Run on tensors of the lengths that it was made for. One that lies otherwise in memory is copied first."""
        return self.run(*tensors)

    def _written(self) -> Callable[..., tuple[Tensor, ...]]:
        """The call as text, without loops: a small part takes no longer than they would."""
        taken, given = [form for _, form in self.text.parameters], self.text.results
        names: dict[str, Any] = {
            "run_at": self._plan.run_at, "relaid": _relaid, "memory_for": memory_for, "empty": torch.empty_strided,
        }  # fmt: skip
        lines = []
        for n, form in enumerate(taken):
            names[f"strides{n}"] = form.strides
            lines.append(f"if a{n}.stride() != strides{n}: a{n} = relaid(a{n}, strides{n})")
        own = [n for n, argument in enumerate(self._taken) if argument < 0]
        for n in own:
            form = given[n]
            names |= {
                f"form{n}": form,
                f"shape{n}": form.shape,
                f"steps{n}": form.strides,
                f"dtype{n}": form.dtype,
            }
            small = f"empty(shape{n}, steps{n}, dtype=dtype{n})"
            lines.append(f"r{n} = {f'memory_for(form{n})' if is_large(form) else small}")
        arguments = [f"a{n}" for n in range(len(taken))]
        results = [f"r{n}" if argument < 0 else f"a{argument}" for n, argument in enumerate(self._taken)]
        addresses = "".join(f"{name}.data_ptr(), " for name in (*arguments, *(f"r{n}" for n in own)))
        lines.append(f"run_at(({addresses}))")
        written = [f"a{argument}" for argument in self.text.updated.values()]
        if written:
            names["note_writes"] = torch.autograd.graph.increment_version
            lines.append(f"note_writes(({''.join(f'{each}, ' for each in written)}))")
        lines.append(f"return ({''.join(f'{each}, ' for each in results)})")
        exec(f"def run({', '.join(arguments)}):\n" + "".join(f"    {line}\n" for line in lines), names)
        return names["run"]


def bytes_of(form: Form) -> int:
    """What a tensor takes."""
    return form.dtype.itemsize * math.prod(form.shape)


def is_large(form: Form) -> bool:
    """Whether its memory is worth being kept."""
    return bytes_of(form) >= KEPT_LEAST


def memory_for(form: Form) -> Tensor:
    """A new tensor: PyTorch's, or, where it is large, in memory that earlier ones left (`caching_allocator`)."""
    nbytes = bytes_of(form)
    if not is_large(form) or not caching_allocator.loaded:
        return torch.empty_strided(form.shape, form.strides, dtype=form.dtype)
    memory = torch.from_numpy(caching_allocator.made(nbytes, np.empty, nbytes, np.uint8))
    return memory.view(form.dtype).as_strided(form.shape, form.strides)


def _relaid(tensor: Tensor, strides: tuple[int, ...]) -> Tensor:
    """The same elements in the order of memory that the program takes."""
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


def _spec(form: Form) -> ArraySpec:
    order = form.order
    if order is None:
        raise NotTaken("a tensor is not dense")
    straight = order == tuple(range(len(order)))
    return ArraySpec(_name(form.dtype), form.shape, axes=() if straight else order)


def _name(dtype: DType) -> str:
    return TYPES[dtype].rstrip("_")
