"""Copies from global to shared memory while the thread goes on, `cp.async`, which are made at once.

Comes in: an `Instruction`. Goes out: LLVM IR. Bytes that are not read are zeros in shared memory. What has been
copied must be waited for before it is used (`copy_waits`). Copies of boxes of tensors are those of `tensor_copies`.
"""

from __future__ import annotations

from pykern.runtime.emulator.accesses import host_address
from pykern.runtime.emulator.copy_waits import close_group, wait_groups
from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import Values
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx
from pykern.runtime.emulator.tensor_copies import copy_bulk

_BULK = "bulk tensor tile 1d 2d 3d 4d 5d shared::cluster mbarrier::complete_tx::bytes bulk_group read"


@opcode("cp", f"async ca cg shared global commit_group wait_group wait_all {_BULK}")
def copy(t: Values, one: Instruction) -> None:
    """`cp.async` with the size in bytes, and, where fewer are read, how many."""
    if "async" not in one.modifiers:
        raise UnknownPtx(f"the instruction {one.name}")
    if "bulk" in one.modifiers:
        copy_bulk(t, one)
        return
    if "commit_group" in one.modifiers or "wait_all" in one.modifiers:
        close_group(t)
    if "wait_group" in one.modifiers or "wait_all" in one.modifiers:
        wait_groups(t, int(one.operands[0]) if one.operands else 0)
    if "group" in one.name or "wait_all" in one.modifiers:
        return
    target, source, size, *read = one.operands
    nbytes, width = int(size), 8 * int(size)
    given = t.bits(read[0], 32) if read else str(nbytes)
    place = host_address(t, one, target, nbytes, "write", "shared")
    t.store(f"i{width}", "0", place)
    with t.when(t.value(f"icmp ne i32 {given}, 0")):
        held = t.load(f"i{width}", host_address(t, one, source, nbytes, "read", "global"))
        missing = t.resized(t.value(f"sub i32 {width}, {t.value(f'mul i32 {given}, 8')}"), 32, width)
        mask = t.value(f"lshr i{width} -1, {missing}")
        t.store(f"i{width}", t.value(f"and i{width} {held}, {mask}"), place)
    t.call("void", "pk_begin_copy", ("ptr", "%launch"), ("ptr", place), ("i64", str(nbytes)))
