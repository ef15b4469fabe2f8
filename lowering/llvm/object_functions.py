"""Functions of a kernel's object file, for programs in C without Python.

Comes in: the source of a kernel that is ``called_from_c="object"``, and the name of its function in LLVM IR. Goes out:
LLVM IR text that is linked to it. Read next: `pykern.exporter.object_files`, which writes the header.

Of a kernel `heat` the object exports

``int32_t heat(...)``
    The whole launch, in the thread that calls. Arguments are those of `pykern.data.abi`: of an array its pointer, its
    lengths and, if it may be strided, its strides in elements; numbers by value; the index space.
``int32_t heat_part(..., int64_t begin, int64_t end)``
    Iterations ``begin .. end`` of the outermost loop over work-items, or these groups; parts may run in several
    threads.
``int64_t heat_extent(...)``
    How many rows or groups there are.

The first two give 0, `NEGATIVE` where a length or a count is below 0, or `MISSING` where an array of some elements has
no address.
"""

from __future__ import annotations

from pykern.data.source import ArraySpec, KernelSource, leaves
from pykern.lowering.llvm.launcher import argument_types
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I8, I32, I64, NULL, VOID, Value

NEGATIVE, MISSING = 1, 2
ENDINGS = ("", "_part", "_extent")
"""What stands behind the kernel's name in the names of its functions."""


def object_text(source: KernelSource, symbol: str) -> str:
    """The functions around the kernel `symbol`."""
    module, name = Module(), source.exported_name
    kinds = argument_types(source)
    passed = [I8 if kind == I1 else kind for kind in kinds]

    def given(f: Body) -> list[Value]:
        return [
            f.cast("trunc", value, I1) if kind == I1 else value
            for kind, value in zip(kinds, f.arguments, strict=False)
        ]

    f = Body(module, f"{name}_extent", I64, passed)
    f.ret(f.call(f"{symbol}.extent", I64, *given(f), 0, 0, 0))

    f = Body(module, name, I32, passed)
    _check(f, source)
    extent = f.call(f"{symbol}.extent", I64, *given(f), 0, 0, 0)
    f.call(symbol, VOID, *given(f), 0, extent, 0)
    f.ret(I32(0))

    f = Body(module, f"{name}_part", I32, [*passed, I64, I64])
    _check(f, source)
    f.call(symbol, VOID, *given(f), *f.arguments[-2:], 0)
    f.ret(I32(0))
    return str(module)


def _check(f: Body, source: KernelSource) -> None:
    """Return a code for arguments that no launch has."""
    values = iter(f.arguments)
    pointers: list[tuple[Value, list[Value]]] = []
    for parameter in source.parameters:
        for spec in leaves(parameter.spec):
            first = next(values)
            if isinstance(spec, ArraySpec):
                pointers.append((first, [next(values) for _ in range(spec.rank)]))
                for _ in range(spec.rank * spec.strided):
                    next(values)
    if source.launch.shared:
        next(values)
    step = 1 if source.launch.plain else 3
    counts = [next(values) for _ in range(source.launch.rank * step)][::step]
    for length in [*(n for _, lengths in pointers for n in lengths), *counts]:
        f.need(f.is_(length, ">=", 0), I32(NEGATIVE))
    for pointer, lengths in pointers:
        is_there = f.is_(pointer, "!=", NULL)
        for length in lengths:
            is_there = f.or_(is_there, f.is_(length, "==", 0))
        f.need(is_there, I32(MISSING))
