"""LLVM IR of the check of each access: within memory that was allocated, aligned, and of what was written before.

Goes out: `write_checks`, functions of an address and an instruction's number, which give the host's pointer. There is a
byte of state for each byte of memory: `ALLOCATED` (and `READABLE` where kernels must not write); of shared memory
`WRITTEN`. What fails is kept in the launch's words, the first alone, and gets a pointer to nothing of importance: the
thread goes on until it waits or ends, then the launch is over.
"""

from __future__ import annotations

from collections.abc import Callable

from pykern.runtime.emulator.emit import Emitter, splat
from pykern.runtime.emulator.faults import BOUNDS, MISALIGNED, READ_ONLY, UNWAITED, UNWRITTEN

FREE, ALLOCATED, READABLE, PADDING, BEHIND = 0, 1, 3, 5, 9
"""States of the device's memory: bits of what is only read, of what fills up the last word of an allocation, and of
what fills up its last 16 bytes. Kernels that exchange words may read and exchange the last one: that is how atomic
operations on smaller numbers are made. Loads of vectors that begin in an allocation may end behind it: LLVM makes one
of four elements of loads of three where the alignment keeps it within a page."""
ANY_STATE, BUT_PADDING = 13, 9
"""Bits of the state that accesses look at."""
NOT_SHARED, UNTOUCHED, WRITTEN, BEHIND_SHARED = 0, 2, 3, 7
"""States of shared memory. Reads of chips that take any address may begin in it and end in what is behind it: the chips
have it, and LLVM reads three bytes as four."""
IN_FLIGHT, HELD = 16, 32
"""Bits of what is in shared memory: a copy has written it, which is to be waited for (`copy_waits`); an asynchronous
operation may still read it."""
_BEYOND = BEHIND_SHARED & ~WRITTEN
SIZES = (1, 2, 4, 8, 16, 32)
ACCESSES = ("read", "write", "update", "vector")
"""A vector is read."""
RELAXED = len(ACCESSES)
"""The number of a relaxed read among them."""
UNALIGNED = ("unaligned_read", "unaligned_write", "unaligned_vector", "unaligned_relaxed")
"""Accesses of chips that take any address. A relaxed one is read, and does not mind atomic operations meanwhile."""
ROOM = 64
"""Bytes behind the pointer that a failed access gets."""


def write_checks() -> tuple[list[str], dict[str, str]]:
    """Lines of the functions, and what they call."""
    lines, declared = [f"@pk_nothing = global [{ROOM} x i8] zeroinitializer", *_fault()], {}
    for nbytes in SIZES:
        for access in (*ACCESSES, *UNALIGNED):
            for space, write in (
                ("global", _global),
                ("shared", _shared),
                ("local", _local),
                ("generic", write_generic),
            ):
                e = Emitter()
                e.lines.append(
                    f"define ptr @pk_{space}_{access}_{nbytes}(ptr %launch, i64 %address, i64 %site) {{"
                )
                write(e, access, nbytes)
                e.lines.append("}")
                lines += e.lines
                declared |= e.declared
    return lines, declared


def _fault() -> list[str]:
    """Keeps the first fault of a launch."""
    e = Emitter()
    e.lines.append("define ptr @pk_fault(ptr %launch, i64 %kind, i64 %address, i64 %site) noinline cold {")
    with e.when(e.value(f"icmp eq i64 {e.slot('fault')}, 0")):
        for name, value in (("fault", "%kind"), ("fault_address", "%address"), ("fault_site", "%site")):
            e.set_slot(name, value)
        for name in ("thread", "block"):
            e.set_slot(f"fault_{name}", e.slot(name))
    e.do("ret ptr @pk_nothing")
    e.lines.append("}")
    return e.lines


def _fails(e: Emitter, condition: str, kind: int) -> None:
    """Give up where the condition holds."""
    yes, behind = e.label("fails"), e.label("holds")
    e.branch(condition, yes, behind)
    e.begin(yes)
    e.do(f"ret ptr {e.fault(kind, '%address', '%site')}")
    e.begin(behind)


def _outside(e: Emitter, offset: str, size: str, nbytes: int) -> None:
    last = e.value(f"sub i64 {size}, {nbytes}")
    small = e.value(f"icmp ult i64 {size}, {nbytes}")
    _fails(e, e.value(f"or i1 {small}, {e.value(f'icmp ugt i64 {offset}, {last}')}"), BOUNDS)


def _aligned(e: Emitter, access: str, nbytes: int) -> None:
    if nbytes > 1 and access not in UNALIGNED:
        rest = e.value(f"and i64 %address, {nbytes - 1}")
        _fails(e, e.value(f"icmp ne i64 {rest}, 0"), MISALIGNED)


def _lacks(e: Emitter, state: str, mask: str | int, wanted: int, nbytes: int) -> str:
    """Whether any of these bytes has not the wanted bits, of those in the mask."""
    found = e.value(f"and i{8 * nbytes} {state}, {mask}")
    return e.value(f"icmp ne i{8 * nbytes} {found}, {splat(wanted, nbytes)}")


