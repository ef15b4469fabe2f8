"""Large blocks of memory that are kept when they are let go, and given out again: the CPU's caching allocator.

Comes in: nothing. Goes out: a shared object with the functions of `pykern.data.abi` ("kept memory"). Compiled code
calls `pk_take` and `pk_give` for scratch; the four after them are NumPy's handler of memory (NEP 49), so results own
theirs as any array does. Neither Python nor its lock is needed anywhere: arrays die in any thread, and when Python
ends.

A block is a mapping of its own. Before the pointer that is given out stand its beginning, the bytes asked for, and the
bytes of the mapping, 0 where it is malloc's. Blocks that are free stand in the state, the longest unused first.
"""

from __future__ import annotations

import time

from pykern.data.abi import KEPT_BLOCKS, KEPT_FUNCTIONS, KEPT_LEAST, KEPT_STATE
from pykern.data.artifact import Artifact
from pykern.lowering.llvm.codegen import generate
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I32, I64, NULL, PTR, VOID, Operand, Value
from pykern.lowering.record import Record
from pykern.passes.analysis.cost_model.caches import BLOCK_START_BYTES
from pykern.passes.analysis.cost_model.memory import LEAST_FREED_BYTES, LEAST_HUGE_BYTES

ALIGNMENT = 64
HUGE_PAGE = 1 << 21
"""Bytes of a huge page of Linux."""
MOST = 1 << 46
RECORD = 24
"""Bytes of a free block in the state: where it begins, how long it is, milliseconds when it was let go."""
READ_WRITE, PRIVATE_ANONYMOUS, FREE, HUGE, COARSE_CLOCK = 3, 0x22, 8, 14, 6
"""Numbers of Linux: of mmap, madvise and clock_gettime."""


def lower(record: Record) -> Artifact:
    """Write it, generate code, link."""
    module = Module()
    words = len(KEPT_STATE) + KEPT_BLOCKS * RECORD // 8
    module.define("state", f"internal global [{words} x i64] zeroinitializer")
    for write in (
        _state,
        _locks,
        _now,
        _remove,
        _map,
        _shrink,
        _small,
        _empty,
        _take,
        _give,
        _forked,
        _handler,
    ):
        write(module)
    code = generate(str(module), (), KEPT_FUNCTIONS, texts=record.texts)
    started = time.perf_counter()
    binary = link_shared(*code.objects)
    record.add("link", "", started, "none")
    return Artifact("", "pk_take", "entry:memory", "pk_take", binary)


# -- the state -------------------------------------------------------------------------------------


def _cell(f: Body, name: str) -> Value:
    return f.place(f.module.globals["state"], 8 * KEPT_STATE.index(name))


def _get(f: Body, name: str) -> Value:
    return f.load(I64, _cell(f, name))


def _more(f: Body, name: str, by: Operand) -> Value:
    """Add to a cell; its new value."""
    made = f.add(_get(f, name), by)
    f.store(made, _cell(f, name))
    return made


def _block(f: Body, number: Operand) -> Value:
    """The place of a free block."""
    blocks = f.place(f.module.globals["state"], 8 * len(KEPT_STATE))
    return f.place(blocks, f.mul(number, RECORD))


def _state(module: Module) -> None:
    f = Body(module, "pk_state", PTR, [])
    f.ret(f.place(module.globals["state"], 0))


def _locks(module: Module) -> None:
    """One lock for all, held for some tens of nanoseconds and never in a call of the system."""
    f = Body(module, "pk_lock", VOID, [])
    lock = f.module.globals["state"]

    def taken() -> Value:
        _, mine = f.cmpxchg(lock, 0, 1, "acquire", "monotonic")
        return f.not_(mine)

    with f.while_(taken):
        f.call("sched_yield", I32)
    f.ret()
    f = Body(module, "pk_unlock", VOID, [])
    f.atomic_rmw("xchg", f.module.globals["state"], 0, "release")
    f.ret()


def _now(module: Module) -> None:
    """Milliseconds of a clock that only goes forward."""
    f = Body(module, "pk_now", I64, [])
    moment = f.stack("[2 x i64]")
    f.call("clock_gettime", I32, I32(COARSE_CLOCK), moment)
    seconds, fraction = f.load(I64, moment), f.load(I64, moment, 8)
    f.ret(f.add(f.mul(seconds, 1000), f.sdiv(fraction, 1_000_000)))


def _remove(module: Module) -> None:
    """Take a block out of those that are free."""
    f = Body(module, "pk_remove", VOID, [I64])
    (number,) = f.arguments
    place = _block(f, number)
    _more(f, "kept", f.neg(f.load(I64, place, 8)))
    left = _more(f, "blocks", -1)
    behind = f.mul(f.sub(left, number), RECORD)
    f.call("memmove", PTR, place, f.place(place, RECORD), behind)
    f.ret()


# -- what the system gives and takes ---------------------------------------------------------------


