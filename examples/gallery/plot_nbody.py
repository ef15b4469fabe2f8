"""
Two galaxies
============

Gravity between all pairs of bodies. A work-item a body; each sums over all others.
"""

# %%
# Positions and velocities are arrays of three columns. Softening keeps close pairs from flying apart.
# `fastmath=True` lets the sum be taken in another order, several terms at a time.

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.kernel(fastmath=True)
def accelerate(a, x, y, z, mass, soft):
    i = pk.index()
    ax = ay = az = pk.f32(0)
    for j in range(len(x)):
        dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
        near = pk.rsqrt(dx * dx + dy * dy + dz * dz + soft * soft)
        pull = mass[j] * near * near * near
        ax += pull * dx
        ay += pull * dy
        az += pull * dz
    a[0, i], a[1, i], a[2, i] = ax, ay, az


def disc(count, centre, velocity, tilt, rng):
    """A heavy centre, and light bodies on circles around it."""
    r = 0.15 + 0.85 * np.sqrt(rng.random(count))
    angle = 2 * np.pi * rng.random(count)
    speed = np.sqrt(r**2 / (r**2 + SOFT**2) ** 1.5)
    place = np.stack([r * np.cos(angle), r * np.sin(angle), 0.02 * rng.standard_normal(count)])
    motion = np.stack([-speed * np.sin(angle), speed * np.cos(angle), np.zeros(count)])
    turn = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    place, motion = turn @ place, turn @ motion
    place[:, 0], motion[:, 0] = 0, 0
    return place + np.array(centre)[:, None], motion + np.array(velocity)[:, None]


SOFT, STEP, SHOWN = 0.08, 0.012, (125, 220)
STEPS = max(SHOWN)
rng = np.random.default_rng(1)
first = disc(2000, (-1.3, -0.55, 0), (0.45, 0.0, 0), 0.3, rng)
second = disc(2000, (1.3, 0.55, 0), (-0.45, 0.0, 0), 1.1, rng)
x, v = (np.concatenate(parts, axis=1).astype(np.float32) for parts in zip(first, second, strict=True))
mass = np.full(x.shape[1], 2e-5, np.float32)
mass[[0, 2000]] = 1

# %%
# One evaluation, compared with NumPy in f64.

a = np.empty_like(x)
accelerate(a, *x, mass, np.float32(SOFT), ndrange=x.shape[1])
some = rng.integers(0, x.shape[1], 64)
d = x[:, None, :].astype(float) - x[:, some, None]
expected = (mass * d / ((d**2).sum(0) + SOFT**2) ** 1.5).sum(-1)
np.testing.assert_allclose(a[:, some], expected, rtol=1e-4, atol=1e-4)

# %%
# Leapfrog: half a kick, drift, half a kick.

states = [(x.copy(), v.copy())]
for n in range(1, STEPS + 1):
    v += 0.5 * STEP * a
    x += STEP * v
    accelerate(a, *x, mass, np.float32(SOFT), ndrange=x.shape[1])
    v += 0.5 * STEP * a
    if n in SHOWN:
        states.append((x.copy(), v.copy()))

# %%

figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained", facecolor="black")
for ax, (place, motion), n in zip(axes, states, (0, *SHOWN), strict=True):
    speed = np.sqrt((motion**2).sum(0))
    order = np.argsort(place[2])
    for size, alpha in ((14, 0.12), (1.2, 1)):
        ax.scatter(
            *place[:2, order],
            c=speed[order],
            s=size,
            alpha=alpha,
            cmap="inferno",
            vmin=-0.4,
            vmax=1.9,
            linewidths=0,
        )
    ax.scatter(*place[:2, [0, 2000]], s=22, c="white", linewidths=0)
    ax.set(xlim=(-2.3, 2.3), ylim=(-1.9, 1.9), aspect="equal")
    ax.set_title(f"t = {n * STEP:.1f}", color="0.8")
    ax.axis("off")
plt.show()
