"""Names the kernel in which the process dies of a segmentation fault. LLVM IR text, an object of its own.

Comes in: nothing. Goes out: a shared object with `pk_watch`, which is given a table of the code that is loaded
(`pykern.runtime.faults`) and sets a handler of SIGSEGV and SIGBUS. The handler writes a message where the fault, or a
call that led to it, is in that code; then it hands on to the handler before, or lets the signal do what it does without
one. It allocates nothing, takes no lock, and calls what POSIX lets signal handlers call.
"""

from __future__ import annotations

import platform
import time

from pykern.data.artifact import Artifact
from pykern.lowering.llvm.codegen import assemble
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.team.state import TeamBody
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I32, I64, NULL, PTR, VOID
from pykern.lowering.record import Record

_MACHINES = {"x86_64": (168, 160, 14), "aarch64": (440, 432, 135)}
"""Bytes from Linux's `ucontext_t` to the program counter and the stack pointer, and the number of rt_sigprocmask."""
SIGSEGV, SIGBUS = 11, 7
_FLAGS = 0x40000000 | 0x08000000 | 4
"""SA_NODEFER | SA_ONSTACK | SA_SIGINFO."""
_CALLS, _SENT = 64, 1024
"""Words of the stack in which a return address is looked for: below a function of the C library that a kernel called
(`memcpy`), and where somebody has sent the signal once more, as faulthandler does."""

_ACTION = 152
"""Bytes of C's `struct sigaction`, which begins with the handler; flags are behind the signals it keeps out."""
_ACTION_FLAGS, _WITH_INFO = 136, 4
_EFAULT = 14
_ENTRY, _LOW, _SIZE, _MESSAGE, _LENGTH = 32, 0, 8, 16, 24
"""Bytes of an entry of the table, behind its count; then where its code begins, how long it is, and what is written."""


def _text(pc: int, sp: int, mask: int) -> str:
    """The module, for a machine of these numbers."""
    module = Module()
    module.define("table", "internal global ptr null")
    module.define("before", f"internal global [{2 * _ACTION} x i8] zeroinitializer")
    module.define("busy", "internal global i32 0")
    for name in ("readable", "found", "on_stack", "fault"):
        module.linkage[name] = "internal"
    _readable(module, mask)
    _found(module)
    _on_stack(module)
    _fault(module, pc, sp)
    _watch(module)
    return str(module)


def _readable(module: Module, mask: int) -> None:
    """Whether memory can be read: Linux looks at the set before it finds that there is no such change to make."""
    f = TeamBody(module, "readable", I1, [PTR])
    f.system(mask, -1, f.arguments[0], 0, 8)
    error = f.load(I32, f.call("__errno_location", PTR))
    f.ret(f.is_(error, "!=", _EFAULT))


def _found(module: Module) -> None:
    """The entry of the code that a place is in; null where there is none."""
    f = TeamBody(module, "found", PTR, [I64])
    (place,) = f.arguments
    table = f.load(PTR, module.globals["table"])
    with f.loop(f.read(table, order="acquire")) as n:
        entry = f.place(table, f.add(f.mul(n, _ENTRY), 8))
        inside = f.is_(f.sub(place, f.load(I64, entry, _LOW)), "u<", f.load(I64, entry, _SIZE))
        with f.if_then(inside):
            f.ret(entry)
    f.ret(NULL)


def _on_stack(module: Module) -> None:
    """The entry of the first of so many words of the stack that has one."""
    f = TeamBody(module, "on_stack", PTR, [I64, I64])
    sp, words = f.arguments
    with f.loop(words) as n:
        at = f.add(sp, f.mul(n, 8))
        pointer = f.cast("inttoptr", at, PTR)
        begins_page = f.is_(f.and_(at, 4095), "==", 0)
        with f.if_then(f.or_(begins_page, f.is_(n, "==", 0))):
            f.need(f.call("readable", I1, pointer), NULL)
        entry = f.call("found", PTR, f.read(pointer))
        with f.if_then(f.is_(entry, "!=", NULL)):
            f.ret(entry)
    f.ret(NULL)


def _fault(module: Module, pc: int, sp: int) -> None:
    """The handler."""
    f = TeamBody(module, "fault", VOID, [I32, PTR, PTR])
    signal, info, context = f.arguments
    errno = f.call("__errno_location", PTR)
    error = f.load(I32, errno)
    sent = f.is_(f.load(I32, info, 8), "<=", 0)
    busy = module.globals["busy"]
    again = f.atomic_rmw("add", busy, I32(1), "acq_rel")
    with f.if_then(f.is_(again, "==", 0)):
        entry = f.variable(f.call("found", PTR, f.load(I64, context, pc)))
        with f.if_then(f.is_(f.load(PTR, entry), "==", NULL)):
            words = f.select(sent, _SENT, I64(_CALLS))
            f.store(f.call("on_stack", PTR, f.and_(f.load(I64, context, sp), -8), words), entry)
        known = f.load(PTR, entry)
        with f.if_then(f.is_(known, "!=", NULL)):
            f.call("write", I64, I32(2), f.load(PTR, known, _MESSAGE), f.load(I64, known, _LENGTH))
    f.store(error, errno)
    f.atomic_rmw("sub", busy, I32(1), "acq_rel")
    is_bus = f.cast("zext", f.is_(signal, "==", SIGBUS), I64)
    old = f.place(module.globals["before"], f.mul(is_bus, _ACTION))
    handler = f.load(PTR, old)
    with f.if_then(f.is_(f.cast("ptrtoint", handler, I64), "u<=", 1)):
        f.call("sigaction", I32, signal, old, NULL)
        with f.if_then(sent):
            f.call("raise", I32, signal)
        f.ret()
    wants_info = f.and_(f.load(I32, old, _ACTION_FLAGS), _WITH_INFO)
    with f.if_else(f.is_(wants_info, "!=", 0)) as (informed, plain):
        with informed:
            f.call_pointer(handler, VOID, signal, info, context)
        with plain:
            f.call_pointer(handler, VOID, signal)
    f.ret()


def _watch(module: Module) -> None:
    """`pk_watch`, which takes the table."""
    f = TeamBody(module, "pk_watch", VOID, [PTR])
    f.store(f.arguments[0], module.globals["table"])
    action = f.memory(_ACTION)
    for offset in range(0, _ACTION, 8):
        f.store(0, action, offset)
    f.store(module.function("fault", (VOID, (I32, PTR, PTR))), action)
    f.store(I32(_FLAGS), action, _ACTION_FLAGS)
    before = module.globals["before"]
    for n, number in enumerate((SIGSEGV, SIGBUS)):
        f.call("sigaction", I32, I32(number), action, f.place(before, n * _ACTION))
    f.ret()


def lower(record: Record) -> Artifact:
    """Generate code, link."""
    text = _text(*_MACHINES[platform.machine()])
    started = time.perf_counter()
    binary = link_shared(assemble(text, quickly=True))  # it runs at most once, and its making is waited for
    record.add("link", "", started, "none")
    return Artifact("", "pk_watch", "entry:faults", "pk_watch", binary)
