"""Groups and work-items of kernels on devices, and from which lengths on they share a row, a sum or a product."""

from __future__ import annotations

DEFAULT_GROUPS = {1: (64,), 2: (8, 8), 3: (4, 4, 4)}
"""Work-items of a group in each dimension where a launch does not say, by the rank of its index space."""
MOST_ITEMS = 1024
"""Work-items of a group, as many as GPUs have at most."""
GROUP_ITEMS = 256
"""Work-items of a group of an operation on arrays: several subgroups, whose loads hide each other's latency."""
ROW_ITEMS = 64
"""Iterations of an innermost loop from which it has a dimension of the launch to itself."""
SCALAR_ELEMENTS = 16
"""Elements up to which an operation on arrays counts as scalar code, which the host or one work-item runs."""
PRODUCT_SIDE = 16
"""Work-items of a group along each side of a tile of a product."""
PRODUCT_DEPTH = 16
"""Terms of a product that are in shared memory at a time."""
PRODUCT_PADDING = 4
"""Words between the terms in shared memory where these are read 16 bytes at once: what is stored term by term would lie
in one bank."""
PRODUCT_SPREAD = 8
"""Bytes between the terms where these are read one by one: 16 terms of two lines, or of one of 8-byte elements, then
take all banks."""
MATRIX_TILES = ((128, (2, 2, 3), (2, 4, 2)), (64, (2, 2, 4), (2, 2, 2)), (32, (2, 2, 4), (2, 2, 2)))
"""Rows and columns of a tile that a group computes by instructions for small matrices: the first of which there are
enough groups, else the last. Then subgroups along both, and how many slots factors have in shared memory, 48 KiB at
most: where both factors are copied, and where work-items load elements, for which they need registers."""
FRAGMENT_TILES = ((64, 2), (32, 2))
"""Rows and columns of a tile that a group computes by matrices in registers of subgroups (Metal): the first of which
there are enough groups, else the last. Then subgroups along each side."""
FRAGMENT_DEPTH, FRAGMENT_PADDING = 16, 16
"""Terms of such a product that are in shared memory at a time; bytes between the rows there, which would else begin in
one bank."""
WARPGROUP_TILES = ((128, 3), (64, 4))
"""Rows and columns of a tile that four subgroups compute together: the first of which there are enough groups, else the
last. Then slots in shared memory, 32 KiB each of the first: with three of them two groups run side by side, and one
multiplies while the other stores."""
MATRIX_WAVES = {64: {128: (2, 2), 64: (2, 2), 32: (2, 2)}, 32: {128: (2, 4), 64: (2, 2), 32: (2, 2)}}
"""Subgroups along rows and columns of these tiles on AMD, by the lanes of a subgroup: what comes next is in registers
until one of two slots is free."""
MATRIX_BAND = 8
"""Tiles of such a product that groups take one below the other before they go on to the next column."""
MATRIX_WORDS = 16
"""Words of terms of such a product that are in shared memory at a time: two instructions deep."""
MATRIX_LOADS = 4
"""Words that a work-item loads together where a panel is not copied."""
FEWEST_TILED = 8
"""Rows, columns and terms from which tiles in shared memory are worth it."""
FEWEST_GROUPS = 32
"""Groups that there should be before each work-item takes more cells."""
JOINED_TOGETHER = 8
"""Sums of parts of a product's terms that a work-item loads before it adds the first."""
FEWEST_TERMS = 64
"""Terms below which a work-item adds up a cell by itself."""
MANY_CELLS = 1 << 14
"""Cells from which each has a work-item, where neighbours lie side by side that way."""
PART_TERMS = 1 << 13
"""Terms that a group adds up; a longer reduction of few cells is cut into parts."""
FEWEST_ROW_ELEMENTS = 16
"""Elements below which a work-item does a row by itself."""
REGISTER_ELEMENTS = 8
"""Elements of a row that a work-item keeps in registers at once."""
VECTOR_ELEMENTS = 4
"""Elements side by side that a work-item has where a device reads 16 bytes at once."""
FEWEST_SCATTERED = 256
"""Values below which one work-item adds them up in order."""
SUBGROUP_ITEMS = 32
"""Work-items of a subgroup where a device does not say."""
ITEMS_EACH = 4
"""Work-items of a launch that one of a GPU does at most, where they are many: loads of all of them are under way."""
MOST_UNROLLED = 16
"""Iterations of a work-item's loop over memory that are written one after the other."""
UNROLLED_OPERATIONS = 256
"""Operations that an unrolled body has at most: what is longer needs registers that hide less than they cost."""
ATTENTION_KEYS = 32
"""Keys whose scores a group has in shared memory at a time."""
ATTENTION_CELLS = 32
"""Cells of attention's result that a work-item keeps in registers; wider results are cut into columns."""
ATTENTION_FACTOR_ELEMENTS = 1536
"""Elements of queries and keys, or of values, that are in shared memory at a time: with the scores less than 16 KiB
of f32, which all devices have."""
MATRIX_ATTENTION_KEYS = 64
"""Keys that a group meets at a time by instructions for small matrices: their scores take 32 registers. Half as many
where each lane holds all terms of its query, which takes twice the registers."""
MATRIX_ATTENTION_SUBGROUPS = 4
"""Subgroups of such a group, where there are enough groups: each has 16 queries."""
WARPGROUP_ATTENTION_SLOTS = 2
"""Tiles of keys and of values in shared memory on Hopper: one is multiplied while the other is filled."""
WAVE_ATTENTION_ITEMS = 256
"""Work-items of such a group on AMD: what comes next waits in registers of all of them."""
MATRIX_ATTENTION_DEPTH = 256
"""Elements of a query that fit in registers, 64 of them."""
MATRIX_ATTENTION_WIDTH = 128
"""Columns of the result that a group keeps in registers, 64 of them. Keys and values then take 48 KiB at most."""
LINE_GROUP, PLANE_GROUP = (256,), (4, 64)
"""Work-items of a group, of a kernel that a GPU's target compiles, where the launch leaves them open: long along the
last dimension, whose neighbours lie side by side."""
SQUARE_SIDE = 16
"""Work-items along both sides of such a group where neighbours of another dimension lie side by side: 16 elements of 4
bytes are two segments of memory."""
