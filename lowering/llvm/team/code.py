"""The image of the team of threads: its functions, put together, compiled and linked.

Comes in: nothing. Goes out: an artifact, loaded once a process by `pykern.runtime.team`; its functions stand in the
table of `pykern.abi`. Read next: `fork`, what launches call.
"""

from __future__ import annotations

import time

import llvmlite.binding as llvm
from llvmlite import ir

from pykern.abi import TEAM_FUNCTIONS
from pykern.artifact import Artifact
from pykern.lowering.llvm.codegen import Host, generate
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.optimisation import GENERAL, Passes
from pykern.lowering.llvm.program.builder import NULL, PTR
from pykern.lowering.llvm.team.calls import write_calls
from pykern.lowering.llvm.team.fork import write_fork
from pykern.lowering.llvm.team.state import VOID, TeamBody, new_state
from pykern.lowering.llvm.team.system import PROCESSORS, write_system
from pykern.lowering.llvm.team.work import write_work
from pykern.lowering.llvm.team.workers import write_workers
from pykern.lowering.record import Record

THIS = Host()
SELDOM = (
    "pk_now",
    "pk_forbid",
    "pk_short_slice",
    "pk_ask",
    "pk_poll",
    "pk_chunk",
    "pk_sleep",
    "pk_hire",
    "pk_alone",
)
"""Functions that are called seldom, or take long: they stand once."""


def lower(record: Record) -> Artifact:
    """Write it, generate code, link."""
    code = generate(team_text(), (), TEAM_FUNCTIONS, texts=record.texts, passes=Passes(GENERAL))
    started = time.perf_counter()
    binary = link_shared(*code.objects)
    record.add("link", "", started, "none")
    return Artifact("", "pk_fork", "entry:team", "pk_fork", binary)


def team_text(host: Host = THIS) -> str:
    """LLVM IR for a machine. Raises KeyError for one whose system calls nobody knows."""
    module = ir.Module()
    module.triple = host.triple or llvm.get_process_triple()
    assert module.triple.partition("-")[0] in PROCESSORS
    new_state(module)
    _start(module)
    for write in (write_system, write_calls, write_work, write_workers, write_fork):
        write(module)
    for name in SELDOM:
        module.globals[name].attributes.add("noinline")
    return str(module)


def _start(module: ir.Module) -> None:
    """`pk_init` takes the table, `pk_state` gives the facts, of which "key" is made at once."""
    table = ir.GlobalVariable(module, PTR, "pk_table")
    table.linkage, table.initializer, table.type = "internal", NULL, PTR
    f = TeamBody(module, "pk_init", VOID, [PTR])
    f.store(f.arguments[0], table)
    f.call("pthread_key_create", ir.IntType(32), f.state("key"), NULL)
    f.write(f.call("pthread_self", ir.IntType(64)), f.state("main"))
    f.at.ret_void()
    f = TeamBody(module, "pk_state", PTR, [])
    f.at.ret(f.place(module.globals["state"], 0))
