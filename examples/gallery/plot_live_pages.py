"""
Kernels that run in this page
=============================

`pk.export(..., form="html")` writes a page that runs a kernel in a browser with WebGPU: nothing is installed, and
nothing is asked for over the network. Four of them, with sliders for their numbers.
"""

# %%
# Waves. The new wave is written over the one before, and then the two arrays change places.

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.kernel
def waves(old, u, slow):
    i, j = pk.index()
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        laplacian = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]
        old[i, j] = 2 * u[i, j] - old[i, j] + slow[i, j] * laplacian


rows, columns = 240, 320
y, x = np.indices((rows, columns), np.float32)
drop = np.exp(-((y - 120) ** 2 + (x - 60) ** 2) / 40)
slow = np.where((abs(x - 160) < 3) & (abs(abs(y - 120) - 30) > 8), np.float32(0), np.float32(0.25))
shape = {"ndrange": (rows, columns), "form": "html"}
page = pk.LivePage(show="old", swap=(("old", "u"),), steps=2, range=(-0.2, 0.2))
live_waves = pk.export(waves, drop, drop, slow, **shape, to="live-waves.html", page=page)

# %%
# .. raw:: html
#
#    <iframe class="explorer" src="../_static/live-waves.html" title="waves"></iframe>
#
# Reaction and diffusion.


@pk.kernel
def react(u2, v2, u, v, feed: pk.f32, kill: pk.f32):
    i, j = pk.index()
    rows, columns = u.shape
    n, s = (i - 1) % rows, (i + 1) % rows
    w, e = (j - 1) % columns, (j + 1) % columns
    across_u = u[n, j] + u[s, j] + u[i, w] + u[i, e] - 4 * u[i, j]
    across_v = v[n, j] + v[s, j] + v[i, w] + v[i, e] - 4 * v[i, j]
    eaten = u[i, j] * v[i, j] * v[i, j]
    u2[i, j] = u[i, j] + 0.16 * across_u - eaten + feed * (1 - u[i, j])
    v2[i, j] = v[i, j] + 0.08 * across_v + eaten - (feed + kill) * v[i, j]


rng = np.random.default_rng(4)
v = (
    np.where(rng.random((rows // 8, columns // 8)) < 0.1, np.float32(0.5), np.float32(0))
    .repeat(8, 0)
    .repeat(8, 1)
)
u = 1 - v
page = pk.LivePage(
    show="v2", swap=(("u2", "u"), ("v2", "v")), steps=12, sliders={"feed": (0.02, 0.06), "kill": (0.05, 0.07)}
)
live_react = pk.export(react, u, v, u, v, 0.037, 0.06, **shape, to="live-reaction.html", page=page)

# %%
# .. raw:: html
#
#    <iframe class="explorer" src="../_static/live-reaction.html" title="reaction and diffusion"></iframe>
#
# A fractal: how long a point of the plane takes to escape from a Julia set.


@pk.kernel
def julia(count, cx: pk.f32, cy: pk.f32, zoom: pk.f32):
    i, j = pk.index()
    x, y = (pk.f32(j) - 160) / (100 * zoom), (pk.f32(i) - 120) / (100 * zoom)
    n = pk.i32(0)
    while x * x + y * y < 16 and n < 150:
        x, y = x * x - y * y + cx, 2 * x * y + cy
        n += 1
    count[i, j] = n


counts = pk.spec((rows, columns), pk.i32)
page = pk.LivePage(sliders={"cx": (-1, 0.5), "cy": (0, 1), "zoom": (0.5, 20)}, range=(0, 80))
live_julia = pk.export(julia, counts, -0.79, 0.15, 1.0, **shape, to="live-julia.html", page=page)

# %%
# .. raw:: html
#
#    <iframe class="explorer" src="../_static/live-julia.html" title="a Julia set"></iframe>
#
# Gravity: a work-item a body.


@pk.kernel
def bodies(p2, v2, p, v, step: pk.f32, soft: pk.f32):
    i = pk.index()
    ax, ay = pk.f32(0), pk.f32(0)
    for j in range(p.shape[0]):
        dx, dy = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
        near = dx * dx + dy * dy + soft * soft
        pull = 1 / (near * pk.sqrt(near) * p.shape[0])
        ax += pull * dx
        ay += pull * dy
    v2[i, 0], v2[i, 1] = v[i, 0] + step * ax, v[i, 1] + step * ay
    p2[i, 0], p2[i, 1] = p[i, 0] + step * v2[i, 0], p[i, 1] + step * v2[i, 1]


angle, radius = 2 * np.pi * rng.random(1024), 0.6 * np.sqrt(rng.random(1024))
p = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32)
speed = 1.1 * np.stack([-p[:, 1], p[:, 0]], 1)
page = pk.LivePage(
    show="p2", swap=(("p2", "p"), ("v2", "v")), points=True, sliders={"step": (0, 0.02), "soft": (0.02, 0.2)}
)
live_bodies = pk.export(
    bodies, p, speed, p, speed, 0.005, 0.05, ndrange=1024, form="html", to="live-bodies.html", page=page
)

# %%
# .. raw:: html
#
#    <iframe class="explorer" src="../_static/live-bodies.html" title="gravity"></iframe>
#
# One step of each on this machine, compared with NumPy where that is short.

after = drop.copy()
waves(after, drop, slow, ndrange=(rows, columns))
across = drop[:-2, 1:-1] + drop[2:, 1:-1] + drop[1:-1, :-2] + drop[1:-1, 2:] - 4 * drop[1:-1, 1:-1]
np.testing.assert_allclose(after[1:-1, 1:-1], drop[1:-1, 1:-1] + slow[1:-1, 1:-1] * across, atol=1e-6)

u2, v2 = np.empty_like(u), np.empty_like(v)
react(u2, v2, u, v, 0.037, 0.06, ndrange=u.shape)
neighbours = sum(np.roll(v, s, axis) for s in (1, -1) for axis in (0, 1)) - 4 * v
np.testing.assert_allclose(v2, v + 0.08 * neighbours + u * v * v - (0.037 + 0.06) * v, atol=1e-6)

count = np.zeros((rows, columns), np.int32)
julia(count, -0.79, 0.15, 1.0, ndrange=count.shape)
p2, s2 = np.empty_like(p), np.empty_like(speed)
bodies(p2, s2, p, speed, 0.005, 0.05, ndrange=1024)

figure, axes = plt.subplots(1, 3, figsize=(10, 2.6), layout="constrained")
for ax, field in zip(axes, (after, v2, count), strict=True):
    ax.imshow(field, vmax=np.quantile(field, 0.99))
    ax.axis("off")
plt.show()
