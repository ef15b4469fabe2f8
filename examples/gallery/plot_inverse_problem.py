"""
Where did it come from?
=======================

An inverse problem: heat has spread for a while, a few thermometers saw it, and the first temperature is
looked for. The gradient of the misfit comes from differentiating the whole time loop.
"""

# %%
# The model is a kernel for one step, in an array program for all of them. The misfit compares the
# temperatures at the thermometers, and asks for little roughness.

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.kernel
def spread(after, before, conductivity):
    i, j = pk.index()
    rows, columns = before.shape
    here = before[i, j]
    gain = 0.0
    if i > 0:
        gain += (conductivity[i, j] + conductivity[i - 1, j]) * (before[i - 1, j] - here)
    if i < rows - 1:
        gain += (conductivity[i, j] + conductivity[i + 1, j]) * (before[i + 1, j] - here)
    if j > 0:
        gain += (conductivity[i, j] + conductivity[i, j - 1]) * (before[i, j - 1] - here)
    if j < columns - 1:
        gain += (conductivity[i, j] + conductivity[i, j + 1]) * (before[i, j + 1] - here)
    after[i, j] = here + 0.5 * gain


@pk.jit
def later(first, conductivity):
    t = first
    for _ in pk.range(60):
        after = pk.empty_like(t)
        spread(after, t, conductivity, ndrange=t.shape)
        t = after
    return t


@pk.jit
def misfit(first, conductivity, seen, where):
    wrong = (where * (later(first, conductivity) - seen) ** 2).sum()
    rough = ((first[1:] - first[:-1]) ** 2).sum() + ((first[:, 1:] - first[:, :-1]) ** 2).sum()
    return wrong + 2e-5 * rough


rows, columns = 72, 96
y, x = np.mgrid[:rows, :columns]
truth = np.exp(-((x - 26) ** 2 + (y - 24) ** 2) / 40) + 0.8 * np.exp(-((x - 66) ** 2 + (y - 46) ** 2) / 60)
truth += 0.6 * np.exp(-((x - 38) ** 2) / 30 - (y - 56) ** 2 / 20)
conductivity = np.where(np.abs(x - 0.35 * y - 38) < 2, 0.01, 0.22)  # a wall that heat hardly passes
where = np.zeros((rows, columns))
where[4::6, 4::6] = 1
rng = np.random.default_rng(0)
seen = later(truth, conductivity) + 0.002 * rng.standard_normal(truth.shape)

# %%
# The gradient against a finite difference in a random direction.

gradient = pk.value_and_grad(misfit)
direction, start = rng.standard_normal(truth.shape), 0.1 * rng.random(truth.shape)
_, slope = gradient(start, conductivity, seen, where)
step = 1e-4
ends = [misfit(start + s * direction, conductivity, seen, where) for s in (step, -step)]
np.testing.assert_allclose((slope * direction).sum(), (ends[0] - ends[1]) / (2 * step), rtol=1e-6)

# %%
# The misfit is quadratic, so conjugate gradients with exact steps find its least value: along a direction
# the gradient changes linearly.

found = np.zeros_like(truth)
value, slope = gradient(found, conductivity, seen, where)
direction, values = -slope, [value]
for _ in range(40):
    _, further = gradient(found + direction, conductivity, seen, where)
    bend = ((further - slope) * direction).sum()
    length = -(slope * direction).sum() / bend
    found = found + length * direction
    before = (slope**2).sum()
    value, slope = gradient(found, conductivity, seen, where)
    direction = -slope + (slope**2).sum() / before * direction
    values.append(value)
error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
print(f"misfit {values[0]:.2f} -> {values[-1]:.5f}; error {error:.0%}, which was 100 %")
assert error < 0.25
assert values[-1] < 1e-3 * values[0]

# %%

figure, axes = plt.subplot_mosaic("ab;cd", figsize=(10, 7.4), layout="constrained")
pictures = {"a": ("first temperature", truth), "b": ("seen at the dots", seen), "c": ("recovered", found)}
for name, (title, picture) in pictures.items():
    most = seen.max() if name == "b" else truth.max()
    shown = axes[name].imshow(picture, cmap="inferno", vmin=0, vmax=most, origin="lower")
    axes[name].contour(conductivity, levels=[0.1], colors="white", linewidths=0.7, linestyles="--")
    axes[name].set(title=title, xticks=[], yticks=[])
    figure.colorbar(shown, ax=axes[name], shrink=0.85)
axes["b"].plot(x[where > 0], y[where > 0], ".", color="white", markersize=2)
axes["d"].semilogy(values, color="tab:red")
axes["d"].set(title="misfit", xlabel="iteration", box_aspect=0.72)
plt.show()
