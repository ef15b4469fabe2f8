"""`pk_run` of a program, and the functions that share a nest among threads. LLVM IR texts.

The same contract as a kernel's (`pykern.data.abi`): slots for the flattened arguments, where an array is its
pointer alone, since lengths are known; then a pointer for each result of its own, the report, and a
pointer to the scratch memory.

Two texts, because they are made into code apart: `run_text` belongs to the program and is optimised with it;
`teams_text` is called once for a large nest, so that the quickest code generator is good enough for it.
Read next: `pykern.lowering.llvm.runtime_functions`, what these call.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.lowering.llvm.launcher import BOUNDS, from_slots
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import F16, F32, F64, I64, NULL, PTR, VOID, Type
from pykern.passes.codegen.cpu.loop_nest.function import TEAM


def kinds_of(function: ir.Operation) -> list[Type]:
    """LLVM types of a function's arguments, buffers as pointers."""
    inputs = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
    return [_kind(t) for t in inputs]


def _kind(kind: ir.Type) -> Type:
    if isinstance(kind, ir.MemRefType):
        return PTR
    if isinstance(kind, ir.IndexType):
        return I64
    if isinstance(kind, ir.IntegerType):
        return Type(str(kind), kind.width)
    return {"f16": F16, "bf16": Type("i16", 16), "f32": F32, "f64": F64}[str(kind)]


@dataclass(frozen=True)
class Team:
    """A `.team` function: its name, the types of its arguments, and whether parts of its nest repeat something."""

    symbol: str
    kinds: list[Type]
    repeats: bool = False


def teams_of(module: ir.Module) -> list[Team]:
    """The `.team` functions a program calls."""
    found = []
    for op in module.body.operations:
        symbol = ir.StringAttr(op.operation.attributes["sym_name"]).value
        if symbol.endswith(TEAM):
            found.append(Team(symbol, kinds_of(op.operation), kern.REPEATS in op.operation.attributes))
    return found


def run_text(symbol: str, kinds: list[Type]) -> str:
    """`pk_run` for the program `symbol`."""
    module = Module()
    f = Body(module, "pk_run", VOID, [PTR])
    f.call(symbol, VOID, *from_slots(f, f.arguments[0], kinds))
    f.ret()
    return str(module)


def teams_text(teams: list[Team]) -> str:
    """The `.team` functions."""
    module = Module()
    module.linkage["pk_parallel"] = "hidden"
    for team in teams:
        _team(module, team)
    return str(module)


def nest_of(team: str) -> str:
    """The function that a `.team` function calls."""
    return team.removesuffix(TEAM)


def _team(module: Module, team: Team) -> None:
    """`<nest>.team`: its arguments go into slots, and threads call the nest for parts of it. How many parts there are
    follows from how long it took last (`<nest>.seen`), unless they repeat something."""
    nest, passed = nest_of(team.symbol), team.kinds[: -len(BOUNDS)]
    seen = NULL if team.repeats else module.define(f"{nest}.seen", "internal global i64 0")
    module.linkage |= {nest: "hidden", team.symbol: "hidden", f"{nest}.part": "internal"}
    part = module.function(f"{nest}.part", (VOID, (PTR, *BOUNDS)))
    f = Body(module, team.symbol, VOID, team.kinds)
    f.attributes.append("noinline")
    *values, _, extent = f.arguments
    slots = f.stack(f"[{len(passed)} x i64]")
    for n, value in enumerate(values):
        f.store(value, slots, 8 * n)
    f.call("pk_parallel", VOID, part, slots, extent, seen)
    f.ret()
    f = Body(module, f"{nest}.part", VOID, [PTR, *BOUNDS])
    slots, low, high = f.arguments
    f.call(nest, VOID, *from_slots(f, slots, passed), low, high)
    f.ret()
