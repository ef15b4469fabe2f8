"""What every kernel and program has with it: the address of the table, and how a nest asks for threads. LLVM IR text.

Comes in: nothing. Goes out: `RUNTIME`, which is made into code once and linked to each, and `LAUNCHED`, the same for
what has an entry of its own. Read next: `pykern.lowering.llvm.team`.
"""

from __future__ import annotations

from collections.abc import Callable

from pykern.data.abi import REFUSED
from pykern.lowering.llvm.python_objects import table
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, NULL, PTR, VOID


def _init(module: Module) -> None:
    """`pk_init`, which takes the table."""
    f = Body(module, "pk_init", VOID, [PTR])
    f.store(f.arguments[0], module.define("pk_table", "hidden global ptr null"))
    f.ret()


def _parallel(module: Module) -> None:
    """`pk_parallel` shares a nest among threads, as `pk_share` of the table does, or runs it here where there is
    none."""
    module.linkage["pk_parallel"] = "hidden"
    f = Body(module, "pk_parallel", VOID, [PTR, PTR, I64, PTR])
    function, slots, extent, seen = f.arguments
    share = table(f, "pk_share")
    with f.if_then(f.is_(share, "!=", NULL)):
        f.call_pointer(share, VOID, function, slots, extent, seen)
        f.ret()
    f.call_pointer(function, VOID, slots, 0, extent)
    f.ret()


def _unlocked(module: Module) -> None:
    """`pk_unlocked` runs a long launch, as `pk_call` does, or leaves it to Python, which gets the team first."""
    module.linkage["pk_unlocked"] = "hidden"
    f = Body(module, "pk_unlocked", I32, [PTR, PTR])
    run, slots = f.arguments
    call = table(f, "pk_call")
    with f.if_then(f.is_(call, "!=", NULL)):
        f.ret(f.call_pointer(call, I32, run, slots, tail=True))
    f.need(f.is_(table(f, "team_awaited", I64), "==", 0), I32(REFUSED))
    thread = f.call("PyEval_SaveThread", PTR)
    f.call_pointer(run, VOID, slots)
    f.call("PyEval_RestoreThread", VOID, thread)
    f.ret(I32(0))


def _text(*writers: Callable[[Module], None]) -> str:
    module = Module()
    for write in writers:
        write(module)
    return str(module)


RUNTIME = _text(_init, _parallel)
LAUNCHED = _text(_init, _parallel, _unlocked)
