"""A plan as the words that the entry of array programs reads.

Comes in: a plan, its source, and a call it was made for. Goes out: `Words`, or None where calls of this kind have to
go through Python. The layout is told in `pykern.data.abi` ("array programs"); read next: `pykern.program.entry`.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pykern.data.abi import (
    ARGUMENT_KINDS,
    DENSE,
    KEPT_LEAST,
    PLAN_ROOM,
    PLAN_WORDS,
    RESULT_WORDS,
    STEP_KINDS,
    TRANSPOSED,
    WRITEABLE,
)
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArgSpec, ArraySpec, Parameter, ScalarSpec, StaticSpec, StructSpec
from pykern.launching.arguments import fields_of
from pykern.program.results import constant, has_complex, struct
from pykern.types import BY_NAME, from_numpy

if TYPE_CHECKING:
    from pykern.program.plan import Plan


class _Unfit(Exception):
    """Calls of this kind go through Python."""


@dataclass
class Words:
    """The words, and the objects they point to."""

    words: list[int] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)

    def pointer(self, value: Any) -> int:
        """The address of an object, which is kept."""
        self.kept.append(value)
        return id(value)


@dataclass(frozen=True)
class Call:
    """The arguments of a call, and the cells of parameters that are left out, where these are numbers."""

    args: tuple
    keywords: dict[str, Any]
    defaults: dict[str, int]


def words_of(plan: Plan, source: ProgramSource, call: Call) -> Words | None:
    """The words of a plan that was called so."""
    try:
        return _words(plan, source, call)
    except _Unfit:
        return None


def _words(plan: Plan, source: ProgramSource, call: Call) -> Words:
    layout, made = plan.layout, Words()
    if plan.artifact.sites or not plan.keeps_scratch or has_complex(layout.tree):
        raise _Unfit
    if any(r.argument < 0 for r in layout.results[plan.returned :]):
        raise _Unfit
    arguments = _Arguments(plan, made, len(call.args) + len(call.keywords))
    records = [word for n, p in enumerate(source.parameters) for word in arguments.record(n, p, call)]
    numbers = {result: n for n, (result, _, _) in enumerate(plan.fresh)}
    only_numbers = _only_numbers(layout.tree)
    results = [
        word
        for n, shape, dtype in plan.fresh
        for word in _result(made, shape, dtype, shape == () and n in only_numbers)
    ]
    steps = list(_steps(plan, made, json.loads(layout.tree), numbers))
    if max(arguments.objects, arguments.flat, len(plan.fresh), len(steps)) > PLAN_ROOM:
        raise _Unfit
    first = len(PLAN_WORDS) + len(records)
    values = {
        "run": plan.code.run_address,
        "long": int(layout.long),
        "pool": made.pointer(plan.pool) if plan.needs_scratch else 0,
        "scratch": plan.layout.scratch_bytes if plan.layout.scratch_bytes >= KEPT_LEAST else 0,
        "positional": len(call.args),
        "keywords": len(call.keywords),
        "arguments": arguments.records,
        "writers": len(plan.written),
        "results": len(plan.fresh),
        "large": int(plan.is_large),
        "held": int(arguments.held),
        "given": len(plan.fresh) if len(plan.fresh) == plan.returned and not source.donated else 0,
        "steps": len(steps),
        "results_at": first,
        "steps_at": first + len(results),
        "names_at": first + len(results) + 3 * len(steps),
    }
    head = [values[name] for name in PLAN_WORDS]
    names = [made.pointer(sys.intern(name)) for name in call.keywords]
    made.words = [*head, *records, *results, *(word for step in steps for word in step), *names]
    return made


# -- arguments -------------------------------------------------------------------------------------


@dataclass
class _Arguments:
    """Writes the records of arguments; counts objects, flattened arguments and records."""

    plan: Plan
    made: Words
    objects: int
    flat: int = 0
    records: int = 0
    held: bool = False

    def record(self, number: int, parameter: Parameter, call: Call) -> Iterator[int]:
        """Of a parameter, by its number."""
        name = parameter.name
        if number < len(call.args):
            yield from self._record(number, parameter.spec, parameter.converts, call.args[number])
        elif name in call.keywords:
            place = len(call.args) + list(call.keywords).index(name)
            yield from self._record(place, parameter.spec, parameter.converts, call.keywords[name])
        elif isinstance(parameter.spec, ScalarSpec) and name in call.defaults:
            yield from (4, ARGUMENT_KINDS["default"], 0, call.defaults[name])
            self.records += 1
            self.flat += 1
        elif not isinstance(parameter.spec, StaticSpec):
            raise _Unfit

    def _record(self, number: int, spec: ArgSpec, converts: bool, value: Any) -> Iterator[int]:
        self.records += 1
        if isinstance(spec, StructSpec):
            yield from self._structure(number, spec, value)
            return
        if isinstance(spec, ArraySpec):
            kind, words = "array", self._array(spec)
        elif isinstance(spec, ScalarSpec):
            kind, words = self._scalar(spec, converts, value)
        else:
            kind, words = self._static(spec, value)
        yield from (3 + len(words), ARGUMENT_KINDS[kind], number, *words)
        self.flat += not isinstance(spec, StaticSpec)

    def _array(self, spec: ArraySpec) -> list[int]:
        shape = [_known(n) for n in spec.shape]
        dtype, writes = BY_NAME[spec.dtype].numpy, self.flat in self.plan.written
        size = math.prod(shape) * dtype.itemsize
        if spec.order not in (axes := tuple(range(spec.rank)), axes[::-1]):
            raise _Unfit  # flags do not tell
        dense = DENSE if spec.order == axes else TRANSPOSED
        flags = dense | (WRITEABLE if writes else 0)
        return [flags, int(writes), self.made.pointer(dtype), len(shape), size, *shape]

    def _scalar(self, spec: ScalarSpec, converts: bool, value: Any) -> tuple[str, list[int]]:
        kind, dtype = type(value), spec.dtype
        if kind is float and (dtype == "float" or (converts and dtype == "f64")):
            return "payload", [self.made.pointer(float), 0, 0]
        if kind is float and converts and dtype == "f32":
            return "narrowed", []
        if kind is int and (dtype == "int" or (converts and dtype == "i64")):
            return "int", []
        if kind is bool and dtype == "bool":
            return "bool", []
        own = from_numpy(value.dtype) if isinstance(value, np.generic) else None
        if own is None or own.name != dtype:
            raise _Unfit
        unused = 64 - 8 * own.itemsize
        return "payload", [self.made.pointer(kind), unused, int(own.kind == "i")]

    def _static(self, spec: ArgSpec, value: Any) -> tuple[str, list[int]]:
        if type(value) is int and -(2**63) <= value < 2**63:
            return "equal", [value]
        if isinstance(spec, StaticSpec) and (value is None or type(value) in (bool, str, float)):
            return "same", [self.made.pointer(value)]
        raise _Unfit

    def _structure(self, number: int, spec: StructSpec, value: Any) -> Iterator[int]:
        """Of a tuple, list, dict or dataclass, and then of what is in it."""
        kind, words = self._holder(spec, value)
        self.held = self.held or kind != "tuple"
        yield from (3 + len(words), ARGUMENT_KINDS[kind], number, *words)
        first = self.objects
        self.objects += len(spec.fields)
        for n, ((_, inner), (_, item)) in enumerate(
            zip(spec.fields, fields_of(value, True) or (), strict=True)
        ):
            yield from self._record(first + n, inner, False, item)

    def _holder(self, spec: StructSpec, value: Any) -> tuple[str, list[int]]:
        kind, count, pointer = type(value), len(spec.fields), self.made.pointer
        names = [pointer(sys.intern(name)) for name, _ in spec.fields]
        if kind is list:
            return "list", [count]
        if kind is dict:
            return "dict", [count, *names]
        if dataclasses.is_dataclass(value) and _holds_itself(kind, [name for name, _ in spec.fields]):
            return "fields", [pointer(kind), count, *names]
        if not isinstance(value, tuple) or len(value) != count or kind.__itemsize__ == 0:
            raise _Unfit
        return "tuple", [pointer(kind), count]


def _holds_itself(kind: type, names: list[str]) -> bool:
    """Whether objects of a class have fields that no code makes when they are read."""
    if kind.__getattribute__ is not object.__getattribute__ or hasattr(kind, "__getattr__"):
        return False
    found = [inspect.getattr_static(kind, name, None) for name in names]
    return all(isinstance(f, types.MemberDescriptorType) or not hasattr(type(f), "__get__") for f in found)


def _known(length: int | None) -> int:
    assert length is not None, "lengths of a program's arrays are known"
    return length


# -- results ---------------------------------------------------------------------------------------


def _result(made: Words, shape: tuple[int, ...], dtype: np.dtype, number: bool) -> list[int]:
    size = math.prod(shape) * dtype.itemsize
    words = {
        "length": len(RESULT_WORDS) + len(shape),
        "number": int(number),
        "descr": made.pointer(dtype),
        "rank": len(shape),
        "bytes": size,
    }
    return [words[name] for name in RESULT_WORDS] + list(shape)


def _only_numbers(tree: str) -> frozenset[int]:
    """Results that are nowhere an array."""

    def leaves(node: Any, kind: str) -> Iterator[int]:
        if isinstance(node, dict):
            if kind in node:
                yield node[kind]
            for item in (*node.get("tuple", ()), *node.get("dict", {}).values()):
                yield from leaves(item, kind)

    whole = json.loads(tree)
    return frozenset(leaves(whole, "scalar")) - frozenset(leaves(whole, "array"))


Step = tuple[int, int, int]


def _steps(plan: Plan, made: Words, node: Any, numbers: dict[int, int]) -> Iterator[Step]:
    """How the returned value is put together; as `pykern.program.results` does it."""
    if node is None:
        yield STEP_KINDS["object"], made.pointer(None), 0
    elif "array" in node:
        result = node["array"]
        if result in numbers:
            yield STEP_KINDS["result"], numbers[result], 0
        else:
            yield STEP_KINDS["argument"], plan.layout.results[result].argument, 0
    elif "scalar" in node:
        yield _number(plan, made, node, numbers)
    elif "constant" in node:
        yield STEP_KINDS["object"], made.pointer(constant(node)), 0
    else:
        yield from _several(plan, made, node, numbers)


def _number(plan: Plan, made: Words, node: Any, numbers: dict[int, int]) -> Step:
    if node["scalar"] not in numbers:
        raise _Unfit
    number, dtype = numbers[node["scalar"]], BY_NAME[node.get("dtype", "f64")]
    if dtype.weak or (dtype.name == "bool" and not node.get("numpy")):
        return STEP_KINDS[dtype.name], number, 0
    return STEP_KINDS["scalar"], number, made.pointer(plan.dtypes[node["scalar"]])


def _several(plan: Plan, made: Words, node: Any, numbers: dict[int, int]) -> Iterator[Step]:
    items = list(node["dict"].values()) if "dict" in node else node["tuple"]
    for item in items:
        yield from _steps(plan, made, item, numbers)
    if "dict" in node:
        yield STEP_KINDS["call"], len(items), made.pointer(_dict_maker(tuple(node["dict"])))
    elif "fields" in node:
        yield (
            STEP_KINDS["call"],
            len(items),
            made.pointer(struct(node["name"], tuple(node["fields"]))),
        )
    elif "list" in node:
        yield STEP_KINDS["call"], len(items), made.pointer(_list_of)
    else:
        yield STEP_KINDS["tuple"], len(items), 0


def _list_of(*values: Any) -> list[Any]:
    return list(values)


def _dict_maker(keys: tuple[str, ...]) -> Callable[..., dict[str, Any]]:
    return lambda *values: dict(zip(keys, values, strict=True))
