"""The memory of the team of threads, and how its functions reach it.

One block: facts of the team, each that is written often in a cache line of its own, then `SLOTS` slots, one for each
launch that is under way. A slot has a range of chunks for each thread, "generation:32 next:16 end:16" in one word, so
that a thread that comes late takes nothing of a launch it does not know. Where a launch began it has a frame on its
stack (`FRAME`), which the thread finds again.
"""

from __future__ import annotations

from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, PTR, Operand, Type, Value, value

LINE = 64
MOST = 256
"""Threads of a team."""
SLOTS = 16
"""Launches that share their work at once; further ones run alone."""
CHUNKS = 60_000
"""Of a launch; a number of them fits in 16 bits."""

PLACES = {
    "epoch": 0,  # i32, a futex: rises with each launch
    "sleepers": 1 * LINE,
    "running": 2 * LINE,  # one bit for each slot that has work
    "home": 3 * LINE,  # the processor of the last launch, plus 1
    "workers": 4 * LINE,
    "hiring": 4 * LINE + 8,  # 1: a thread makes workers
    "key": 4 * LINE + 16,  # of pthreads, for the frame
    "main": 4 * LINE + 24,  # the thread that Python runs signal handlers in
    "spin": 4 * LINE + 32,  # ns that a worker waits awake
    "slice": 4 * LINE + 40,  # ns after which the scheduler may let others run; 0: as it is
    "forks": 4 * LINE + 48,  # counts, for tests: launches that were shared
    "launch": 5 * LINE,  # number of the launch that the main thread is in; 0: none, or Python within it
    "launches": 5 * LINE + 8,  # counts those of the main thread
    "answers": 5 * LINE + 16,  # counts how often the main thread has asked Python
    "watching": 5 * LINE + 24,  # i32, a futex: see `watch`
    "thread": 5 * LINE + 32,  # what Linux calls the main thread
    "signal": 5 * LINE + 40,  # the number of the signal that interrupts launches; 0: nobody needed one
    "pending": 5 * LINE + 56,  # 1: the main thread was sent a signal that it has not had yet
    "period": 5 * LINE + 48,  # ns between two looks at the main thread's launch
}
FIRST_SLOT = 6 * LINE
SLOT = {"busy": 0, "fn": 8, "data": 16, "extent": 24, "parts": 32, "team": 40, "generation": 48, "stop": 56,
        "done": LINE, "waiting": LINE + 8}  # fmt: skip
"""`done` is an i32, a futex: chunks that are finished, or passed over because of `stop`."""
RANGES = 2 * LINE
INSIDE = 8
"""Behind a thread's range, in the same line: what Linux calls the worker that is inside of a chunk of it; 0: none."""
SLOT_BYTES = RANGES + MOST * LINE
BYTES = FIRST_SLOT + SLOTS * SLOT_BYTES

FRAME = {"inside": 512, "asks": 520, "asked": 528, "slot": 536, "stopped": 544, "python": 552, "launch": 560,
         "blocks": 568}  # fmt: skip
"""Behind the C library's `jmp_buf`: whether the thread works on a chunk, asks Python for signals, and when it did
last; the slot of the chunk; why it is stopped; 1 while Python runs within it; the number of its launch, where it asks;
the first block of memory that was taken in it, and not given back."""
FRAME_BYTES = 576


class TeamBody(Body):
    """A function of the team: atomic memory besides."""

    def state(self, name: str) -> Value:
        return self.place(self.module.globals["state"], PLACES[name])

    def read(self, pointer: Value, offset: int = 0, order: str = "monotonic", kind: Type = I64) -> Value:
        return self.load_atomic(kind, self.place(pointer, offset), order)

    def write(self, what: Operand, pointer: Value, offset: int = 0, order: str = "monotonic") -> None:
        self.store_atomic(value(what), self.place(pointer, offset), order)

    def change(self, op: str, pointer: Value, by: Operand, order: str = "seq_cst", kind: Type = I64) -> Value:
        """An atomic operation; what was there before."""
        return self.atomic_rmw(op, pointer, value(by, kind), order)

    def swap(self, pointer: Value, before: Operand, after: Operand) -> tuple[Value, Value]:
        """Put `after` where `before` is; what was there, and whether it was."""
        return self.cmpxchg(pointer, before, after, "acq_rel", "acquire")

    def memory(self, nbytes: int) -> Value:
        """On the stack."""
        return self.stack(f"[{nbytes // 8} x i64], align 16")

    def now(self) -> Value:
        """Nanoseconds of a clock that only goes forward."""
        return self.call("pk_now", I64)

    def new_frame(self) -> Value:
        """One on the stack that nothing is known of."""
        frame = self.memory(FRAME_BYTES)
        for offset in FRAME.values():
            self.store(0, frame, offset)
        return frame

    def slot(self, number: Operand) -> Value:
        first = self.place(self.module.globals["state"], FIRST_SLOT)
        return self.place(first, self.mul(number, SLOT_BYTES))

    def frame(self) -> Value:
        """This thread's; null where it is in no launch."""
        return self.call("pthread_getspecific", PTR, self._key())

    def set_frame(self, frame: Value) -> None:
        self.call("pthread_setspecific", I32, self._key(), frame)

    def _key(self) -> Value:
        return self.cast("trunc", self.load(I64, self.state("key")), I32)

    def jump_target(self, frame: Value) -> Value:
        """C's `setjmp`: zero, and something else when it comes back here."""
        return self.call_pointer(self.module.function("_setjmp", (I32, (PTR,)), "returns_twice"), I32, frame)

    def system(self, number: int, *arguments: Operand) -> Value:
        """A call of the system, with all of its six arguments."""
        values = [value(a) for a in (*arguments, *[0] * (6 - len(arguments)))]
        numbers = [self.cast("ptrtoint", v, I64) if v.type == PTR else v for v in values]
        return self.call("syscall", I64, number, *numbers)


def new_state(module: Module) -> None:
    module.define("state", f"internal global [{BYTES // 8} x i64] zeroinitializer, align {LINE}")
