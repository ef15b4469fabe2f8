"""
Waves through two slits
=======================

The wave equation on a grid, leapfrog in time. One kernel, two arrays that take turns.
"""

# %%
# `u` is the wave now and `old` the wave a step before; the new wave is written over the old one, which
# nobody but the same work-item reads. `slow` is the square of speed times step: zero inside the wall.
# `loss` grows towards the edges, so that waves leave.

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.kernel
def wave_step(old, u, slow, loss):
    i, j = pk.index()
    laplacian = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]
    q = loss[i, j]
    old[i, j] = (2 * u[i, j] - (1 - q) * old[i, j] + slow[i, j] * laplacian) / (1 + q)


rows, columns, steps = 300, 400, 1000
slow = np.full((rows, columns), 0.25)
wall = slice(90, 95)
slow[:, wall] = 0
for slit in (122, 178):
    slow[slit - 8 : slit + 8, wall] = 0.25

i, j = np.indices((rows, columns))
edge = np.minimum.reduce([i, rows - 1 - i, j, columns - 1 - j])
loss = 0.15 * np.clip(1 - edge / 30, 0, 1) ** 2


def source(n):
    """A plane wave from the left, which is switched on gently."""
    return np.sin(0.33 * n) * min(1, n / 60)


def run(step):
    u, old = np.zeros((rows, columns)), np.zeros((rows, columns))
    for n in range(steps):
        u[:, 34] = source(n)
        step(old, u)
        u, old = old, u
    return u


inside = (range(1, rows - 1), range(1, columns - 1))
u = run(lambda old, u: wave_step(old, u, slow, loss, ndrange=inside))

# %%
# The same in NumPy.


def numpy_step(old, u):
    inner = (slice(1, -1), slice(1, -1))
    laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[inner]
    q = loss[inner]
    old[inner] = (2 * u[inner] - (1 - q) * old[inner] + slow[inner] * laplacian) / (1 + q)


np.testing.assert_allclose(u, run(numpy_step), atol=1e-10)

# %%

figure, axes = plt.subplots(figsize=(8, 6), layout="constrained")
most = 0.6 * np.abs(u[:, 150:]).max()
picture = axes.imshow(u, cmap="RdBu_r", vmin=-most, vmax=most, interpolation="bilinear")
axes.imshow(np.where(slow == 0, 1.0, np.nan), cmap="gray", vmin=0, vmax=2)
axes.set(xticks=[], yticks=[], title=f"after {steps} steps")
figure.colorbar(picture, label="height", shrink=0.8)
plt.show()

# %%
# Every stage of the kernel. Click a line of Python to see what it became.
#
# .. raw:: html
#
#    <iframe class="explorer" src="../_static/wave_step.html" title="the explorer's page"></iframe>

page = pk.explore(wave_step, u, u, slow, loss, ndrange=inside, to="wave_step.html")
