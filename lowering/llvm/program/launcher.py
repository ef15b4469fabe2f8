"""`pk_run` of a program, and the functions that share a nest among threads. LLVM IR texts.

The same contract as a kernel's (`pykern.data.abi`): cells for the flattened arguments, where an array is its
pointer alone, since lengths are known; then a pointer for each result of its own, the report, and a
pointer to the scratch memory.

Two texts, because they are made into code apart: `run_text` belongs to the program and is optimised with it;
`teams_text` is called once for a large nest, so that the quickest code generator does (7 ms less for a product).
Read next: `pykern.lowering.llvm.table`, what these call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from pykern.lowering.llvm.launcher import Cell, load_cell
from pykern.passes.codegen.cpu.loop_nest.function import REPEATS, TEAM


def kinds_of(function: ir.Operation) -> list[str]:
    """LLVM types of a function's arguments, buffers as pointers."""
    inputs = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
    return [_kind(t) for t in inputs]


def _kind(kind: ir.Type) -> str:
    if isinstance(kind, ir.MemRefType):
        return "ptr"
    if isinstance(kind, ir.IndexType):
        return "i64"
    floats = {"f16": "half", "bf16": "i16", "f32": "float", "f64": "double"}
    return floats.get(str(kind), str(kind))


@dataclass(frozen=True)
class Team:
    """A `.team` function: its name, the types of its arguments, and whether parts of its nest repeat something."""

    symbol: str
    kinds: list[str]
    repeats: bool = False


def teams_of(module: ir.Module) -> list[Team]:
    """The `.team` functions a program calls."""
    found = []
    for op in module.body.operations:
        symbol = ir.StringAttr(op.operation.attributes["sym_name"]).value
        if symbol.endswith(TEAM):
            found.append(Team(symbol, kinds_of(op.operation), REPEATS in op.operation.attributes))
    return found


def run_text(symbol: str, kinds: list[str]) -> str:
    """`pk_run` for the program `symbol`."""
    types = ", ".join(kinds)
    values = ", ".join(f"{kind} %a{n}" for n, kind in enumerate(kinds))
    loads = "\n".join(line for n, kind in enumerate(kinds) for line in load_cell(n, Cell(kind)))
    return _RUN.format(symbol=symbol, types=types, values=values, loads=loads)


def teams_text(teams: list[Team]) -> str:
    """The `.team` functions."""
    return "declare hidden void @pk_parallel(ptr, ptr, i64, ptr)\n" + "".join(
        line for team in teams for line in _team(team)
    )


def nest_of(team: str) -> str:
    """The function that a `.team` function calls."""
    return team.removesuffix(TEAM)


def _team(team: Team) -> Iterator[str]:
    """`<nest>.team`: its arguments go into memory, and threads call the nest for parts of it. How many parts there are
    follows from how long it took last (`<nest>.seen`), unless they repeat something."""
    symbol, kinds, nest = team.symbol, team.kinds, nest_of(team.symbol)
    seen = "null" if team.repeats else f'@"{nest}.seen"'
    *passed, _, _ = kinds
    struct = "{ " + ", ".join(passed) + " }"
    parameters = ", ".join(f"{kind} %a{n}" for n, kind in enumerate(passed))
    comma = ", " if passed else ""
    if not team.repeats:
        yield f'@"{nest}.seen" = internal global i64 0\n'
    yield f'\ndeclare hidden void @"{nest}"({", ".join(kinds)})\n'
    yield f'define hidden void @"{symbol}"({parameters}{comma}i64 %lo, i64 %hi) noinline {{\n  %c = alloca {struct}\n'
    for n, kind in enumerate(passed):
        yield f"  %p{n} = getelementptr {struct}, ptr %c, i32 0, i32 {n}\n  store {kind} %a{n}, ptr %p{n}\n"
    yield f'  call void @pk_parallel(ptr @"{nest}.part", ptr %c, i64 %hi, ptr {seen})\n  ret void\n}}\n'
    yield f'define internal void @"{nest}.part"(ptr %c, i64 %lo, i64 %hi) {{\n'
    for n, kind in enumerate(passed):
        yield f"  %p{n} = getelementptr {struct}, ptr %c, i32 0, i32 {n}\n  %a{n} = load {kind}, ptr %p{n}\n"
    yield f'  call void @"{nest}"({parameters}{comma}i64 %lo, i64 %hi)\n  ret void\n}}\n'


_RUN = """
@pk_table = external hidden global ptr

declare void @"{symbol}"({types})

define void @pk_run(ptr %slots) {{
{loads}
  call void @"{symbol}"({values})
  ret void
}}
"""
