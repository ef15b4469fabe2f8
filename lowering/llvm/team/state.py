"""The memory of the team of threads, and how its functions reach it.

One block: facts of the team, each that is written often in a cache line of its own, then `SLOTS` slots, one for each
launch that is under way. A slot has a range of chunks for each thread, "generation:32 next:16 end:16" in one word, so
that a thread that comes late takes nothing of a launch it does not know. Where a launch began it has a frame on its
stack (`FRAME`), which the thread finds again.
"""

from __future__ import annotations

from llvmlite import ir
from llvmlite.ir.instructions import StoreAtomicInstr

from pykern.lowering.llvm.program.builder import I32, I64, PTR, Body, Value

VOID = ir.VoidType()
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
}
FIRST_SLOT = 5 * LINE
SLOT = {"busy": 0, "fn": 8, "data": 16, "extent": 24, "parts": 32, "team": 40, "generation": 48, "stop": 56,
        "done": LINE, "waiting": LINE + 8}  # fmt: skip
"""`done` is an i32, a futex: chunks that are finished, or passed over because of `stop`."""
RANGES = 2 * LINE
SLOT_BYTES = RANGES + MOST * LINE
BYTES = FIRST_SLOT + SLOTS * SLOT_BYTES

FRAME = {"inside": 512, "asks": 520, "asked": 528, "slot": 536, "stopped": 544}
"""Behind the C library's `jmp_buf`: whether the thread works on a chunk, asks Python for signals, and when it did
last; the slot of the chunk; whether a signal handler has raised."""
FRAME_BYTES = 576


class TeamBody(Body):
    """A function of the team: atomic memory besides."""

    def state(self, name: str) -> Value:
        return self.place(self.module.globals["state"], PLACES[name])

    def read(self, pointer: Value, offset: int = 0, order: str = "monotonic", kind: ir.Type = I64) -> Value:
        return self.at.load_atomic(self.place(pointer, offset), order, kind.width // 8, typ=kind)

    def read_pointer(self, pointer: Value, offset: int = 0) -> Value:
        return self.at.load_atomic(self.place(pointer, offset), "monotonic", 8, typ=PTR)

    def write(self, value: Value, pointer: Value, offset: int = 0, order: str = "monotonic") -> None:
        value = I64(value) if isinstance(value, int) else value
        size = 8 if isinstance(value.type, ir.PointerType) else value.type.width // 8
        # llvmlite's own `store_atomic` wants to know what the pointer points to
        self.at._insert(StoreAtomicInstr(self.at.block, value, self.place(pointer, offset), order, size))

    def change(
        self, op: str, pointer: Value, value: Value, order: str = "seq_cst", kind: ir.Type = I64
    ) -> Value:
        """An atomic operation; what was there before."""
        return self.at.atomic_rmw(op, pointer, kind(value) if isinstance(value, int) else value, order)

    def swap(self, pointer: Value, before: Value, after: Value) -> tuple[Value, Value]:
        """Put `after` where `before` is; what was there, and whether it was."""
        made = self.at.cmpxchg(pointer, _i64(before), _i64(after), "acq_rel", "acquire")
        return self.at.extract_value(made, 0), self.at.extract_value(made, 1)

    def memory(self, nbytes: int) -> Value:
        """On the stack."""
        with self.at.goto_block(self.entry):
            self.at.position_at_start(self.entry)
            made = self.at.alloca(ir.ArrayType(I64, nbytes // 8))
            made.align = 16
            made.type = PTR
        return made

    def now(self) -> Value:
        """Nanoseconds of a clock that only goes forward."""
        return self.call("pk_now", I64)

    def slot(self, number: Value) -> Value:
        first = self.place(self.module.globals["state"], FIRST_SLOT)
        return self.place(first, self.at.mul(_i64(number), I64(SLOT_BYTES)))

    def frame(self) -> Value:
        """This thread's; null where it is in no launch."""
        return self.call("pthread_getspecific", PTR, self._key())

    def set_frame(self, frame: Value) -> None:
        self.call("pthread_setspecific", I32, self._key(), frame)

    def _key(self) -> Value:
        return self.at.trunc(self.load(I64, self.state("key")), I32)

    def jump_target(self, frame: Value) -> Value:
        """C's `setjmp`: zero, and something else when it comes back here."""
        known = self.module.globals.get("_setjmp")
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(I32, [PTR]), "_setjmp")
            known.attributes.add("returns_twice")
        return self.at.call(known, [frame])

    def system(self, number: int, *arguments: Value) -> Value:
        """A call of the system, with all of its six arguments."""
        values = [self.at.ptrtoint(a, I64) if isinstance(a.type, ir.PointerType) else a for a in arguments]
        return self.call("syscall", I64, I64(number), *values, *[I64(0)] * (6 - len(values)))


def new_state(module: ir.Module) -> None:
    words = ir.ArrayType(I64, BYTES // 8)
    made = ir.GlobalVariable(module, words, "state")
    made.linkage, made.initializer, made.align, made.type = "internal", ir.Constant(words, None), LINE, PTR


def _i64(value: Value) -> Value:
    return I64(value) if isinstance(value, int) else value
