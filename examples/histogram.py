"""How many pixels of a picture have each brightness: a histogram with atomics in shared memory.

All work-items of a workgroup count into 256 counters that they share, so that the counters of the whole
picture are touched 256 times a workgroup instead of once a pixel. Three phases, a barrier between them:
clear the shared counters, count, add them to the result.

    python examples/histogram.py
"""

from __future__ import annotations

import numpy as np
from matplotlib import cbook
from matplotlib.image import imread

import pykern as pk

BINS = 256
GROUP = 256
PER_ITEM = 16  # pixels that one work-item counts


@pk.kernel(workgroup=GROUP)
def histogram(counts, pixels):
    """`counts` (i32[256], zero before) gets the number of `pixels` (u8[n]) of each value."""
    here = pk.local_index()
    first = pk.group_index() * (GROUP * PER_ITEM) + here
    shared = pk.shared((BINS,), pk.i32)

    for b in range(here, BINS, GROUP):
        shared[b] = 0
    pk.barrier()

    for k in range(PER_ITEM):
        p = first + k * GROUP  # neighbours read neighbours: the accesses of a group are one piece
        if p < len(pixels):
            pk.atomic_add(shared, pixels[p], 1)
    pk.barrier()

    for b in range(here, BINS, GROUP):
        pk.atomic_add(counts, b, shared[b])


def count(pixels: np.ndarray) -> np.ndarray:
    """The histogram of u8 `pixels`. The index space is whole workgroups: all of a group meet at a barrier."""
    counts = np.zeros(BINS, np.int32)
    groups = pk.cdiv(pixels.size, GROUP * PER_ITEM)
    histogram(counts, pixels, ndrange=groups * GROUP)
    return counts


def main() -> None:
    picture = imread(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False))
    red, green, blue = (np.ascontiguousarray(picture[..., channel]).ravel() for channel in range(3))
    for name, pixels in (("red", red), ("green", green), ("blue", blue), ("a few", red[:1001])):
        counts = count(pixels)
        np.testing.assert_array_equal(counts, np.bincount(pixels, minlength=BINS))
        print(
            f"{name:6} {pixels.size:7} pixels, median {np.searchsorted(counts.cumsum(), pixels.size / 2):3}"
        )
        height = counts.reshape(-1, 4).sum(axis=1)
        print("       " + "".join(" .:-=+*#%@"[9 * h // max(1, height.max())] for h in height))
    print("same as numpy.bincount")


if __name__ == "__main__":
    main()
