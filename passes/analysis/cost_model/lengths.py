"""How many iterations, rows or columns there have to be for a form, or may be at most."""

from __future__ import annotations

ASSUMED_SIDE = 64
"""Rows and columns of matrices while it is asked whether a kernel multiplies them, where their lengths are passed as
integers: enough for no special case of small ones, and no more to compute with than others."""
FEWEST_COPIED = 16
"""Rows and columns below which a copied factor is read too seldom: copying costs as much as multiplying."""
FEWEST_COPIED_LINES = 64
"""The same for rows where vectors are cache lines, of right factors between 2 and 8 times the second cache."""
FEWEST_LANES = 4
"""Columns of a contraction below which vectors stay too empty."""
SLICE_TERMS = 512
"""Terms of a slice of a contraction at most: longer sums round more, and are no quicker."""
SUM_BLOCK = 1024
"""Terms of a float sum that are added up before they join the others: long sums keep their digits."""
FEWEST_COLUMNS = 64
"""Columns from which operations on rows are fused: loops over shorter rows are all beginning and end."""
FEWEST_SCORES = 32
"""Queries and keys below which the matrix of scores is no burden, and attention stays as it is."""
FUSED_STREAMS = 10
"""Operands of two operations that are joined, at most: more streams do not get faster by running together."""
FEWEST_VECTORS = 4
"""Vectors of a loop over whole cache lines from which its stores go past the cache: shorter ones are all beginning."""
FEWEST_VECTORS_WITH_ENDS = 16
"""The same where the first and the last line are shared with other rows: a line that goes past the cache in part is
fetched and written back for each part."""
FEWEST_VECTORS_IN_PASSES = 48
"""The same for one of several loops over a row: it waits for memory less, as the others have fetched the row."""
FEWEST_VECTORS_OF_ROWS = 96
"""The same for loops that wait for memory even less: they read several rows of an array, or stand among elementary
functions."""
MASKED_VECTORS = 16
"""Vectors of a loop up to which its last ones are masked: in longer loops masks cost more than they bring."""
FEWEST_MASKED_LANES = 9
"""Lanes of a vector from which the rest of a loop is long enough for masks."""
SHORT_ROW = 8
"""Elements of a row up to which LLVM loads whole vectors of rows and takes them apart."""
SHORT_ROW_BYTES = 32
"""Bytes of such a row, half a cache line: of longer ones a vector holds too few for taking them apart to pay."""
NARROW_LIMITS = (1 << 30, 1 << 28, 1 << 26, 1 << 24, 1 << 22, 1 << 20, 1 << 18, 1 << 16)
"""Largest values that may come into a version with narrow indices, the most generous first; below the last one the
version would be taken too rarely."""
FEWEST_FLAT_COLUMNS = 16
"""Columns from which a flat index is taken apart: over shorter rows the loops cost more than the divisions."""
WIDEST_RIM = 16
"""Work-items next to an edge, at most, that are taken apart from the interior: they run one after the other."""
FEWEST_MASKED = 4
"""Work-items for which a vector under a mask is quicker than one after the other: what is not side by side in memory
costs each lane of the vector, also those that are masked."""
FEWEST_TAPS = 16
"""Numbers of a filter from which an array without channels is filtered in tiles: smaller ones lanes have in
registers."""
FEWEST_SELECTED = 4
"""Lanes of a vector in which the best element of a row is looked for, at least: one by one each waits for the one
before it, or for a branch that nobody foresees."""
LONGEST_INDEX_LOOP = 16
"""Iterations of a loop that is unrolled for the sake of its indices, at most: a window of 4 x 4 as one loop."""
VERSIONED_ROW = 3
"""Elements of a short row that gets a version of its own where its length is known at launch only: points in space and
colours have so many."""
LARGEST_IN_SUM = 1 << 28
"""Numbers of 32 bits up to which sums of `TERMS_OF_OFFSET` and an index do not wrap."""
TERMS_OF_OFFSET = 4
"""Terms of the offset of an index that wraps around, at most."""
SHORT_DIVISOR = 64
"""The largest number by which indices are divided that a launch gets code of its own for: bins, tiles, channels."""
SPLIT_AXIS = 4
"""Numbers of an axis up to which arrays of all pairs of points are computed number by number: coordinates, colours."""
OUTER_GROWTH = 8
"""How many times larger than what it is broadcast from such an array is, at least: the small ones are transposed."""
SLICED_ANEW = 16
"""Operations for each element of an array up to which it is computed anew for each slice that reads it."""
NETWORK_SORTED = 16
"""Elements up to which a network sorts them: it grows with n log(n) squared, and needs a register for each."""
INSERTION_SORTED = 40
"""Keys up to which insertion sort is faster than counting their digits."""
COPIED_ROW = 8
"""Elements of a row up to which storing it is written out, rather than a loop."""
SHORT_ROW_OF_VALUES = 16
"""Elements of a computed row of known lengths up to which they are values, computed once: registers hold them."""
FEWEST_CUT = 512
"""Elements for each of the boxes that an operation is cut into, on average: of smaller arrays the copy costs less than
compiling more loops."""
NARROW_BOX = 16
"""Elements along the last loop below which vectors of a box stay empty."""
NARROW_SHARE = 8
"""How many times more elements than in such boxes there are in all, at least."""
