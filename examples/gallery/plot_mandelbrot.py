"""
Mandelbrot set
==============

A work-item a pixel. Each runs its own `while` loop, as long as its point needs.
"""

# %%
# The kernel counts the steps of `z = z * z + c` until `|z|` is beyond 256. So large a radius makes the
# smooth count `n + 1 - log2(log2(|z|))` exact enough that colours have no bands.

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.kernel
def mandelbrot(count, x0, y0, step, most):
    i, j = pk.index()
    cx = x0 + step * j
    cy = y0 + step * i
    x = y = 0.0
    n = 0
    while x * x + y * y < 65536.0 and n < most:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        n += 1
    if n == most:
        count[i, j] = 0.0
    else:
        count[i, j] = n + 1 - pk.log2(0.5 * pk.log2(x * x + y * y))


rows, columns = 540, 720
step = 0.0026 / columns
left, low = -0.7463 - 0.5 * step * columns, 0.1102 - 0.5 * step * rows
count = np.zeros((rows, columns))
mandelbrot(count, left, low, step, 1500, ndrange=count.shape)

# %%
# Part of the picture again, in NumPy. The kernel may round `a * b + c` once instead of twice; near the set,
# where the map is chaotic, single pixels then differ.

part = (slice(200, 260), slice(300, 380))
y, x = np.mgrid[part]
c = (left + step * x) + 1j * (low + step * y)
z, steps, smooth = np.zeros_like(c), np.zeros(c.shape, int), np.zeros(c.shape)
for _ in range(1500):
    inside = z.real**2 + z.imag**2 < 65536
    z = np.where(inside, z * z + c, z)
    steps += inside
out = steps < 1500
smooth[out] = steps[out] + 1 - np.log2(0.5 * np.log2(z.real[out] ** 2 + z.imag[out] ** 2))
same = np.mean(np.abs(count[part] - smooth) < 1e-3)
print(f"{same:.1%} of the pixels have the same count")
assert same > 0.98

# %%

figure, axes = plt.subplots(figsize=(8, 6), layout="constrained")
shown = np.where(count > 0, np.log(np.maximum(count, 1)), np.nan)
cmap = plt.get_cmap("twilight_shifted").copy()
cmap.set_bad("black")
axes.imshow(shown, cmap=cmap, origin="lower", extent=(left, left + step * columns, low, low + step * rows))
axes.set(xlabel="Re c", ylabel="Im c")
plt.show()

# %%
# What the loop becomes on an NVIDIA GPU, instruction by instruction; none has to be there.
#
# .. raw:: html
#
#    <iframe class="explorer" src="../_static/mandelbrot.html" title="the explorer's page"></iframe>

page = pk.explore(
    mandelbrot, count, left, low, step, 1500, ndrange=count.shape, target="nvvm:sm_90a", to="mandelbrot.html"
)
