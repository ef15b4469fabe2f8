"""
Smoothing that keeps edges
==========================

The bilateral filter: a mean over the neighbours of a pixel in which those of another brightness count
little.
"""

# %%
# The photograph is one that matplotlib brings along; noise is added to it. `reach` is `pk.static`: each
# reach is compiled on its own, with loops of known length.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cbook

import pykern as pk


@pk.kernel
def bilateral(out, image, near, alike, reach: pk.static):
    i, j = pk.index()
    rows, columns = image.shape
    here = image[i, j]
    total = weights = pk.f32(0)
    for a in range(-reach, reach + 1):
        for b in range(-reach, reach + 1):
            y, x = pk.clamp(i + a, 0, rows - 1), pk.clamp(j + b, 0, columns - 1)
            other = image[y, x]
            far = (a * a + b * b) / (2 * near * near)
            unlike = (other - here) ** 2 / (2 * alike * alike)
            weight = pk.exp(-far - unlike)
            total += weight * other
            weights += weight
    out[i, j] = total / weights


file = str(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False))
photograph = plt.imread(file).astype(np.float32).mean(axis=2)[40:400, 96:456] / 255
noisy = photograph + 0.08 * np.random.default_rng(0).standard_normal(photograph.shape, np.float32)
near, alike = np.float32(2.5), np.float32(0.22)
smooth = np.empty_like(noisy)
bilateral(smooth, noisy, near, alike, 5, ndrange=noisy.shape)

# %%
# The same in NumPy, neighbour by neighbour over the whole picture.

padded = np.pad(noisy.astype(float), 5, mode="edge")
total, weights = np.zeros(noisy.shape), np.zeros(noisy.shape)
for a in range(-5, 6):
    for b in range(-5, 6):
        other = padded[5 + a : 5 + a + noisy.shape[0], 5 + b : 5 + b + noisy.shape[1]]
        weight = np.exp(-(a * a + b * b) / (2 * 2.5**2) - (other - noisy) ** 2 / (2 * 0.22**2))
        total += weight * other
        weights += weight
np.testing.assert_allclose(smooth, total / weights, atol=1e-5)
print(f"noise before: {np.std(noisy - photograph):.3f}, after: {np.std(smooth - photograph):.3f}")

# %%

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
parts = {"noisy": noisy, "smoothed": smooth}
for ax, (title, image) in zip(axes, parts.items(), strict=False):
    ax.imshow(image, cmap="gray", vmin=0, vmax=1)
    ax.set(title=title, xticks=[], yticks=[])
axes[0].axhline(180, color="tab:red", linewidth=1)
axes[1].axhline(180, color="tab:red", linewidth=1)
axes[2].plot(noisy[180], color="0.75", linewidth=1, label="noisy")
axes[2].plot(photograph[180], color="tab:blue", linewidth=1, label="photograph")
axes[2].plot(smooth[180], color="tab:red", linewidth=1.5, label="smoothed")
axes[2].set(title="along the line", xlabel="column", ylabel="brightness", xlim=(0, 359))
axes[2].legend(loc="upper right")
plt.show()
