"""Random numbers that are a function of a seed and a place: Philox4x32-10.

Forward and backward parts compute the same numbers again, in any order, on any device.
Source: J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
"""

from __future__ import annotations

from typing import Any

import pykern as pk

LOW = 0xFFFFFFFF
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10


def uniform(seed: Any, count: Any) -> Any:
    """`count` numbers of f32 in [0, 1), of 24 bits each: the first word of Philox for counters 0, 1, ... and the key
    `seed`."""
    counter = pk.arange(count).astype(pk.u64)
    key = pk.u64(seed)
    a, b, c, d = counter & LOW, counter >> 32, pk.zeros_like(counter), pk.zeros_like(counter)
    k, h = key & LOW, key >> 32
    for _ in range(ROUNDS):
        first, second = a * MULTIPLIERS[0], c * MULTIPLIERS[1]
        a, b, c, d = (second >> 32) ^ b ^ k, second & LOW, (first >> 32) ^ d ^ h, first & LOW
        k, h = (k + WEYL[0]) & LOW, (h + WEYL[1]) & LOW
    return (a >> 8).astype(pk.f32) * 2.0**-24
