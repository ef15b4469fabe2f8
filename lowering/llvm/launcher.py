"""`pk_run`: a launch from its slots, in one thread or many. LLVM IR text, linked to the kernel.

Who shares chunks among threads is `pk_fork` of the table (`pykern.lowering.llvm.team`); how many chunks there are
follows from the work alone.

Text rather than MLIR: the code is the same few shapes for every kernel, knows nothing of the stages, and is
quick to parse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pykern.data.source import ArgSpec, ArraySpec, KernelSource, ScalarSpec, StructSpec
from pykern.lowering.llvm.python_objects import table
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import F16, F32, F64, I1, I8, I64, NULL, PTR, VOID, Type, Value
from pykern.passes.analysis.cost_model.threads import (
    CHUNK_WORK,
    CHUNKS_EACH,
    PARALLEL_WORK,
    UNKNOWN_CHUNKS_EACH,
)
from pykern.types import BY_NAME

BOUNDS = (I64, I64)
"""The first of a chunk, and the first behind it."""


def scalar_type(dtype_name: str) -> Type:
    """The LLVM type of a scalar argument; bf16 is passed as an integer (`short_floats`)."""
    dtype = BY_NAME[dtype_name]
    if dtype.is_float:
        return {"f16": F16, "bf16": Type("i16", 16), "f32": F32}.get(dtype_name, F64)
    return Type(f"i{dtype.bits}", dtype.bits)


def argument_types(source: KernelSource) -> list[Type]:
    """What the kernel function takes of each slot of `pykern.data.abi`, without the last one (the report)."""
    listed = [kind for p in source.parameters for kind in _of(p.spec)]
    listed += [I64] * source.launch.shared
    return listed + [I64] * (source.launch.rank * (1 if source.launch.plain else 3))


def _of(spec: ArgSpec) -> Iterator[Type]:
    if isinstance(spec, ArraySpec):
        yield PTR
        yield from [I64] * (spec.rank * (2 if spec.strided else 1))
    elif isinstance(spec, ScalarSpec):
        yield scalar_type(spec.dtype)
    elif isinstance(spec, StructSpec):
        for _, inner in spec.fields:
            yield from _of(inner)


def from_slots(f: Body, slots: Value, kinds: Sequence[Type]) -> list[Value]:
    """The values of the first slots. Machines are little-endian: a narrow value begins where its slot does."""
    return [_from_slot(f, slots, 8 * n, kind) for n, kind in enumerate(kinds)]


def _from_slot(f: Body, slots: Value, offset: int, kind: Type) -> Value:
    if kind == I1:
        return f.cast("trunc", f.load(I8, slots, offset), I1)
    return f.load(kind, slots, offset)


def launcher_text(
    source: KernelSource, symbol: str, repeats: bool = False, sequential: bool = False, endless: bool = False
) -> str:
    """`pk_run`, `pk_work` and the part a thread runs, for the kernel function `symbol`.

    `repeats`: a part makes something first, or adds its sums at its end, so there are to be few. `sequential`: parts
    run in order. `endless`: nobody knows how long a work-item takes, so that every launch is one that other Python
    threads do not wait for, and that Ctrl-C ends.
    """
    kinds = argument_types(source)
    module = Module()
    module.define("pk_table", "external hidden global ptr")

    def query(f: Body, name: str, values: Sequence[Value]) -> Value:
        return f.call(f"{symbol}.{name}", I64, *values, 0, 0, 0)

    module.linkage["pk_part"] = "internal"
    f = Body(module, "pk_part", VOID, [PTR, *BOUNDS])
    slots, low, high = f.arguments
    *values, report = from_slots(f, slots, [*kinds, I64])
    f.call(symbol, VOID, *values, low, high, report)
    f.ret()

    f = Body(module, "pk_work", I64, [PTR])
    work = query(f, "work", from_slots(f, f.arguments[0], kinds))
    f.ret(f.add(work, PARALLEL_WORK) if endless else work)

    f = Body(module, "pk_run", VOID, [PTR])
    (slots,) = f.arguments
    *values, report = from_slots(f, slots, [*kinds, I64])
    extent, work = query(f, "extent", values), query(f, "work", values)
    with f.if_then(f.and_(f.is_(work, ">", PARALLEL_WORK), f.is_(extent, ">", 1))):
        fork = table(f, "pk_fork")
        with f.if_then(f.is_(fork, "!=", NULL)):
            threads = I64(1) if sequential else table(f, "threads", I64)
            parts = _parts(
                f, work, threads, 1 if repeats else UNKNOWN_CHUNKS_EACH if endless else CHUNKS_EACH
            )
            part = module.function("pk_part", (VOID, (PTR, *BOUNDS)))
            f.call_pointer(fork, VOID, part, slots, extent, threads, parts)
            f.ret()
    f.call(symbol, VOID, *values, 0, extent, report)
    f.ret()
    return str(module)


def _parts(f: Body, work: Value, threads: Value, each: int) -> Value:
    """How many chunks: one for one thread, else at least one for each."""
    most = f.mul(threads, each)
    wanted = f.udiv(work, CHUNK_WORK)
    fit = f.select(f.is_(wanted, "<", most), wanted, most)
    busy = f.select(f.is_(fit, "<", threads), threads, fit)
    return f.select(f.is_(threads, "<=", 1), 1, busy)
