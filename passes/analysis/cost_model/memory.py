"""Bytes of scratch that the compiler may use, on stacks and elsewhere."""

from __future__ import annotations

STACK_BUFFER_BYTES = 64 << 10
"""Bytes of one buffer that may lie on a thread's stack."""
GROUP_BUFFER_BYTES = 1 << 32
"""Bytes of one buffer of a group at all."""
PRIVATE_BYTES = 256 << 20
"""Bytes of private memory that a work-item may have; each thread has it, and each lane of a vector."""
LANES_PRIVATE_BYTES = 1 << 15
"""Bytes of the private memory of all lanes together: it lies on the stack."""
TABLE_ELEMENTS = 1 << 22
"""Elements of a table of values that work-items share; where there would be more, the launch runs without lanes."""
LOOP_STATE_BYTES = 1 << 28
"""Bytes for all states of one value that a loop carries; a bound that asks for more says too little."""
KEPT_VALUE_BYTES = 64
"""Bytes that one more value kept for the reverse sweep counts as, whatever its size."""
AT_HAND_SHARE = 8
"""An array that is there in any case counts as an eighth of its bytes where a derivative reads it: nothing is written,
and no memory is taken."""
LENT_RESULT_BYTES = 192
"""What a result of the forward run counts as beside that: an argument of its size is taken before it, because whoever
writes over a result that is kept gets an error for it."""
KEPT_WORK = 3
"""Iterations for each element of its largest operand from which on an op is dearer to do again than to keep: one or two
are sweeps, whose results take as long to write and read."""
OWN_SUM_CELLS = 1 << 16
"""Cells of arrays of sums that each thread has of its own, rather than adding atomically."""
LEAST_FREED_BYTES = 1 << 24
"""Bytes from which the system may take the memory of results that are kept: it takes time to tell it so."""
FEWEST_TAPE_WORDS = 64
"""Words of the smallest tape; no vector has more."""
FUNCTION_STACK_BYTES = 128 << 10
"""Bytes that a function takes of the stack at most: threads may have as little as half a megabyte, and callers have
used some of it."""
PRIVATE_TAPE_WORDS = 256
"""Words of the largest tape that is private memory."""
LEAST_HUGE_BYTES = 1 << 21
"""Bytes of the smallest block that asks for huge pages: the first write to small pages takes ten times as long."""
STACK_COPY_ELEMENTS = 256
"""Elements of an array that are copied to the stack at a time, where a C function needs them side by side."""
