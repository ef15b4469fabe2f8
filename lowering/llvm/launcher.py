"""`pk_run`: a launch from its cells, in one thread or many. LLVM IR text, linked to the kernel.

Who shares chunks among threads is `pk_fork` of the table (`pykern.lowering.llvm.team`); how many chunks there are
follows from the work alone.

Text rather than MLIR: the code is the same few shapes for every kernel, knows nothing of the stages,
and LLVM parses it in a fraction of a millisecond.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pykern.data.abi import TABLE_INDEX
from pykern.data.source import ArgSpec, ArraySpec, KernelSource, ScalarSpec, StructSpec
from pykern.passes.analysis.cost_model import PARALLEL_WORK
from pykern.types import BY_NAME

CHUNKS_EACH, UNKNOWN_EACH = 4, 16
"""Chunks of a thread, so that others may help one that is late; the second where nobody knows how long each takes."""
SHORT_WORK = 1 << 17
"""Operations of a chunk: fewer are not worth it."""


@dataclass(frozen=True)
class Cell:
    """One cell of a launch: its LLVM type as the kernel function takes it."""

    kind: str


def llvm_type(dtype_name: str) -> str:
    """The LLVM type of a scalar argument; bf16 is passed as a word (`short_floats`)."""
    dtype = BY_NAME[dtype_name]
    if dtype.is_float:
        return {"f16": "half", "bf16": "i16", "f32": "float"}.get(dtype_name, "double")
    return f"i{dtype.bits}"


def cells(source: KernelSource) -> list[Cell]:
    """The cells of `pykern.data.abi`, without the last one (the report)."""
    listed = [cell for p in source.parameters for cell in _of(p.spec)]
    listed += [Cell("i64")] * source.launch.shared
    return listed + [Cell("i64")] * (source.launch.rank * (1 if source.launch.plain else 3))


def _of(spec: ArgSpec) -> Iterator[Cell]:
    if isinstance(spec, ArraySpec):
        yield Cell("ptr")
        yield from [Cell("i64")] * (spec.rank * (1 if spec.layout == "C" else 2))
    elif isinstance(spec, ScalarSpec):
        yield Cell(llvm_type(spec.dtype))
    elif isinstance(spec, StructSpec):
        for _, inner in spec.fields:
            yield from _of(inner)


def launcher_text(
    source: KernelSource, symbol: str, repeats: bool = False, sequential: bool = False, endless: bool = False
) -> str:
    """`pk_run` and the part a thread runs, for the kernel function `symbol`.

    `repeats`: a part makes something first, or adds its sums at its end, so there are to be few. `sequential`: parts
    run in order. `endless`: nobody knows how long a work-item takes, so that every launch is one that other Python
    threads do not wait for, and that Ctrl-C ends.
    """
    listed = cells(source)
    types = ", ".join(cell.kind for cell in listed)
    values = ", ".join(f"{cell.kind} %a{n}" for n, cell in enumerate(listed))
    load = "\n".join(line for n, cell in enumerate(listed) for line in load_cell(n, cell))
    return _TEXT.format(
        symbol=symbol,
        types=types,
        values=values,
        load=load,
        report_cell=len(listed),
        fork=TABLE_INDEX["pk_fork"],
        threads="add i64 0, 1" if sequential else "load i64, ptr %cp",
        threads_cell=TABLE_INDEX["threads"],
        each=1 if repeats else UNKNOWN_EACH if endless else CHUNKS_EACH,
        short=SHORT_WORK,
        enough=PARALLEL_WORK,
        unknown=PARALLEL_WORK if endless else 0,
    )


def load_cell(n: int, cell: Cell) -> Iterator[str]:
    yield f"  %p{n} = getelementptr i64, ptr %slots, i64 {n}"
    if cell.kind in ("ptr", "i64", "double"):
        yield f"  %a{n} = load {cell.kind}, ptr %p{n}"
        return
    yield f"  %w{n} = load i64, ptr %p{n}"
    bits = {"half": 16, "float": 32}.get(cell.kind)
    if bits is None:
        yield f"  %a{n} = trunc i64 %w{n} to {cell.kind}"
    else:
        yield f"  %t{n} = trunc i64 %w{n} to i{bits}"
        yield f"  %a{n} = bitcast i{bits} %t{n} to {cell.kind}"


_TEXT = """
@pk_table = external hidden global ptr

declare void @"{symbol}"({types}, i64, i64, i64)
declare i64 @"{symbol}.extent"({types}, i64, i64, i64)
declare i64 @"{symbol}.work"({types}, i64, i64, i64)

define internal void @pk_part(ptr %slots, i64 %lo, i64 %hi) {{
{load}
  %rp = getelementptr i64, ptr %slots, i64 {report_cell}
  %report = load i64, ptr %rp
  call void @"{symbol}"({values}, i64 %lo, i64 %hi, i64 %report)
  ret void
}}

define i64 @pk_work(ptr %slots) {{
{load}
  %work = call i64 @"{symbol}.work"({values}, i64 0, i64 0, i64 0)
  %counted = add i64 %work, {unknown}
  ret i64 %counted
}}

define void @pk_run(ptr %slots) {{
{load}
  %rp = getelementptr i64, ptr %slots, i64 {report_cell}
  %report = load i64, ptr %rp
  %extent = call i64 @"{symbol}.extent"({values}, i64 0, i64 0, i64 0)
  %work = call i64 @"{symbol}.work"({values}, i64 0, i64 0, i64 0)
  %much = icmp sgt i64 %work, {enough}
  %wide = icmp sgt i64 %extent, 1
  %shares = and i1 %much, %wide
  br i1 %shares, label %worthwhile, label %alone
worthwhile:
  %table = load ptr, ptr @pk_table
  %fp = getelementptr ptr, ptr %table, i64 {fork}
  %fork = load ptr, ptr %fp
  %there = icmp ne ptr %fork, null
  br i1 %there, label %team, label %alone
team:
  %cp = getelementptr i64, ptr %table, i64 {threads_cell}
  %threads = {threads}
  %most = mul i64 %threads, {each}
  %pieces = udiv i64 %work, {short}
  %fewer = icmp slt i64 %pieces, %most
  %fit = select i1 %fewer, i64 %pieces, i64 %most
  %idle = icmp slt i64 %fit, %threads
  %busy = select i1 %idle, i64 %threads, i64 %fit
  %single = icmp sle i64 %threads, 1
  %parts = select i1 %single, i64 1, i64 %busy
  call void %fork(ptr @pk_part, ptr %slots, i64 %extent, i64 %threads, i64 %parts)
  ret void
alone:
  call void @"{symbol}"({values}, i64 0, i64 %extent, i64 %report)
  ret void
}}
"""
