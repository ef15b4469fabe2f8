"""`pk_run`: a launch from its cells, in one thread or many. LLVM IR text, linked to the kernel.

Text rather than MLIR: the code is the same few shapes for every kernel, knows nothing of the stages,
and LLVM parses it in a fraction of a millisecond.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pykern.abi import TABLE_INDEX
from pykern.source import ArgSpec, ArraySpec, KernelSource, ScalarSpec, StructSpec
from pykern.types import BY_NAME

PARALLEL_WORK = 200_000
"""Elementary operations (about 0.3 ns each) from which a fork and join of 1-2 us is worth it."""


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
    """The cells of `pykern.abi`, without the last one (the report)."""
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


def launcher_text(source: KernelSource, symbol: str) -> str:
    """`pk_run` and the part a thread runs, for the kernel function `symbol`."""
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
        gomp=TABLE_INDEX["GOMP_parallel"],
        thread=TABLE_INDEX["omp_get_thread_num"],
        team=TABLE_INDEX["omp_get_num_threads"],
        threads=TABLE_INDEX["threads"],
        enough=PARALLEL_WORK,
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

declare hidden i64 @pk_home()
declare hidden void @pk_apart(i64, i64)

define internal void @pk_part(ptr %data) {{
  %slots = load ptr, ptr %data
{load}
  %rp = getelementptr i64, ptr %slots, i64 {report_cell}
  %report = load i64, ptr %rp
  %table = load ptr, ptr @pk_table
  %np = getelementptr ptr, ptr %table, i64 {thread}
  %nf = load ptr, ptr %np
  %n32 = call i32 %nf()
  %n = sext i32 %n32 to i64
  %tp = getelementptr ptr, ptr %table, i64 {team}
  %tf = load ptr, ptr %tp
  %t32 = call i32 %tf()
  %t = sext i32 %t32 to i64
  %other = icmp ne i64 %n, 0
  br i1 %other, label %apart, label %go
apart:
  %hp = getelementptr i64, ptr %data, i64 1
  %home = load i64, ptr %hp
  call void @pk_apart(i64 %home, i64 %t)
  br label %go
go:
  %extent = call i64 @"{symbol}.extent"({values}, i64 0, i64 0, i64 0)
  %next = add i64 %n, 1
  %lo0 = mul i64 %extent, %n
  %lo = udiv i64 %lo0, %t
  %hi0 = mul i64 %extent, %next
  %hi = udiv i64 %hi0, %t
  call void @"{symbol}"({values}, i64 %lo, i64 %hi, i64 %report)
  ret void
}}

define i64 @pk_work(ptr %slots) {{
{load}
  %work = call i64 @"{symbol}.work"({values}, i64 0, i64 0, i64 0)
  ret i64 %work
}}

define void @pk_run(ptr %slots) {{
{load}
  %rp = getelementptr i64, ptr %slots, i64 {report_cell}
  %report = load i64, ptr %rp
  %extent = call i64 @"{symbol}.extent"({values}, i64 0, i64 0, i64 0)
  %work = call i64 @"{symbol}.work"({values}, i64 0, i64 0, i64 0)
  %much = icmp sgt i64 %work, {enough}
  %wide = icmp sgt i64 %extent, 1
  %worth = and i1 %much, %wide
  br i1 %worth, label %threads, label %alone
threads:
  %table = load ptr, ptr @pk_table
  %cp = getelementptr i64, ptr %table, i64 {threads}
  %wanted = load i64, ptr %cp
  %several = icmp sgt i64 %wanted, 1
  %gp = getelementptr ptr, ptr %table, i64 {gomp}
  %gomp = load ptr, ptr %gp
  %there = icmp ne ptr %gomp, null
  %go = and i1 %several, %there
  br i1 %go, label %team, label %alone
team:
  %fewer = icmp slt i64 %extent, %wanted
  %size = select i1 %fewer, i64 %extent, i64 %wanted
  %size32 = trunc i64 %size to i32
  %data = alloca [2 x i64], align 16
  store ptr %slots, ptr %data
  %home = call i64 @pk_home()
  %hp = getelementptr i64, ptr %data, i64 1
  store i64 %home, ptr %hp
  call void %gomp(ptr @pk_part, ptr %data, i32 %size32, i32 0)
  ret void
alone:
  call void @"{symbol}"({values}, i64 0, i64 %extent, i64 %report)
  ret void
}}
"""
