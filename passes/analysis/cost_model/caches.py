"""Bytes of caches, distances in memory, and how much is fetched ahead of its use."""

from __future__ import annotations

LINE_BYTES = 64
"""Bytes of a cache line: what memory is read and written in, and what buffers are aligned to."""
PAGE_BYTES = 4096
"""Bytes of a page: as far as processors fetch ahead by themselves."""
CACHE_WAYS = 8
"""Lines of the first cache that share a set: more lines some powers of two apart push each other out."""
FIRST_CACHE_BYTES = 32 << 10
"""Bytes of the first cache where the processor is not known."""
LAST_CACHE_BYTES = 32 << 20
"""Bytes of the last cache where the processor is not known."""
LAST_CACHE_SHARE = 2
"""Parts of the last cache, one of which a matrix takes that does not stay there from one pass over it to the next."""
LEAST_LAST_CACHE_BYTES = 1 << 20
"""Bytes below which arrays fit the last cache of any processor, so that stores past it need no second version."""
BUFFER_SPREAD_BYTES = 5 * LINE_BYTES
"""Bytes between large buffers: starts that are equal modulo a page make loads wait for stores."""
SPREAD_BUFFER_BYTES = 1 << 15
"""Bytes from which buffers are spread so: smaller ones stay in the first cache."""
FETCH_AHEAD_BYTES = 2 * PAGE_BYTES
"""Bytes from the vector that is computed to the line that is fetched, of arrays that are read from end to end."""
FETCH_AHEAD_ROWS = 2
"""Rows from the one that is computed to the one that is fetched, to the second cache."""
FETCHED_TOGETHER_BYTES = 8 << 10
"""Bytes of a row of several arrays up to which their rows are fetched: more would drive out of the first cache what is
needed before."""
FETCHED_ALONE_BYTES = 16 << 10
"""Bytes of a row of one array up to which a loop that hardly computes fetches it; a loop of elementary functions takes
long enough for a row of any length to come meanwhile."""
LONG_ROW_BYTES = 1 << 16
"""Bytes beyond which a row does not stay in the first caches between two passes over it."""
MOST_ROW_BYTES = 1 << 22
"""Bytes beyond which a row may not stay in any cache, and what is kept of it neither."""
SEPARATE_ROW_BYTES = 1 << 18
"""Bytes from which a row goes through all passes before the next one: a pass takes long beside calling a team."""
ROW_BLOCK = 2048
"""Columns of a block of a row whose maximum and sum are taken together: 8 KiB of f32, a quarter of the first cache."""
STRIDED_COST = 8
"""Cost of an access that does not step to the neighbour, as a multiple of one that does: elements of a line."""
BLOCKED_LENGTH = 64
"""Iterations from which loops that lie across each other are cut into blocks."""
BLOCK_SIDE = 32
"""Iterations of such a block in each direction: lines of both sides stay in the first cache."""
TRANSPOSED_RUN_BYTES = 256
"""Bytes of a row of a block that is transposed in scratch."""
STREAMED_RUN_BYTES = 1024
"""The same where results are written past the cache: they should come in parts of pages."""
SECOND_CACHE_PANELS = 8
"""Panels of a contraction that the second cache holds, where vectors are lines: from it they come as fast as from the
first."""
STREAMED_SECOND_CACHES = 3
"""Size of a right factor, in second caches, from which it is read once for several rows: sums are read again for each
of its pieces."""
ATTENTION_BLOCK_TILES = 8
"""Register tiles of queries in a block of attention: with their part of the result they stay in the first cache."""
ATTENTION_BLOCK_KEYS = 256
"""Keys of such a block: its scores and as many rows of values stay in the second cache."""
BLOCK_START_BYTES = 2048
"""Bytes from the start of a page where data begin in a block of kept memory: loads wait for stores that lie a little
further on modulo a page, and NumPy's large arrays begin at 16."""
