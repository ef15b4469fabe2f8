"""What the team asks of Linux: to wait and to wake, where threads may run, and when others may.

Comes in: a function in the making. Goes out: calls in it. Numbers are those of Linux on x86-64 and on aarch64; which of
them, and how a processor is told that a thread only waits, `PROCESSORS` says by the name of the architecture.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from pykern.lowering.llvm.program.builder import I32, I64, PTR, Value
from pykern.lowering.llvm.team.state import VOID, TeamBody


@dataclass(frozen=True)
class Processor:
    """Numbers of system calls, and the instruction of a loop that waits, as LLVM has it."""

    futex: int
    get_attributes: int
    set_attributes: int
    pause: str
    options: tuple[int, ...] = ()


PROCESSORS = {
    "x86_64": Processor(202, 315, 314, "llvm.x86.sse2.pause"),
    "aarch64": Processor(98, 275, 274, "llvm.aarch64.isb", (15,)),
}
WAIT, WAKE, WAIT_SOME, WAKE_SOME = 0x80, 0x81, 0x89, 0x8A
"""Operations of a futex that is this process's own; with "some" among those that wait with such a bit."""
ALL = 0x7FFFFFFF
MONOTONIC = 1
MASK_BYTES = 128
"""Of the C library's `cpu_set_t`, 1024 processors, and of its `sigset_t`."""
ATTRIBUTES = {"size": 0, "policy": 4, "runtime": 24}
ATTRIBUTES_BYTES = 56
OTHER, BATCH = 0, 3
"""Policies of threads that share processors by turns."""


def write_system(module: ir.Module) -> None:
    """The functions of this file."""
    _now(module)
    _forbid(module)
    _short_slice(module)


def processor(f: TeamBody) -> Processor:
    """The one the module is made for."""
    return PROCESSORS[f.module.triple.partition("-")[0]]


def futex(f: TeamBody, word: Value, what: int, value: Value, bits: Value = 0) -> None:
    """Wait as long as the word is `value`, or wake so many that wait. `bits`: see `WAIT_SOME`."""
    number = I64(value) if isinstance(value, int) else f.at.zext(value, I64)
    f.system(processor(f).futex, word, I64(what), number, I64(0), I64(0), _i64(bits))


def futex_until(f: TeamBody, word: Value, value: Value, milliseconds: int) -> None:
    """Wait as above, but not for longer."""
    moment = f.memory(16)
    f.store(0, moment)
    f.store(milliseconds * 1_000_000, moment, 8)
    f.system(processor(f).futex, word, I64(WAIT), f.at.zext(value, I64), moment)


def pause(f: TeamBody) -> None:
    """A moment for the other thread of the core."""
    f.call(processor(f).pause, VOID, *map(I32, processor(f).options))


def here(f: TeamBody) -> Value:
    """The processor this thread is on, plus 1; 0 where nobody knows."""
    return f.at.add(f.at.sext(f.call("sched_getcpu", I32), I64), I64(1))


def _i64(value: Value) -> Value:
    return I64(value) if isinstance(value, int) else value


def _now(module: ir.Module) -> None:
    f = TeamBody(module, "pk_now", I64, [])
    moment = f.memory(16)
    f.call("clock_gettime", I32, I32(MONOTONIC), moment)
    seconds, rest = f.load(I64, moment), f.load(I64, moment, 8)
    f.at.ret(f.at.add(f.at.mul(seconds, I64(1_000_000_000)), rest))


def _forbid(module: ir.Module) -> None:
    """Let this thread run where `allowed` says but on processor `cpu`, if there are `enough` then; else on all of them.

    Linux wakes a thread on the processor of the one that wakes it, and may leave both there for a tenth of a second.
    """
    f = TeamBody(module, "pk_forbid", VOID, [PTR, I64, I64])
    allowed, cpu, enough = f.arguments
    mask = f.memory(MASK_BYTES)
    count = f.variable(0)
    with f.loop(I64(MASK_BYTES // 8)) as n:
        word = f.word(allowed, n)
        bit = f.at.shl(I64(1), f.at.and_(cpu, I64(63)))
        here = f.is_(f.at.lshr(cpu, I64(6)), "==", n)
        left = f.at.select(here, f.at.and_(word, f.at.xor(bit, I64(-1))), word)
        f.put(left, mask, n)
        f.add(count, f.at.ctpop(left))
    some = f.is_(f.load(I64, count), ">=", enough)
    f.call("sched_setaffinity", I32, I32(0), I64(MASK_BYTES), f.at.select(some, mask, allowed))
    f.at.ret_void()


def _short_slice(module: ir.Module) -> None:
    """Ask the scheduler for short turns: who slept then takes over from who waits awake (Linux 6.12; no rights are
    needed). Only where threads share by turns at all; all else stays as it is."""
    f = TeamBody(module, "pk_short_slice", VOID, [])
    wanted = f.load(I64, f.state("slice"))
    with f.at.if_then(f.is_(wanted, "==", 0)):
        f.at.ret_void()
    facts = f.memory(ATTRIBUTES_BYTES)
    numbers = processor(f)
    got = f.system(numbers.get_attributes, I64(0), facts, I64(ATTRIBUTES_BYTES))
    policy = f.load(I32, facts, ATTRIBUTES["policy"])
    shares = f.at.or_(*(f.at.icmp_unsigned("==", policy, I32(p)) for p in (OTHER, BATCH)))
    with f.at.if_then(f.at.and_(f.is_(got, "==", 0), shares)):
        f.store(wanted, facts, ATTRIBUTES["runtime"])
        f.system(numbers.set_attributes, I64(0), facts, I64(0))
    f.at.ret_void()
