"""What products on a device cost, for `product_tiles`: clocks of a multiprocessor, estimated from datasheets."""

from __future__ import annotations

MULTIPROCESSORS = 128
"""Of a large GPU."""
MOST_PARTS = 128
"""Groups that have the same tile at most."""
FEWEST_PART_STEPS = 8
"""Times that each of these fetches terms at least."""
JOINING = 8000
"""Clocks of another kernel, which adds up what groups have left in memory: its launch above all."""
JOINED_CELLS = 1024
"""Cells that all multiprocessors write and read back in a clock, through the second cache."""
WORTHWHILE = 0.7
"""Part of the time without a split that one with it may take."""
MATRIX_CLOCKS = {128: (512, 512), 64: (128, 256), 32: (64, 256)}
"""By the side of a tile that a group computes by instructions for small matrices, 64 bytes of terms a step: clocks of a
multiprocessor for a step, and of a group that is alone on it, which waits for memory."""
WARPGROUP_CLOCKS = {128: (512, 600), 64: (256, 350)}
"""The same for instructions of four subgroups, 128 bytes a step."""
FMA_CLOCKS = {128: (2100, 2800), 64: (600, 1200), 32: (400, 1000), 16: (256, 1000)}
"""The same for multiply-adds, 16 terms a step, which are waited for. The largest is for devices that read 16 bytes at
once."""
