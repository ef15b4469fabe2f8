"""A signal that interrupts compiled code, so that a launch can be left in the midst of a chunk.

Comes in: a thread that Linux is asked to interrupt (`watch`, and `fork` of a launch that is being stopped). The handler
looks where it was. In the code of kernels and programs, which holds nothing but memory, it may do what is done between
chunks: the main thread asks Python for signals, and whoever works for a launch that is stopped leaves its chunk by
`longjmp`. Anywhere else, in the C library or Python or the team itself, it returns at once, and is sent again. So
compiled code pays nothing for it.

The signal is the first real-time signal that nobody has a handler for. Linux starts handlers with the processor's
floating-point modes as a new process has them: they are set back before anything is left.
"""

from __future__ import annotations

from pykern.data.abi import TABLE_INDEX
from pykern.lowering.llvm.team.state import FRAME, SLOT, TeamBody
from pykern.lowering.llvm.team.system import MASK_BYTES, processor
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I8, I32, I64, NULL, PTR, VOID, Type, Value

FIRST, LAST = 40, 64
"""Real-time signals, without those that C libraries keep for themselves, and the next ones, which programs take."""
ACTION_BYTES, FLAGS = 152, 136
"""Of the C library's `struct sigaction`, which begins with the handler, and to its flags."""
WITH_INFO, RESTART = 0x4, 0x10000000
UNBLOCK = 1
FLOATING_STATE = 224
"""Bytes from a `ucontext_t` of x86-64 to the address of the floating-point state: x87's control word is its first, and
that of SSE stands at `CONTROL`. In C's `fenv_t` they are the first as well, and at `CONTROL_IN_ENVIRONMENT`."""
CONTROL, CONTROL_IN_ENVIRONMENT, ENVIRONMENT_BYTES = 24, 28, 32
I16 = Type("i16", 16)


def write_interrupts(module: Module) -> None:
    """The functions of this file."""
    _is_ours(module)
    _interrupted(module)
    _signal(module)
    _interrupt(module)


def _is_ours(module: Module) -> None:
    """Whether a place lies in the code of a kernel or program."""
    f = TeamBody(module, "pk_is_ours", I1, [I64])
    (place,) = f.arguments
    table = f.load(PTR, module.globals["pk_table"])
    ranges = f.load_atomic(PTR, f.place(table, 8 * TABLE_INDEX["own_code"]), "acquire")
    f.need(f.is_(ranges, "!=", NULL), I1(0))
    with f.loop(f.read(ranges, order="acquire")) as n:
        at = f.place(ranges, f.add(f.mul(n, 16), 8))
        low, high = f.read(at), f.read(at, 8)
        with f.if_then(f.and_(f.is_(place, ">=", low), f.is_(place, "<", high))):
            f.ret(I1(1))
    f.ret(I1(0))


def _interrupted(module: Module) -> None:
    """The handler."""
    f = TeamBody(module, "pk_interrupted", VOID, [I32, PTR, PTR])
    number, _, context = f.arguments

    def go_on_where(condition: Value) -> None:
        with f.if_then(f.not_(condition)):
            f.ret()

    with f.if_then(f.is_(f.call("pthread_self", I64), "==", f.read(f.state("main")))):
        f.write(0, f.state("pending"))
    go_on_where(f.call("pk_is_ours", I1, f.load(I64, context, processor(f).counter)))
    frame = f.frame()
    go_on_where(f.is_(frame, "!=", NULL))
    go_on_where(f.is_(f.load(I64, frame, FRAME["python"]), "==", 0))
    slot = f.load(PTR, frame, FRAME["slot"])
    stopped = f.variable(f.load(I64, frame, FRAME["stopped"]))
    with f.if_then(f.is_(slot, "!=", NULL)):
        f.store(f.or_(f.load(I64, stopped), f.read(slot, SLOT["stop"])), stopped)
    asks = f.is_(f.load(I64, frame, FRAME["asks"]), "!=", 0)
    go_on_where(f.or_(asks, f.is_(f.load(I64, stopped), "!=", 0)))
    _restore_modes(f, context)
    f.call("pthread_sigmask", I32, I32(UNBLOCK), _set_of(f, f.cast("sext", number, I64)), NULL)
    with f.if_then(f.is_(f.load(I64, stopped), "==", 0)):
        f.call("pk_check", VOID, frame, slot)
        f.store(f.load(I64, frame, FRAME["stopped"]), stopped)
    with f.if_then(f.is_(f.load(I64, stopped), "!=", 0)):
        f.call("longjmp", VOID, frame, I32(1))
    f.ret()


def _restore_modes(f: TeamBody, context: Value) -> None:
    """Rounding, and what becomes of the smallest numbers, as the interrupted code had it."""
    if not f.module.triple.startswith("x86_64"):
        return  # Linux leaves them alone there
    state = f.load(PTR, context, FLOATING_STATE)
    with f.if_then(f.is_(state, "!=", NULL)):
        environment = f.memory(ENVIRONMENT_BYTES)
        f.call("fegetenv", I32, environment)
        f.store(f.load(I16, state), environment)
        f.store(f.load(I32, state, CONTROL), environment, CONTROL_IN_ENVIRONMENT)
        f.call("fesetenv", I32, environment)


def _set_of(f: TeamBody, number: Value) -> Value:
    """A set of this signal alone."""
    signals = f.memory(MASK_BYTES)
    with f.loop(MASK_BYTES // 8) as n:
        f.put(0, signals, n)
    f.store(f.shl(1, f.sub(number, 1)), signals)
    return signals


def _signal(module: Module) -> None:
    """The number of the signal, whose handler is ours now; 0 where none is free."""
    f = TeamBody(module, "pk_signal", I64, [])
    handler = f.module.function("pk_interrupted", (VOID, (I32, PTR, PTR)))
    action = f.memory(ACTION_BYTES)

    def handler_of(number: Value) -> Value:
        bad = f.is_(f.call("sigaction", I32, f.cast("trunc", number, I32), NULL, action), "!=", 0)
        return f.select(bad, handler_of_nobody, f.load(PTR, action))

    handler_of_nobody = f.cast("inttoptr", I64(1), PTR)
    number = f.read(f.state("signal"))
    with f.if_then(f.is_(number, "!=", 0), likely=True):
        with f.if_then(f.is_(handler_of(number), "==", handler), likely=True):
            f.ret(number)
        f.write(0, f.state("signal"))  # somebody else has taken it meanwhile
    with f.loop(LAST - FIRST + 1) as n:
        tried = f.add(n, FIRST)
        with f.if_then(f.is_(handler_of(tried), "==", NULL)):
            f.call("llvm.memset.p0.i64", VOID, action, I8(0), ACTION_BYTES, I1(0))
            f.store(handler, action)
            f.store(I32(WITH_INFO | RESTART), action, FLAGS)
            done = f.call("sigaction", I32, f.cast("trunc", tried, I32), action, NULL)
            with f.if_then(f.is_(done, "==", 0)):
                f.write(tried, f.state("signal"))
                f.write(0, f.state("pending"))
                f.ret(tried)
    f.ret(0)


def _interrupt(module: Module) -> None:
    """Send the signal to a thread of this process, by Linux's number of it."""
    f = TeamBody(module, "pk_interrupt", VOID, [I64])
    (thread,) = f.arguments
    number = f.call("pk_signal", I64)
    with f.if_then(f.is_(number, "!=", 0)):
        process = f.cast("sext", f.call("getpid", I32), I64)
        f.system(processor(f).signal_thread, process, thread, number)
    f.ret()