def _map(module: Module) -> None:
    """A mapping of so many bytes, in huge pages where it has room for one; null where there is no memory."""
    f = Body(module, "pk_map", PTR, [I64])
    (size,) = f.arguments
    huge = f.and_(f.is_(size, ">=", LEAST_HUGE_BYTES), f.is_(_get(f, "huge"), "!=", 0))
    room = f.select(huge, f.add(size, HUGE_PAGE), size)
    got = f.call("mmap", PTR, NULL, room, I32(READ_WRITE), I32(PRIVATE_ANONYMOUS), I32(-1), 0)
    first = f.cast("ptrtoint", got, I64)
    f.need(f.is_(first, "!=", -1), NULL)
    with f.if_then(f.not_(huge)):
        f.ret(got)
    begin = f.and_(f.add(first, HUGE_PAGE - 1), -HUGE_PAGE)
    before = f.sub(begin, first)
    with f.if_then(f.is_(before, ">", 0)):
        f.call("munmap", I32, got, before)
    made = f.cast("inttoptr", begin, PTR)
    after = f.sub(HUGE_PAGE, before)
    f.call("munmap", I32, f.place(made, size), after)
    f.call("madvise", I32, made, size, I32(HUGE))
    f.ret(made)


def _shrink(module: Module) -> None:
    """Give free blocks back until another one of so many bytes may be kept, and those that were not used for long.
    The lock is held before and after."""
    f = Body(module, "pk_shrink", VOID, [I64])
    (wanted,) = f.arguments
    oldest = _block(f, 0)
    now = f.call("pk_now", I64)

    def going() -> Value:
        much = f.is_(f.add(_get(f, "kept"), wanted), ">", _get(f, "limit"))
        many = f.is_(_get(f, "blocks"), "==", KEPT_BLOCKS)
        unused = f.is_(f.sub(now, f.load(I64, oldest, 16)), ">=", _get(f, "milliseconds"))
        any_ = f.is_(_get(f, "blocks"), ">", 0)
        return f.and_(any_, f.or_(much, f.or_(many, unused)))

    with f.while_(going):
        block, size = f.load(PTR, oldest), f.load(I64, oldest, 8)
        f.call("pk_remove", VOID, 0)
        _more(f, "reserved", f.neg(size))
        f.call("pk_unlock", VOID)
        f.call("munmap", I32, block, size)
        f.call("pk_lock", VOID)
    f.ret()


def _small(module: Module) -> None:
    """malloc's memory with the same head."""
    f = Body(module, "pk_small", PTR, [I64])
    (size,) = f.arguments
    got = f.call("malloc", PTR, f.add(size, 2 * ALIGNMENT))
    f.need(f.is_(got, "!=", NULL), NULL)
    begin = f.and_(f.add(f.cast("ptrtoint", got, I64), 2 * ALIGNMENT - 1), -ALIGNMENT)
    f.ret(_headed(f, f.cast("inttoptr", begin, PTR), got, size, 0))


def _headed(f: Body, pointer: Value, begin: Value, size: Value, capacity: Operand) -> Value:
    for value, place in ((begin, -24), (size, -16), (capacity, -8)):
        f.store(value, pointer, place)
    return pointer


# -- take and give ---------------------------------------------------------------------------------


def _take(module: Module) -> None:
    """Memory of so many bytes, at a multiple of 64; null where there is none."""
    f = Body(module, "pk_take", PTR, [I64])
    (size,) = f.arguments
    with f.if_then(f.or_(f.is_(size, "<", KEPT_LEAST), f.is_(size, ">", MOST))):
        f.ret(f.call("pk_small", PTR, size))
    zeros = f.call("llvm.ctlz.i64", I64, size, I1(1))
    grain = f.shl(1, f.sub(60, zeros))  # an eighth of the power of two
    whole = f.and_(f.add(size, f.sub(grain, 1)), f.neg(grain))
    capacity = f.add(whole, _get(f, "page"))
    found = f.variable(NULL)
    f.call("pk_lock", VOID)
    left = f.variable(_get(f, "blocks"))
    with f.while_(lambda: f.is_(f.load(I64, left), ">", 0)):
        f.increase(left, -1)
        place = _block(f, f.load(I64, left))
        with f.if_then(f.is_(f.load(I64, place, 8), "==", capacity)):
            f.store(f.load(PTR, place), found)
            f.call("pk_remove", VOID, f.load(I64, left))
            _more(f, "reused", 1)
            f.store(0, left)
    _more(f, "allocations", 1)
    _more(f, "live", 1)
    held = _more(f, "allocated", capacity)
    with f.if_then(f.is_(held, ">", _get(f, "peak"))):
        f.store(held, _cell(f, "peak"))
    new = f.is_(f.load(PTR, found), "==", NULL)
    with f.if_then(new):
        _more(f, "reserved", capacity)
        f.call("pk_shrink", VOID, 0)  # of other lengths, unused for long
    f.call("pk_unlock", VOID)
    with f.if_then(new):
        f.store(f.call("pk_map", PTR, capacity), found)
        with f.if_then(f.is_(f.load(PTR, found), "==", NULL), likely=False):
            f.call("pk_empty", VOID)  # what is kept in other lengths may be just what is missing
            f.store(f.call("pk_map", PTR, capacity), found)
            with f.if_then(f.is_(f.load(PTR, found), "==", NULL)):
                f.call("pk_lock", VOID)
                _more(f, "live", -1)
                for name in ("allocated", "reserved"):
                    _more(f, name, f.neg(capacity))
                f.call("pk_unlock", VOID)
                f.ret(NULL)
    begin = f.load(PTR, found)
    f.ret(_headed(f, f.place(begin, BLOCK_START_BYTES), begin, size, capacity))


