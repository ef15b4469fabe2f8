"""Functions of an array program's object file, for programs in C without Python.

Comes in: the name that the program has in C, its parameters, and the types of its function in LLVM IR. Goes out: LLVM
IR text that is linked to it. Read next: `pykern.exporter.program_object`, which writes the header.

Of a program `layer` the object exports

``int32_t layer(...)``
    The whole program, in the thread that calls. Arguments are pointers to arrays, numbers by value, a pointer for each
    result that has memory of its own, and the workspace, where the program needs one.
``int32_t layer_shared(..., share)``
    The same, with a last argument that shares loops among threads: ``share(part, what, extent)`` has to call
    ``part(what, begin, end)`` for ranges that cover ``0 .. extent`` once, and to return when these calls have.

They give 0, `MISSING` where an array of some elements or the workspace has no address, or `UNALIGNED` where the
workspace does not begin at a multiple of `ALIGNMENT`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pykern.data.source import ArraySpec, Parameter, ScalarSpec, leaves
from pykern.lowering.llvm.launcher import scalar_type
from pykern.lowering.llvm.object_functions import MISSING
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I8, I32, I64, NULL, PTR, VOID, Type, Value

UNALIGNED = 3
ALIGNMENT = 64
ENDINGS = ("", "_shared")
"""What stands behind the program's name in the names of its functions."""
_BEHIND = 2
"""Arguments of the function behind the results: the report and the workspace."""


@dataclass(frozen=True)
class ExportedProgram:
    """A program by its name in C."""

    name: str
    parameters: tuple[Parameter, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """The functions of the object."""
        return tuple(f"{self.name}{ending}" for ending in ENDINGS)

    def text(self, symbol: str, kinds: list[Type], scratch: int) -> str:
        """The functions around the program `symbol`, which works in `scratch` bytes."""
        module = Module()
        share = module.define("pk_share", "internal thread_local global ptr null")
        _parallel(module, share)
        specs = [spec for parameter in self.parameters for spec in leaves(parameter.spec)]
        results = len(kinds) - len(specs) - _BEHIND
        passed = [*map(_passed, specs), *[PTR] * results, *[PTR] * bool(scratch)]

        def call(f: Body) -> None:
            given = list(f.arguments[: len(passed)])
            workspace = given.pop() if scratch else NULL
            values = [_converted(f, value, kind) for value, kind in zip(given, kinds, strict=False)]
            f.call(symbol, VOID, *values, 0, workspace)

        f = Body(module, self.name, I32, passed)
        self._check(f, specs, results, scratch)
        call(f)
        f.ret(I32(0))

        f = Body(module, f"{self.name}_shared", I32, [*passed, PTR])
        self._check(f, specs, results, scratch)
        before = f.load(PTR, share)
        f.store(f.arguments[-1], share)
        call(f)
        f.store(before, share)
        f.ret(I32(0))
        return str(module)

    def _check(self, f: Body, specs: list[ArraySpec | ScalarSpec], results: int, scratch: int) -> None:
        """Return a code for arguments that no call has."""
        for pointer in _needed(f, specs, results):
            f.need(f.is_(pointer, "!=", NULL), I32(MISSING))
        if scratch:
            workspace = f.arguments[len(specs) + results]
            f.need(f.is_(workspace, "!=", NULL), I32(MISSING))
            low = f.and_(f.cast("ptrtoint", workspace, I64), ALIGNMENT - 1)
            f.need(f.is_(low, "==", 0), I32(UNALIGNED))


def _needed(f: Body, specs: list[ArraySpec | ScalarSpec], results: int) -> Iterator[Value]:
    """Pointers that have to be there: those of arrays without elements need not."""
    for spec, value in zip(specs, f.arguments, strict=False):
        if isinstance(spec, ArraySpec) and math.prod(n or 0 for n in spec.shape):
            yield value
    yield from f.arguments[len(specs) :][:results]


def _passed(spec: ArraySpec | ScalarSpec) -> Type:
    if isinstance(spec, ArraySpec):
        return PTR
    kind = scalar_type(spec.dtype)
    return I8 if kind == I1 else kind


def _converted(f: Body, value: Value, kind: Type) -> Value:
    """A number as the program takes it: Python's own ones may be narrower there, a bool is a bit."""
    if value.type == kind:
        return value
    return f.cast("fptrunc" if kind.name in ("float", "half") else "trunc", value, kind)


def _parallel(module: Module, share: Value) -> None:
    """`pk_parallel` shares a nest among threads by the caller's function, or runs it here where there is none."""
    module.linkage["pk_parallel"] = "hidden"  # for the texts that call it; internal when they are linked
    f = Body(module, "pk_parallel", VOID, [PTR, PTR, I64, PTR])
    function, slots, extent, _ = f.arguments
    shares = f.load(PTR, share)
    with f.if_then(f.is_(shares, "!=", NULL)):
        f.call_pointer(shares, VOID, function, slots, extent)
        f.ret()
    f.call_pointer(function, VOID, slots, 0, extent)
    f.ret()
