"""The byte that tells what threads wait for, at each wait of a kernel.

Goes out: `OF_BLOCK`, `OF_WARPGROUP`, `POLL`; all others, up to `MOST_WORDS`, are exchanges of a warp, and the number of
8-byte words that each lane brings.
"""

from __future__ import annotations

OF_BLOCK, MOST_WORDS, OF_WARPGROUP, POLL = 0, 200, 254, 255
WARPS = 4
"""Of a warpgroup."""
BARRIERS = 16
"""Of a block, by number."""
