"""The image of the team of threads: its functions, put together, compiled and linked.

Comes in: nothing. Goes out: an artifact, loaded once a process by `pykern.runtime.team`; its functions stand in the
table of `pykern.data.abi`. Read next: `fork`, what launches call.
"""

from __future__ import annotations

import time

from pykern.data.abi import TEAM_FUNCTIONS
from pykern.data.artifact import Artifact
from pykern.lowering.llvm.codegen import generate, machine_of
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.machines import Host
from pykern.lowering.llvm.optimisation import CAREFUL
from pykern.lowering.llvm.team.calls import write_calls
from pykern.lowering.llvm.team.fork import write_fork
from pykern.lowering.llvm.team.interrupts import write_interrupts
from pykern.lowering.llvm.team.memory_blocks import write_memory_blocks
from pykern.lowering.llvm.team.state import TeamBody, new_state
from pykern.lowering.llvm.team.system import PROCESSORS, write_system
from pykern.lowering.llvm.team.watch import write_watch
from pykern.lowering.llvm.team.work import write_work
from pykern.lowering.llvm.team.workers import write_workers
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, NULL, PTR, VOID
from pykern.lowering.record import Record

THIS = Host()
SELDOM = (
    "pk_now",
    "pk_forbid",
    "pk_short_slice",
    "pk_ask",
    "pk_check",
    "pk_call_python",
    "pk_no_memory",
    "pk_stop",
    "pk_chunk",
    "pk_watch",
    "pk_signal",
    "pk_interrupt",
    "pk_interrupt_all",
    "pk_release",
    "pk_sleep",
    "pk_hire",
    "pk_alone",
)
"""Functions that are called seldom, or take long: they stand once."""

WRITERS = (
    write_system, write_memory_blocks, write_calls, write_interrupts, write_watch, write_work, write_workers,
    write_fork,
)  # fmt: skip


def lower(record: Record) -> Artifact:
    """Write it, generate code, link."""
    code = generate(team_text(), (), TEAM_FUNCTIONS, texts=record.texts, passes=CAREFUL)
    started = time.perf_counter()
    binary = link_shared(*code.objects)
    record.add("link", "", started, "none")
    return Artifact("", "pk_fork", "entry:team", "pk_fork", binary)


def team_text(host: Host = THIS) -> str:
    """LLVM IR for a machine. Raises KeyError for one whose system calls nobody knows."""
    module = Module(machine_of(host).triple.decode())
    assert module.triple.partition("-")[0] in PROCESSORS
    new_state(module)
    _start(module)
    for write in WRITERS:
        write(module)
    for name in SELDOM:
        module.functions[name].attributes.append("noinline")
    return str(module)


def _start(module: Module) -> None:
    """`pk_init` takes the table, `pk_state` gives the facts, of which "key" is made at once."""
    table = module.define("pk_table", "internal global ptr null")
    f = TeamBody(module, "pk_init", VOID, [PTR])
    f.store(f.arguments[0], table)
    f.call("pthread_key_create", I32, f.state("key"), NULL)
    f.ret()
    f = TeamBody(module, "pk_state", PTR, [])
    f.ret(f.place(module.globals["state"], 0))
