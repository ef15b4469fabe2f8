"""Facts of the machine that both the compiler and the runtime ask for."""

from __future__ import annotations

import functools


@functools.cache
def cache_bytes() -> int:
    """Size of the last-level cache; 32 MiB where the system does not tell."""
    for level in (3, 2):
        path = f"/sys/devices/system/cpu/cpu0/cache/index{level}/size"
        try:
            with open(path) as file:
                return int(file.read().strip().removesuffix("K")) * 1024
        except (OSError, ValueError):
            continue
    return 32 << 20