def _global(e: Emitter, access: str, nbytes: int) -> None:
    offset = e.value(f"sub i64 %address, {e.slot('arena')}")
    _outside(e, offset, e.slot("arena_bytes"), nbytes)
    state = e.load(f"i{8 * nbytes}", e.offset(e.pointer(e.slot("arena_state")), offset))
    mask: str | int = splat(ANY_STATE, nbytes)
    if access.endswith("vector"):
        first = e.resized(e.value(f"and i{8 * nbytes} {state}, {ANY_STATE}"), 8 * nbytes, 8)
        _fails(e, e.value(f"icmp ne i8 {first}, {ALLOCATED}"), BOUNDS)
        mask = splat(ALLOCATED, nbytes)
    elif nbytes <= 4 and not access.endswith("write"):
        mask = e.resized(e.slot("read_mask"), 64, 8 * nbytes)
    _fails(e, _lacks(e, state, mask, ALLOCATED, nbytes), BOUNDS)
    if access.endswith(("write", "update")):
        _fails(e, _lacks(e, state, splat(READABLE, nbytes), ALLOCATED, nbytes), READ_ONLY)
    _aligned(e, access, nbytes)
    e.do(f"ret ptr {e.pointer('%address')}")


def _shared(e: Emitter, access: str, nbytes: int) -> None:
    _outside(e, "%address", e.slot("shared_bytes"), nbytes)
    place = e.offset(e.pointer(e.slot("shared_state")), "%address")
    state = e.load(f"i{8 * nbytes}", place)
    _fails(e, _lacks(e, state, splat(UNTOUCHED, nbytes), UNTOUCHED, nbytes), BOUNDS)
    reads = access in UNALIGNED and not access.endswith("write")
    beyond = _BEYOND if reads else splat(_BEYOND, nbytes)  # of the first byte, or of any
    _fails(e, e.value(f"icmp ne i{8 * nbytes} {e.value(f'and i{8 * nbytes} {state}, {beyond}')}, 0"), BOUNDS)
    _aligned(e, access, nbytes)
    _asynchronous(e, state, access, nbytes)
    if not access.endswith("write"):
        _fails(e, _lacks(e, state, splat(WRITTEN, nbytes), WRITTEN, nbytes), UNWRITTEN)
    if access.endswith("write"):
        e.store(f"i{8 * nbytes}", str(splat(WRITTEN, nbytes)), place)
    plain = access.removeprefix("unaligned_").replace("vector", "read")
    kind = ("i64", str(RELAXED if plain == "relaxed" else ACCESSES.index(plain)))
    e.call("void", f"pk_race_{nbytes}", ("ptr", "%launch"), ("i64", "%address"), ("i64", "%site"), kind)
    e.do(f"ret ptr {e.offset(e.pointer(e.slot('shared')), '%address')}")


def _asynchronous(e: Emitter, state: str, access: str, nbytes: int) -> None:
    """What a copy writes must have been waited for, and what is still read must not be written."""
    changes = access.endswith(("write", "update"))
    flags = splat(IN_FLIGHT | HELD if changes else IN_FLIGHT, nbytes)
    wrong = e.local("i1")
    e.store("i1", "false", wrong)
    with e.when(e.value(f"icmp ne i{8 * nbytes} {e.value(f'and i{8 * nbytes} {state}, {flags}')}, 0")):
        arguments = ("ptr", "%launch"), ("i64", "%address"), ("i64", str(nbytes))
        found = e.call("i1", "pk_in_flight", *arguments)
        if changes:
            held = e.value(f"and i{8 * nbytes} {state}, {splat(HELD, nbytes)}")
            found = e.value(f"or i1 {found}, {e.value(f'icmp ne i{8 * nbytes} {held}, 0')}")
        e.store("i1", found, wrong)
    _fails(e, e.load("i1", wrong), UNWAITED)


def _local(e: Emitter, access: str, nbytes: int) -> None:
    _outside(e, e.value(f"sub i64 %address, {e.slot('local')}"), e.slot("local_bytes"), nbytes)
    _aligned(e, access, nbytes)
    e.do(f"ret ptr {e.pointer('%address')}")


def write_generic(
    e: Emitter, access: str, nbytes: int, named: Callable[[str], str] = lambda call: call
) -> None:
    """An address of any space: which one is told by where it lies. `named` changes the text of calls."""
    arguments = "(ptr %launch, i64 {}, i64 %site)"

    def answer(space: str, address: str) -> None:
        name = f"pk_{space}_{access}_{nbytes}"
        e.declared[name] = f"declare ptr @{name}(ptr, i64, i64)"
        e.do(f"ret ptr {e.value(named(f'call ptr @{name}{arguments.format(address)}'))}")

    for space in ("shared", "local"):
        offset = e.value(f"sub i64 %address, {e.slot(space)}")
        yes, behind = e.label("inside"), e.label("behind")
        e.branch(e.value(f"icmp ult i64 {offset}, {e.slot(f'{space}_bytes')}"), yes, behind)
        e.begin(yes)
        answer(space, offset if space == "shared" else "%address")
        e.begin(behind)
    answer("global", "%address")
