"""What it costs to run code on a CPU: the numbers that passes decide by, each with its unit."""

from __future__ import annotations

PARALLEL_WORK = 200_000
"""Elementary operations (about 0.3 ns each) from which a fork and join of 1-2 us is worth it."""