def _give(module: Module) -> None:
    """Let memory go: it is kept if there is room, and what was unused for longest goes for it."""
    f = Body(module, "pk_give", VOID, [PTR])
    (pointer,) = f.arguments
    with f.if_then(f.is_(pointer, "==", NULL)):
        f.ret()
    begin, capacity = f.load(PTR, pointer, -24), f.load(I64, pointer, -8)
    with f.if_then(f.is_(capacity, "==", 0)):
        f.call("free", VOID, begin)
        f.ret()
    kept = f.is_(capacity, "<=", _get(f, "limit"))
    now = f.call("pk_now", I64)
    f.call("pk_lock", VOID)
    _more(f, "live", -1)
    _more(f, "allocated", f.neg(capacity))
    with f.if_else(kept) as (keep, drop):
        with keep:
            f.call("pk_shrink", VOID, capacity)
            place = _block(f, _get(f, "blocks"))
            for value, offset in ((begin, 0), (capacity, 8), (now, 16)):
                f.store(value, place, offset)
            _more(f, "blocks", 1)
            _more(f, "kept", capacity)
        with drop:
            _more(f, "reserved", f.neg(capacity))
    f.call("pk_unlock", VOID)
    with f.if_then(f.not_(kept)):
        f.call("munmap", I32, begin, capacity)
    f.ret()


def _empty(module: Module) -> None:
    """Give everything that is free back to the system."""
    f = Body(module, "pk_empty", VOID, [])
    f.call("pk_lock", VOID)
    f.call("pk_shrink", VOID, 1 << 62)
    f.call("pk_unlock", VOID)
    f.ret()


def _forked(module: Module) -> None:
    """In a child: what was free belongs to the parent. Where another of its threads was just here, nobody knows
    what the state says: those blocks are forgotten."""
    f = Body(module, "pk_forked", VOID, [])
    with f.if_then(f.is_(_get(f, "lock"), "!=", 0)):
        _more(f, "reserved", f.neg(_get(f, "kept")))
        for name in ("blocks", "kept", "lock"):
            f.store(0, _cell(f, name))
    f.call("pk_empty", VOID)
    f.ret()


def _handler(module: Module) -> None:
    """malloc, calloc, realloc and free as NumPy calls them: what comes first is no matter."""
    f = Body(module, "pk_malloc", PTR, [PTR, I64])
    f.ret(f.call("pk_take", PTR, f.arguments[1]))
    f = Body(module, "pk_calloc", PTR, [PTR, I64, I64])
    size = f.mul(*f.arguments[1:])
    made = f.call("pk_take", PTR, size)
    f.need(f.is_(made, "!=", NULL), NULL)
    f.ret(f.call("memset", PTR, made, I32(0), size))
    f = Body(module, "pk_realloc", PTR, [PTR, PTR, I64])
    _, before, size = f.arguments
    made = f.call("pk_take", PTR, size)
    f.need(f.and_(f.is_(made, "!=", NULL), f.is_(before, "!=", NULL)), made)
    held = f.load(I64, before, -16)
    f.call("memcpy", PTR, made, before, f.select(f.is_(held, "<", size), held, size))
    f.call("pk_give", VOID, before)
    f.ret(made)
    _free(module)


def _free(module: Module) -> None:
    """A result is let go: nobody knows when the next one comes, so the system may take the memory before. Scratch,
    which comes straight to `pk_give`, is wanted by the next call."""
    f = Body(module, "pk_free", VOID, [PTR, PTR, I64])
    pointer = f.arguments[1]
    with f.if_then(f.is_(pointer, "==", NULL)):
        f.ret()
    capacity = f.load(I64, pointer, -8)
    large = f.and_(f.is_(capacity, ">=", LEAST_FREED_BYTES), f.is_(capacity, "<=", _get(f, "limit")))
    with f.if_then(f.and_(large, f.is_(_get(f, "huge"), "!=", 0))):
        f.call("madvise", I32, f.load(PTR, pointer, -24), capacity, I32(FREE))
    f.call("pk_give", VOID, pointer)
    f.ret()
