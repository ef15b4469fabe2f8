"""Rows and vectors of tiles that registers hold, and cycles of what is done with them."""

from __future__ import annotations

VECTOR_BYTES = 64
"""Bytes of a vector of a loop: a cache line, one register of AVX-512, two of AVX2."""
PAIR_BYTES = 2 * VECTOR_BYTES
"""Bytes of a vector of sums and of work-items in lanes: its halves hide each other's latency."""
COLUMN_VECTORS = {True: (8, 2), False: (2,)}
"""Vectors of columns that a loop down the columns of an array takes at a time, the most first, by whether there are the
registers of AVX-512: the longer they go along a row, the more of its lines are fetched ahead."""
COLUMN_SUMS = 2
"""Vectors that such a loop may carry, for each of which there are so many."""
ROWS_IN_LANES = 8
"""Rows whose sums run side by side, and columns of the squares in which they are transposed: AVX2 has registers for
one such square of f32, and the latency of eight additions hides that of one."""
PROMOTED_CELLS = 64
"""Cells of a private array that are kept in values rather than in memory."""
LOOKED_UP_CELLS = 16
"""Cells of a private array among which a comparison with each one chooses, where the index is not known in advance."""
MULTIPLY_ADD_CYCLES = 5
"""Cycles from a multiply-add to the next one on the same sum: four, and what the loop adds."""
VECTOR_CYCLES = 0.1
"""Cycles that a vector of the right factor costs beside its multiplications."""
LINE_VECTOR_CYCLES = 0.2
"""The same of a vector that is a cache line."""
SPARE_REGISTERS = {16: 2, 32: 6}
"""Registers beside sums and one line of the right factor, by how many there are: they hold elements of the left one.
With fewer LLVM spills sums."""
SPARE_PACKED_REGISTERS = 2
"""Registers beside sums and a line of the right factor in a packed tile, where vectors are cache lines."""
PACKED_TILE_VECTORS = 4
"""Vectors of such a tile at most: the fewer rows of the result it goes through, the fewer share a set of the cache."""
DIRECT_TILE_ROWS = 8
"""Rows of a tile that reads a factor where it lies, at most: more streams are not fetched ahead."""
MATVEC_ROWS = 4
"""Rows of a matrix that are multiplied with vectors at a time: each load of a vector serves so many, and as many sums
hide the latency of a multiply-add."""
STREAMED_ROWS = 4
"""Rows of a tile where a large right factor is read once."""
STREAMED_TERMS = 8
"""Lines of that factor that are read at a time."""
BYTE_SUM_REGISTERS = 32
"""Registers from which a tile of bytes has room for the sums of the right factor's columns."""
SQUARE_BITS = 256
"""Bits of a line of a square that is transposed in registers, at most: longer ones are no quicker, and LLVM takes
three times as long over their exchanges."""
SQUARE_SIDE = 16
"""Elements of the side of such a square, at most: registers hold about so many vectors."""
SQUARE_OPS = 8
"""Operations of a body that is written out for every line of a square, at most: more have no registers."""
EXCHANGE_BITS = 128
"""Bits within which processors exchange elements of two registers with one instruction."""
PACKED_LINES = 8
"""Lines of a factor that are read side by side while it is packed."""
ATTENTION_TILE_QUERIES = 6
"""Queries of a register tile of attention: 12 registers of AVX2 hold sums of vectors of 64 bytes, 3 operands."""
BLOCK_COLUMNS = (32, 64, 48, 16)
"""Work-items next to each other whose sums run side by side in printed C, the best first: compilers keep so many in
registers, and no fewer: where all fit into one vector, they take elements of several vectors apart."""
BLOCK_ROWS = (8, 4)
"""Rows of such blocks, where rows read the same."""
SUMMED_ROWS = (8, 4)
"""Rows of floats in printed C that are added up side by side, each in its order, the best first: eight additions hide
the latency of one."""
PRINTED_SQUARE = 8
"""Work-items on the side of a square in printed C, of loops that go down the columns of an array: the cache holds the
lines that they read."""
PRINTED_SQUARES = (16, 4)
"""The same where they divide the index space, squares within squares: a line of 64 bytes has 16 floats, and compilers
make four vectors of 4 x 4 elements."""
PRINTED_ITERATIONS = 16
"""Iterations of a loop in printed C that compilers write out (GCC's `max-completely-peel-times`)."""
PRINTED_STEPS = 160
"""Operations in all iterations of such a loop: GCC writes out 200 instructions (`max-completely-peeled-insns`)."""
ANGLE_BLOCK = 256
"""Work-items in printed C whose angles are looked at together: what they read stays in the first cache."""
WAITING_COLUMNS = (64, 32, 48, 16)
"""Work-items next to each other in printed C that go round until the last one ends."""
ELIMINATED_COLUMNS = 8
"""Columns of a linear system that are eliminated before the rows behind them are, which are read and written once for
all of them: more do not fit into registers beside a row's elements."""
