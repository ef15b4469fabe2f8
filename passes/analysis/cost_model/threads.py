"""From how much work on threads share it, and the parts that it is cut into.

Parts of a sum depend on sizes alone, never on the number of threads, so that results are the same bit by bit.
"""

from __future__ import annotations

from pykern.passes.analysis.cost_model.caches import ROW_BLOCK

PARALLEL_WORK = 200_000
"""Elementary operations (about 0.3 ns each) from which a fork and join of 1-2 us is worth it."""
CONTRACTION_CYCLES = 20_000
"""Cycles from which threads share a contraction: several times a fork and join."""
READ_BYTES_PER_CYCLE = 16
"""Bytes of memory read in a cycle, where a contraction waits for its factors."""
COPY_ELEMENTS = 1 << 15
"""Elements from which threads share the copy of a factor: about 8 us."""
FEWEST_SHARED_ITERATIONS = 8
"""Iterations from which a loop is worth sharing; with fewer, threads get uneven shares and another loop is cut."""
INNERMOST_GRAIN = 2048
"""Iterations of an innermost loop that stay with one thread, so that vectors are full and lines are not shared."""
REDUCTION_PARTS = 64
"""Parts that a reduction is cut into at most: enough for many threads, and few to join."""
ROWS_PER_PART = 16
"""Rows of a part at least where columns are summed: joining the parts is to cost little beside them."""
FEWEST_LONG_ROWS = 32
"""Rows from which long rows are fused: single operations on them have threads enough by themselves, fused rows need
one for each thread."""
SHARED_COLUMNS = 1 << 12
"""Columns beyond which few rows, or rows that stay in no cache, are shared in chunks."""
COLUMNS_PER_CHUNK = 4 * ROW_BLOCK
"""Columns of such a chunk at least: several blocks, so that joining chunks costs little."""
FACTOR_PARTS = 8
"""Parts that a large factor is cut into at most where it is read once: each has sums of its own to be joined."""
FACTOR_PART_BYTES = 128 << 10
"""Bytes of the factor in such a part at least: about 5 us."""
SHARED_COPY_CHUNKS = 720_720
"""Chunks of two copies that threads share together: a multiple of all numbers of threads up to 16, so that each
copy is cut as if alone."""
EVEN_SHARE = 1.05
"""Ratio to an even share that one of two threads may take before panels are shared as well as rows. Rows alone are
better shared: a thread multiplies what it copied itself."""
TRANSPOSED_LANES = 2048
"""Elements along the lanes that one thread takes at once where a transposed result is written directly."""
CHUNK_WORK = 1 << 17
"""Operations of a chunk of a kernel at least: fewer are not worth a thread's turn."""
GIL_WORK = 60_000
"""Elementary operations from which it is worth to let other Python threads run meanwhile."""
AWAKE_NS = 20_000
"""Nanoseconds that a launch waits awake for the chunks of others."""
CHUNK_NS = 50_000
"""Nanoseconds of a chunk of a program's loops at least, by the time that they took last: shorter ones would repeat too
much."""
PAUSES_PER_LOOK = 64
"""How often a worker looks for work between two looks at the clock."""
LOST_NS = 50_000
"""Nanoseconds between two looks that show that somebody else had the processor: it is not ours to wait on."""
CHUNKS_EACH = 4
"""Chunks of a launch for each thread, so that others may help one that is late; every one repeats what is the same
for all."""
UNKNOWN_CHUNKS_EACH = 16
"""The same where nobody knows how long each chunk takes."""
INTERRUPT_CHECK_MS = 100
"""Milliseconds after which a launch of the main thread asks Python whether a signal came."""
REPEATED_SIGNAL_NS = 1_000_000
"""Nanoseconds after which a thread that could not do what it was interrupted for is interrupted again."""
MOST_REPEATED_SIGNALS = 256
"""How often that is done: a thread that does not run at all shall not have ever more signals waiting for it (the main
thread, which may have blocked them, has one at most)."""
