"""
Reaction and diffusion
======================

The Gray-Scott model as an array program: the time loop, the kernel and the arrays are compiled together.
"""

# %%
# The kernel is one step. The program runs it `steps` times; its loop stays a loop, and the arrays that take
# turns are no copies.

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.kernel
def react(u2, v2, u, v, feed, kill):
    i, j = pk.index()
    rows, columns = u.shape
    n, s = (i - 1) % rows, (i + 1) % rows
    w, e = (j - 1) % columns, (j + 1) % columns
    across_u = u[n, j] + u[s, j] + u[i, w] + u[i, e] - 4 * u[i, j]
    across_v = v[n, j] + v[s, j] + v[i, w] + v[i, e] - 4 * v[i, j]
    eaten = u[i, j] * v[i, j] * v[i, j]
    u2[i, j] = u[i, j] + 0.16 * across_u - eaten + feed[i, j] * (1 - u[i, j])
    v2[i, j] = v[i, j] + 0.08 * across_v + eaten - (feed[i, j] + kill[i, j]) * v[i, j]


@pk.jit
def simulate(u, v, feed, kill, steps: pk.static):
    for _ in pk.range(steps):
        u2, v2 = pk.empty_like(u), pk.empty_like(v)
        react(u2, v2, u, v, feed, kill, ndrange=u.shape)
        u, v = u2, v2
    return u, v


def numpy_simulate(u, v, feed, kill, steps):
    def across(x):
        return sum(np.roll(x, s, axis) for s in (1, -1) for axis in (0, 1)) - 4 * x

    for _ in range(steps):
        eaten = u * v * v
        u, v = u + 0.16 * across(u) - eaten + feed * (1 - u), v + 0.08 * across(v) + eaten - (feed + kill) * v
    return u, v


# %%
# Feed and kill rates change from place to place, so that one picture holds spots, worms and mazes.

rows, columns = 200, 280
rng = np.random.default_rng(4)
kill = np.broadcast_to(np.linspace(0.0565, 0.0645, columns), (rows, columns)).astype(np.float32)
feed = np.broadcast_to(np.linspace(0.022, 0.052, rows)[:, None], (rows, columns)).astype(np.float32)
u, v = np.ones((rows, columns), np.float32), np.zeros((rows, columns), np.float32)
for y, x in zip(rng.integers(0, rows - 8, 60), rng.integers(0, columns - 8, 60), strict=True):
    u[y : y + 8, x : x + 8], v[y : y + 8, x : x + 8] = 0.5, 0.25
v += 0.02 * rng.random(v.shape, np.float32)

np.testing.assert_allclose(simulate(u, v, feed, kill, 50), numpy_simulate(u, v, feed, kill, 50), atol=2e-5)
u, v = simulate(u, v, feed, kill, 6000)

# %%

figure, axes = plt.subplots(figsize=(9, 6.4), layout="constrained")
axes.imshow(
    v,
    cmap="gnuplot2",
    origin="lower",
    aspect="auto",
    interpolation="bicubic",
    extent=(kill[0, 0], kill[0, -1], feed[0, 0], feed[-1, 0]),
)
axes.set(xlabel="kill", ylabel="feed")
plt.show()
