"""
Histogram in shared memory
==========================

Each workgroup counts in memory of its own, and adds its counts to the result once. The histogram then evens
out the brightness of a picture.
"""

# %%
# Work-items of a group share `counts`. They meet twice at a barrier: when the counts are zero, and when
# they are complete.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cbook
from matplotlib.colors import LightSource

import pykern as pk

BINS = 256


@pk.kernel(workgroup=BINS)
def histogram(result, image):
    i, lane = pk.index(), pk.local_index()
    counts = pk.shared(BINS, pk.i32)
    counts[lane] = 0
    pk.barrier()
    if i < len(image):
        pk.atomic_add(counts, int(image[i]), 1)
    pk.barrier()
    pk.atomic_add(result, lane, counts[lane])


@pk.kernel
def look_up(out, image, table):
    i = pk.index()
    out[i] = table[int(image[i])]


with np.load(cbook.get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as data:
    relief = LightSource(azdeg=315, altdeg=40).hillshade(data["elevation"].astype(float), vert_exag=0.012)
image = (70 + 75 * relief).astype(np.uint8)  # hazy: all greys are middle greys

counts = np.zeros(BINS, np.int32)
histogram(counts, image.ravel(), ndrange=pk.cdiv(image.size, BINS) * BINS)
np.testing.assert_array_equal(counts, np.bincount(image.ravel(), minlength=BINS))

# %%
# What lies below a grey becomes its new value: then every grey is used alike.

table = (255 * np.cumsum(counts) / image.size).astype(np.uint8)
evened = np.empty_like(image)
look_up(evened.ravel(), image.ravel(), table, ndrange=image.size)
np.testing.assert_array_equal(evened, table[image])
after = np.zeros(BINS, np.int32)
histogram(after, evened.ravel(), ndrange=pk.cdiv(image.size, BINS) * BINS)

# %%

figure, axes = plt.subplots(2, 2, figsize=(10, 7), height_ratios=(3, 1), layout="constrained")
for column, (title, picture, count) in enumerate((("hazy", image, counts), ("evened out", evened, after))):
    axes[0, column].imshow(picture, cmap="gray", vmin=0, vmax=255)
    axes[0, column].set(title=title, xticks=[], yticks=[])
    axes[1, column].fill_between(np.arange(BINS), count, step="mid", color="tab:orange")
    axes[1, column].plot(np.cumsum(count) / image.size * count.max(), color="0.3", linewidth=1)
    axes[1, column].set(xlim=(0, 255), ylim=(0, None), xlabel="grey", yticks=[])
axes[1, 0].set(ylabel="pixels")
plt.show()
