"""Random numbers that are a function of a seed and of counters: Philox4x32-10, in NumPy, for the reference.

Comes in: a seed and one to four counters, integers or arrays of them. Goes out: four words of 32 bits for each, and the
numbers made of them. `pykern.frontend.philox` makes the same of ops, bit for bit but for the logarithm and the cosine
of a normal number. Source: J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
"""

from __future__ import annotations

import math
from typing import Any

from pykern.data.philox import BITS, LOW, MULTIPLIERS, ROUNDS, WEYL
from pykern.errors import KernelTypeError
from pykern.types import DType


def words(seed: Any, counters: tuple) -> tuple[Any, Any, Any, Any]:
    """Four words, as u64 that are below 2**32."""
    import numpy as np

    key = _word(seed)
    place = [_word(c) for c in np.broadcast_arrays(*counters)]
    if len(place) > 2:
        a, b, c, d = [p & LOW for p in place] + [np.uint64(0)] * (4 - len(place))
    else:
        first, second = (*place, np.uint64(0))[:2]
        a, b, c, d = first & LOW, first >> 32, second & LOW, second >> 32
    k, h = key & LOW, key >> 32
    for _ in range(ROUNDS):
        one, two = a * np.uint64(MULTIPLIERS[0]), c * np.uint64(MULTIPLIERS[1])
        a, b, c, d = (two >> 32) ^ b ^ k, two & LOW, (one >> 32) ^ d ^ h, one & LOW
        k, h = (k + WEYL[0]) & LOW, (h + WEYL[1]) & LOW
    return a, b, c, d


def _word(value: Any) -> Any:
    """An integer in 64 bits, negative ones in two's complement."""
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind not in "iub":
        raise KernelTypeError(
            f"seeds and counters are integers, not {array.dtype.name}", hint="convert them: int(x)"
        )
    return array.astype(np.uint64) if array.ndim else np.uint64(int(array) & (1 << 64) - 1)


def bits(seed: Any, counters: tuple) -> Any:
    import numpy as np

    return _plain(words(seed, counters)[0].astype(np.uint32))


def uniform(seed: Any, counters: tuple, dtype: DType) -> Any:
    return _plain(_unit(words(seed, counters)[:2], dtype).astype(dtype.numpy))


def normal(seed: Any, counters: tuple, dtype: DType) -> Any:
    """By Box and Muller, computed in f64 here."""
    import numpy as np

    found = words(seed, counters)
    if dtype.bits == 64:
        radius, angle = _unit(found[:2], dtype), _unit(found[2:], dtype)
    else:
        radius, angle = ((w >> 8) * 2.0**-24 for w in found[:2])
    least = 2.0 ** -(53 if dtype.bits == 64 else 24)
    value = np.sqrt(-2 * np.log(radius + least)) * np.cos(2 * math.pi * angle)
    return _plain(value.astype(dtype.numpy))


def _unit(pair: tuple, dtype: DType) -> Any:
    """A number in [0, 1), of as many bits as the type has."""
    if dtype.bits == 64:
        return ((pair[0] >> 5) * 2.0**26 + (pair[1] >> 6)) * 2.0**-53
    count = BITS[dtype.name]
    return (pair[0] >> (32 - count)) * 2.0**-count


def _plain(value: Any) -> Any:
    return value if value.ndim else value[()]
