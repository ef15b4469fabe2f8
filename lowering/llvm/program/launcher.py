"""`pk_run` of a program, and the functions that share a nest among threads. LLVM IR text.

The same contract as a kernel's (`pykern.abi`): cells for the flattened arguments, where an array is its
pointer alone, since lengths are known; then a pointer for each result of its own, the report, and a
pointer to the scratch memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from pykern.abi import TABLE_INDEX
from pykern.lowering.llvm.launcher import Cell, load_cell
from pykern.lowering.llvm.scratch import SCRATCH
from pykern.lowering.llvm.team import TEAM_TEXT
from pykern.passes.array_programs.nests.function import TEAM


def kinds_of(function: ir.Operation) -> list[str]:
    """LLVM types of a function's arguments, buffers as pointers."""
    inputs = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
    return [_kind(t) for t in inputs]


def _kind(kind: ir.Type) -> str:
    if isinstance(kind, ir.MemRefType):
        return "ptr"
    if isinstance(kind, ir.IndexType):
        return "i64"
    floats = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
    return floats.get(str(kind), str(kind))


def teams_of(module: ir.Module) -> list[tuple[str, list[str]]]:
    """The `.team` functions a program calls, with their argument types."""
    found = []
    for op in module.body.operations:
        symbol = ir.StringAttr(op.operation.attributes["sym_name"]).value
        if symbol.endswith(TEAM):
            found.append((symbol, kinds_of(op.operation)))
    return found


def launcher_text(symbol: str, kinds: list[str], teams: list[tuple[str, list[str]]]) -> str:
    """All of it for the program `symbol`."""
    types = ", ".join(kinds)
    values = ", ".join(f"{kind} %a{n}" for n, kind in enumerate(kinds))
    loads = "\n".join(line for n, kind in enumerate(kinds) for line in load_cell(n, Cell(kind)))
    run = _RUN.format(symbol=symbol, types=types, values=values, loads=loads)
    parallel = _PARALLEL.format(
        gomp=TABLE_INDEX["GOMP_parallel"],
        thread=TABLE_INDEX["omp_get_thread_num"],
        team=TABLE_INDEX["omp_get_num_threads"],
        threads=TABLE_INDEX["threads"],
    )
    return SCRATCH + TEAM_TEXT + run + parallel + "".join(line for team in teams for line in _team(*team))


def _team(symbol: str, kinds: list[str]) -> Iterator[str]:
    """`<nest>.team`: its arguments go into memory, and every thread calls the nest for its part."""
    nest = symbol.removesuffix(TEAM)
    *passed, _, _ = kinds
    struct = "{ " + ", ".join(passed) + " }"
    parameters = ", ".join(f"{kind} %a{n}" for n, kind in enumerate(passed))
    comma = ", " if passed else ""
    yield f'\ndeclare void @"{nest}"({", ".join(kinds)})\n'
    yield f'define void @"{symbol}"({parameters}{comma}i64 %lo, i64 %hi) noinline {{\n  %c = alloca {struct}\n'
    for n, kind in enumerate(passed):
        yield f"  %p{n} = getelementptr {struct}, ptr %c, i32 0, i32 {n}\n  store {kind} %a{n}, ptr %p{n}\n"
    yield f'  call void @pk_parallel(ptr @"{nest}.part", ptr %c, i64 %hi)\n  ret void\n}}\n'
    yield f'define internal void @"{nest}.part"(ptr %c, i64 %lo, i64 %hi) {{\n'
    for n, kind in enumerate(passed):
        yield f"  %p{n} = getelementptr {struct}, ptr %c, i32 0, i32 {n}\n  %a{n} = load {kind}, ptr %p{n}\n"
    yield f'  call void @"{nest}"({parameters}{comma}i64 %lo, i64 %hi)\n  ret void\n}}\n'


_RUN = """
@pk_table = hidden global ptr null

declare void @"{symbol}"({types})

define void @pk_init(ptr %table) {{
  store ptr %table, ptr @pk_table
  ret void
}}

define void @pk_run(ptr %slots) {{
{loads}
  call void @"{symbol}"({values})
  ret void
}}
"""

_PARALLEL = """
define internal void @pk_split(ptr %data) {{
  %fn = load ptr, ptr %data
  %cp = getelementptr ptr, ptr %data, i64 1
  %c = load ptr, ptr %cp
  %ep = getelementptr i64, ptr %data, i64 2
  %extent = load i64, ptr %ep
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
  %hp = getelementptr i64, ptr %data, i64 3
  %home = load i64, ptr %hp
  call void @pk_apart(i64 %home, i64 %t)
  br label %go
go:
  %next = add i64 %n, 1
  %lo0 = mul i64 %extent, %n
  %lo = udiv i64 %lo0, %t
  %hi0 = mul i64 %extent, %next
  %hi = udiv i64 %hi0, %t
  call void %fn(ptr %c, i64 %lo, i64 %hi)
  ret void
}}

define internal void @pk_parallel(ptr %fn, ptr %c, i64 %extent) noinline {{
  %data = alloca [4 x i64], align 16
  %table = load ptr, ptr @pk_table
  %wp = getelementptr i64, ptr %table, i64 {threads}
  %wanted = load i64, ptr %wp
  %several = icmp sgt i64 %wanted, 1
  %gp = getelementptr ptr, ptr %table, i64 {gomp}
  %gomp = load ptr, ptr %gp
  %there = icmp ne ptr %gomp, null
  %go = and i1 %several, %there
  br i1 %go, label %team, label %alone
team:
  store ptr %fn, ptr %data
  %cp = getelementptr ptr, ptr %data, i64 1
  store ptr %c, ptr %cp
  %ep = getelementptr i64, ptr %data, i64 2
  store i64 %extent, ptr %ep
  %home = call i64 @pk_home()
  %hp = getelementptr i64, ptr %data, i64 3
  store i64 %home, ptr %hp
  %fewer = icmp slt i64 %extent, %wanted
  %size = select i1 %fewer, i64 %extent, i64 %wanted
  %size32 = trunc i64 %size to i32
  call void %gomp(ptr @pk_split, ptr %data, i32 %size32, i32 0)
  ret void
alone:
  call void %fn(ptr %c, i64 0, i64 %extent)
  ret void
}}
"""
