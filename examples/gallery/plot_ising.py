"""
Ising model
===========

Spins on a grid, turned by chance. Every random number is computed from the place and the step, so a run can
be repeated bit by bit, on any device.
"""

# %%
# A checkerboard update: black fields in one launch, white ones in the next, so no work-item reads what
# another one writes. The hash of 32 bits is lowbias32 [Wellons 2018].

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.func
def uniform(n):
    """A number in 0 .. 1 from an integer."""
    z = pk.u32(n)
    z = (z ^ (z >> 16)) * pk.u32(0x7FEB352D)
    z = (z ^ (z >> 15)) * pk.u32(0x846CA68B)
    return pk.f64(z ^ (z >> 16)) * 2.0**-32


@pk.kernel
def sweep(spins, beta, colour, step):
    i, half = pk.index()
    rows, columns = spins.shape
    j = 2 * half + (i + colour) % 2
    around = (
        int(spins[(i + 1) % rows, j])
        + int(spins[(i - 1) % rows, j])
        + int(spins[i, (j + 1) % columns])
        + int(spins[i, (j - 1) % columns])
    )
    cost = 2 * spins[i, j] * around
    if cost <= 0 or uniform((step * rows + i) * columns + j) < pk.exp(-beta * cost):
        spins[i, j] = -spins[i, j]


def run(size, temperature, sweeps, start):
    spins = start.copy()
    for step in range(sweeps):
        for colour in (0, 1):
            sweep(spins, 1 / temperature, colour, step, ndrange=(size, size // 2))
    return spins


# %%
# The same sweeps in NumPy give the same spins, each one.


def numpy_run(size, temperature, sweeps, start):
    spins = start.astype(int)
    i, j = np.mgrid[:size, :size]
    for step in range(sweeps):
        z = ((step * size + i) * size + j).astype(np.uint32)
        z = (z ^ (z >> np.uint32(16))) * np.uint32(0x7FEB352D)
        z = (z ^ (z >> np.uint32(15))) * np.uint32(0x846CA68B)
        chance = (z ^ (z >> np.uint32(16))) * 2.0**-32
        for colour in (0, 1):
            around = sum(np.roll(spins, s, axis) for s in (1, -1) for axis in (0, 1))
            cost = 2 * spins * around
            turned = ((cost <= 0) | (chance < np.exp(-cost / temperature))) & ((i + j) % 2 == colour)
            spins = np.where(turned, -spins, spins)
    return spins


rng = np.random.default_rng(0)
small = rng.choice(np.array([-1, 1], np.int8), (64, 64))
np.testing.assert_array_equal(run(64, 2.3, 40, small), numpy_run(64, 2.3, 40, small))

# %%
# Three temperatures, and the magnetisation beside Onsager's exact one [1944; Yang 1952].

size = 192
critical = 2 / np.log(1 + np.sqrt(2))
start = rng.choice(np.array([-1, 1], np.int8), (size, size))
pictures = {t: run(size, t, 200, start) for t in (0.8 * critical, critical, 1.3 * critical)}
temperatures = np.linspace(1.5, 3.2, 14)
up = np.ones((64, 64), np.int8)
found = [abs(run(64, t, 400, up).mean()) for t in temperatures]

figure, axes = plt.subplot_mosaic("abc;ddd", figsize=(10, 6.4), height_ratios=(1.5, 1), layout="constrained")
for name, (t, spins) in zip("abc", pictures.items(), strict=True):
    axes[name].imshow(spins, cmap="PuOr", interpolation="nearest", vmin=-1.4, vmax=1.4)
    axes[name].set(title=f"T = {t:.2f}", xticks=[], yticks=[])
exact_t = np.linspace(1.5, critical, 400)
exact = np.maximum(1 - np.sinh(2 / exact_t) ** -4.0, 0) ** (1 / 8)
axes["d"].plot([*exact_t, 3.2], [*exact, 0], color="0.5", label="exact, infinite grid")
axes["d"].plot(temperatures, found, "o", color="tab:purple", label="64 x 64, one state each")
axes["d"].axvline(critical, color="0.8", linewidth=1, zorder=0)
axes["d"].set(xlabel="temperature", ylabel="magnetisation", xlim=(1.5, 3.2), ylim=(-0.03, 1.05))
axes["d"].legend()
plt.show()
