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
    "parameters",  # address of the kernel's parameters, each a multiple of 8 bytes
    "parameter_bytes",
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
    "given",  # what each lane of the warp brings to an exchange
    "taken",  # the same, once all have
    "all_given",  # that of a block's first warp, and the bytes of each
    "all_taken",
    "given_bytes",
    "present",  # lanes that take part in the exchange, a bit each
    "kinds",  # a byte for each wait: see `wait_kinds`
    "places",  # where each warp of the block stands: a wait, 0 while it runs, -1 at the end
    "barrier_numbers",  # of the barrier that each warp stands at
    "barrier_counts",  # threads that it waits for; 0: all of the block
    "arrived",  # for each barrier, threads that have come without waiting
    "barriers",  # numbers of barriers that there are
    "progress",  # whether anything has happened since it was last asked
    "warpgroups",  # of the block, where there are operations of whole ones
    "products",  # what each thread brings to an operation of its warpgroup, and takes from it
    "product_bytes",
    "fences",  # for each thread, how often it has made its writes visible to asynchronous operations
    "unit",  # the function of asynchronous operations: see `async_unit`
    "request",  # address of the words that one is asked for with
    "wait_counts",  # of threads and mbarriers, two numbers each: see `copy_waits`
    "copy_cells",  # for each 4 bytes of shared memory, the copy that has written them
    "pending",  # copies that are under way
    "last_request",  # the instruction that has asked for one
    "template",  # address of what a wave's memory begins with
    "template_bytes",
    *(f"group_at.{axis}" for axis in _AXES),  # the byte of a wave's memory where the group's number goes
    "items",  # dimensions of the number of a work-item that its first register holds
    "trace",  # address of the records of accesses that are counted: see `access_trace`
    "trace_used",
    "trace_room",
    "trace_full",  # the function that takes them
    "request_number",  # of the instruction of a wave, from 1 on; 0 where threads run alone
    "fault",  # a number of `faults`, 0 as long as nothing is wrong
    "fault_site",  # the instruction's number
    "fault_address",
    "fault_thread",
    "fault_block",
    "fault_other",  # the other thread of a race
)
SLOTS = {name: number for number, name in enumerate(_NAMES)}
