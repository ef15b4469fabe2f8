"""New threads of the team: detached, and without any signal but those of their own faults and, for workers, ours.

Comes in: a function in the making. Goes out: calls in it that make threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pykern.lowering.llvm.team.state import TeamBody
from pykern.lowering.llvm.team.system import MASK_BYTES
from pykern.lowering.llvm.text_ir.values import I32, I64, NULL, Operand, Value

SYNCHRONOUS = (4, 5, 6, 7, 8, 11, 31)
"""Signals of Linux that a thread's own fault raises: blocked, they would end the process without a word."""
DETACHED, SET_MASK = 1, 2
_SIGNALS = (1 << 64) - 1 - sum(1 << (number - 1) for number in SYNCHRONOUS)


@contextmanager
def new_thread(f: TeamBody, stack: Operand, taken: Value | None = None) -> Iterator[Callable[..., Value]]:
    """What is yielded makes a thread that calls a function with an argument, and gives what `pthread_create` does.

    `taken`: the number of a signal that it takes besides, or 0.
    """
    signals, before, attributes, thread = (f.memory(MASK_BYTES) for _ in range(4))
    with f.loop(MASK_BYTES // 8) as n:
        f.put(-1, signals, n)
    blocked = I64(_SIGNALS - (1 << 64))
    if taken is not None:
        bit = f.select(f.is_(taken, "!=", 0), f.shl(1, f.and_(f.sub(taken, 1), 63)), 0)
        blocked = f.and_(blocked, f.xor(bit, -1))
    f.store(blocked, signals)
    f.call("pthread_sigmask", I32, I32(SET_MASK), signals, before)
    f.call("pthread_attr_init", I32, attributes)
    f.call("pthread_attr_setdetachstate", I32, attributes, I32(DETACHED))
    f.call("pthread_attr_setstacksize", I32, attributes, stack)
    yield lambda function, argument: f.call("pthread_create", I32, thread, attributes, function, argument)
    f.call("pthread_attr_destroy", I32, attributes)
    f.call("pthread_sigmask", I32, I32(SET_MASK), before, NULL)
