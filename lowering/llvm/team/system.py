"""What the team asks of Linux: to wait and to wake, where threads may run, and when others may.

Comes in: a function in the making. Goes out: calls in it. Numbers are those of Linux on x86-64 and on aarch64; which of
them, and how a processor is told that a thread only waits, `PROCESSORS` says by the name of the architecture.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.lowering.llvm.team.state import TeamBody
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, PTR, VOID, Operand, Value


@dataclass(frozen=True)
class Processor:
    """Numbers of system calls; bytes from a `ucontext_t` to the program counter; the instruction of a loop that waits,
    as LLVM has it."""

    futex: int
    get_attributes: int
    set_attributes: int
    get_thread: int
    signal_thread: int
    counter: int
    pause: str
    options: tuple[int, ...] = ()


PROCESSORS = {
    "x86_64": Processor(202, 315, 314, 186, 234, 168, "llvm.x86.sse2.pause"),
    "aarch64": Processor(98, 275, 274, 178, 131, 440, "llvm.aarch64.isb", (15,)),
}
WAIT, WAKE, WAIT_SOME, WAKE_SOME = 0x80, 0x81, 0x89, 0x8A
"""Operations of a futex that is this process's own; with "some" among those that wait with such a bit."""
ALL = 0x7FFFFFFF
MONOTONIC = 1
MASK_BYTES = 128
"""Of the C library's `cpu_set_t`, 1024 processors, and of its `sigset_t`."""
ATTRIBUTES = {"size": 0, "policy": 4, "runtime": 24}
ATTRIBUTES_BYTES = 56
SECOND = 1_000_000_000
OTHER, BATCH = 0, 3
"""Policies of threads that share processors by turns."""


def write_system(module: Module) -> None:
    """The functions of this file."""
    _now(module)
    _forbid(module)
    _short_slice(module)


def processor(f: TeamBody) -> Processor:
    """The one the module is made for."""
    return PROCESSORS[f.module.triple.partition("-")[0]]


def futex(f: TeamBody, word: Value, what: int, value: Operand, bits: Operand = 0) -> None:
    """Wait as long as the word is `value`, or wake so many that wait. `bits`: see `WAIT_SOME`."""
    number = value if isinstance(value, int) else f.cast("zext", value, I64)
    f.system(processor(f).futex, word, what, number, 0, 0, bits)


def futex_until(f: TeamBody, word: Value, value: Value, nanoseconds: Value) -> None:
    """Wait as above, but not for longer."""
    moment = f.memory(16)
    f.store(f.sdiv(nanoseconds, SECOND), moment)
    f.store(f.srem(nanoseconds, SECOND), moment, 8)
    f.system(processor(f).futex, word, WAIT, f.cast("zext", value, I64), moment)


def this_thread(f: TeamBody) -> Value:
    """What Linux calls the thread."""
    return f.system(processor(f).get_thread)


def pause(f: TeamBody) -> None:
    """A moment for the other thread of the core."""
    f.call(processor(f).pause, VOID, *map(I32, processor(f).options))


def here(f: TeamBody) -> Value:
    """The processor this thread is on, plus 1; 0 where nobody knows."""
    return f.add(f.cast("sext", f.call("sched_getcpu", I32), I64), 1)


def _now(module: Module) -> None:
    f = TeamBody(module, "pk_now", I64, [])
    moment = f.memory(16)
    f.call("clock_gettime", I32, I32(MONOTONIC), moment)
    seconds, rest = f.load(I64, moment), f.load(I64, moment, 8)
    f.ret(f.add(f.mul(seconds, SECOND), rest))


def _forbid(module: Module) -> None:
    """Let this thread run where `allowed` says but on processor `cpu`, if there are `enough` then; else on all of them.

    Linux wakes a thread on the processor of the one that wakes it, and may leave both there for a tenth of a second.
    """
    f = TeamBody(module, "pk_forbid", VOID, [PTR, I64, I64])
    allowed, cpu, enough = f.arguments
    mask = f.memory(MASK_BYTES)
    count = f.variable(0)
    with f.loop(MASK_BYTES // 8) as n:
        word = f.word(allowed, n)
        bit = f.shl(1, f.and_(cpu, 63))
        here = f.is_(f.lshr(cpu, 6), "==", n)
        left = f.select(here, f.and_(word, f.xor(bit, -1)), word)
        f.put(left, mask, n)
        f.increase(count, f.call("llvm.ctpop.i64", I64, left))
    some = f.is_(f.load(I64, count), ">=", enough)
    f.call("sched_setaffinity", I32, I32(0), MASK_BYTES, f.select(some, mask, allowed))
    f.ret()


def _short_slice(module: Module) -> None:
    """Ask the scheduler for short turns: who slept then takes over from who waits awake (Linux 6.12; no rights are
    needed). Only where threads share by turns at all; all else stays as it is."""
    f = TeamBody(module, "pk_short_slice", VOID, [])
    wanted = f.load(I64, f.state("slice"))
    with f.if_then(f.is_(wanted, "==", 0)):
        f.ret()
    facts = f.memory(ATTRIBUTES_BYTES)
    numbers = processor(f)
    got = f.system(numbers.get_attributes, 0, facts, ATTRIBUTES_BYTES)
    policy = f.load(I32, facts, ATTRIBUTES["policy"])
    shares = f.or_(*(f.is_(policy, "==", p) for p in (OTHER, BATCH)))
    with f.if_then(f.and_(f.is_(got, "==", 0), shares)):
        f.store(wanted, facts, ATTRIBUTES["runtime"])
        f.system(numbers.set_attributes, 0, facts, 0)
    f.ret()
