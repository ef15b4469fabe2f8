"""
Ray marching
============

A picture of a distance function. Work-items call `@pk.func` functions, loop until their ray hits, and
return early.
"""

# %%
# The scene is a function that gives the distance to the nearest surface: a ball and a ring, melted into
# each other, over a floor.

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.func
def melt(a, b, k):
    """The lesser of two distances, rounded where they meet."""
    h = pk.clamp(0.5 + 0.5 * (b - a) / k, 0.0, 1.0)
    return b + (a - b) * h - k * h * (1.0 - h)


@pk.func
def objects(x, y, z):
    ball = pk.sqrt(x * x + (y - 0.45) ** 2 + z * z) - 0.55
    across = pk.sqrt(x * x + z * z) - 1.05
    ring = pk.sqrt(across * across + (y + 0.05 * pk.sin(6.0 * x)) ** 2) - 0.27
    return melt(ball, ring, 0.35)


@pk.func
def distance(x, y, z):
    return min(objects(x, y, z), y + 0.45)


@pk.func
def march(ox, oy, oz, dx, dy, dz):
    """How far a ray gets; 20 where it hits nothing."""
    t = 0.0
    for _ in range(160):
        d = distance(ox + t * dx, oy + t * dy, oz + t * dz)
        if d < 1e-4:
            break
        t += d
        if t > 20.0:
            return 20.0
    return t


@pk.func
def lit(x, y, z, lx, ly, lz):
    """How much of the lamp is seen: 1 in the light, 0 in the shadow, and between where rays pass nearby."""
    seen = 1.0
    t = 0.02
    for _ in range(60):
        d = distance(x + t * lx, y + t * ly, z + t * lz)
        seen = min(seen, 9.0 * d / t)
        t += max(d, 0.02)
        if seen < 0.01 or t > 6.0:
            break
    return pk.clamp(seen, 0.0, 1.0)


@pk.kernel
def render(picture, depth, focus):
    i, j = pk.index()
    rows, columns = depth.shape
    ox, oy, oz = 0.0, 1.9, -4.0
    dx, dy, dz = (j + 0.5 - columns / 2) / rows, -0.56 - (i + 0.5 - rows / 2) / rows, focus
    length = pk.sqrt(dx * dx + dy * dy + dz * dz)
    dx, dy, dz = dx / length, dy / length, dz / length
    t = march(ox, oy, oz, dx, dy, dz)
    depth[i, j] = t
    haze = 1.0 - pk.exp(-0.012 * t * t)
    if t >= 20.0:
        picture[i, j, 0], picture[i, j, 1], picture[i, j, 2] = 0.80, 0.86, 0.92
        return
    x, y, z = ox + t * dx, oy + t * dy, oz + t * dz
    e = 1e-3
    nx = distance(x + e, y, z) - distance(x - e, y, z)
    ny = distance(x, y + e, z) - distance(x, y - e, z)
    nz = distance(x, y, z + e) - distance(x, y, z - e)
    n = pk.sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx / n, ny / n, nz / n
    lx, ly, lz = 0.56, 0.70, -0.44
    light = max(nx * lx + ny * ly + nz * lz, 0.0) * lit(x, y, z, lx, ly, lz)
    sky = 0.5 + 0.5 * ny
    hx, hy, hz = lx - dx, ly - dy, lz - dz
    h = max((nx * hx + ny * hy + nz * hz) / pk.sqrt(hx * hx + hy * hy + hz * hz), 0.0)
    shine = 0.5 * light * h**48
    tile = (pk.floor(1.5 * x) + pk.floor(1.5 * z)) % 2 == 0
    on_floor = objects(x, y, z) > 1e-3
    red, green, blue = (0.62, 0.60, 0.55) if tile else (0.12, 0.14, 0.18)
    if not on_floor:
        red, green, blue = 0.80, 0.20, 0.10
    picture[i, j, 0] = pk.sqrt((red * (light + 0.30 * sky) + shine) * (1.0 - haze) + 0.64 * haze)
    picture[i, j, 1] = pk.sqrt((green * (light + 0.34 * sky) + shine) * (1.0 - haze) + 0.74 * haze)
    picture[i, j, 2] = pk.sqrt((blue * (light + 0.40 * sky) + shine) * (1.0 - haze) + 0.85 * haze)


rows, columns = 450, 600
picture, depth = np.zeros((rows, columns, 3)), np.zeros((rows, columns))
render(picture, depth, 1.4, ndrange=depth.shape)

# %%
# How far every 15th ray gets, in NumPy.

i, j = np.mgrid[0:rows:15, 0:columns:15]
ray = np.stack([(j + 0.5 - columns / 2) / rows, -0.56 - (i + 0.5 - rows / 2) / rows, np.full(i.shape, 1.4)])
ray /= np.sqrt((ray**2).sum(0))


def numpy_distance(x, y, z):
    a = np.sqrt(x * x + (y - 0.45) ** 2 + z * z) - 0.55
    b = np.hypot(np.hypot(x, z) - 1.05, y + 0.05 * np.sin(6 * x)) - 0.27
    h = np.clip(0.5 + 0.5 * (b - a) / 0.35, 0, 1)
    return np.minimum(b + (a - b) * h - 0.35 * h * (1 - h), y + 0.45)


t, going = np.zeros(i.shape), np.ones(i.shape, bool)
for _ in range(160):
    d = numpy_distance(t * ray[0], 1.9 + t * ray[1], -4.0 + t * ray[2])
    going &= d >= 1e-4
    t = np.where(going, t + d, t)
    going &= t <= 20
np.testing.assert_allclose(depth[::15, ::15], np.minimum(t, 20), atol=2e-3)

# %%

figure, axes = plt.subplots(figsize=(8, 6), layout="constrained")
axes.imshow(np.clip(picture, 0, 1))
axes.axis("off")
plt.show()
