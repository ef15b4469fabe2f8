"""The words that a launch, its generated code and the scheduler share: what each is for, and where it lies.

Goes out: `SLOTS`, names to numbers of 8-byte words, behind the pointer that all generated code takes.
"""

from __future__ import annotations

_AXES = ("x", "y", "z")
_NAMES = (
    *(f"{name}.{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in _AXES),
    "thread",  # within its block
    "lane",
    "block",  # its number in the grid
    "epoch",  # barriers that the block has passed
    "threads",  # of a block
    "parameters",  # address of the kernel's parameters, 8 bytes each
    "constants",  # address of the module's own memory
    "shared",  # address of a block's shared memory
    "shared_bytes",
    "shared_state",  # address of a byte for each byte: see `memory_checks`
    "shared_cells",  # address of the last accesses to each byte: see `races`
    "arena",  # address of the device's memory
    "arena_bytes",
    "arena_state",
    "read_mask",  # bits of the state that a read of at most four bytes looks at, in each byte
    "local",  # address of the thread's own memory
    "local_bytes",
    "locals",  # where that of a block's first thread is
    "frames",  # where registers are while threads wait
    "frame_bytes",
    "states",  # the wait of each thread: 0 at the begin, -1 at the end
    "given",  # what each lane brings to an exchange
    "taken",  # the same, once all have
    "present",  # lanes that take part in the exchange, a bit each
    "kinds",  # a byte for each wait: 0 of a block, otherwise of a warp, and the words that each lane brings
    "template",  # address of what a wave's memory begins with
    "template_bytes",
    *(f"group_at.{axis}" for axis in _AXES),  # the byte of a wave's memory where the group's number goes
    "items",  # dimensions of the number of a work-item that its first register holds
    "fault",  # a number of `faults`, 0 as long as nothing is wrong
    "fault_site",  # the instruction's number
    "fault_address",
    "fault_thread",
    "fault_block",
    "fault_other",  # the other thread of a race
)
SLOTS = {name: number for number, name in enumerate(_NAMES)}
