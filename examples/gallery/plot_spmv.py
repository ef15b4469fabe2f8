"""
Sparse matrix times vector
==========================

Conjugate gradients on a graph. The matrix is in CSR form; a work-item a row.
"""

# %%
# Rows have different lengths, so the loop of each work-item has its own bounds.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.tri import Triangulation

import pykern as pk


@pk.kernel
def spmv(y, starts, columns, values, x):
    row = pk.index()
    total = 0.0
    for k in range(starts[row], starts[row + 1]):
        total += values[k] * x[columns[k]]
    y[row] = total


# %%
# The graph: random points, joined by a triangulation. The matrix is its Laplacian, with weights that are
# large for short edges, plus a little of the identity.

rng = np.random.default_rng(3)
points = rng.random((6000, 2))
points = points[np.hypot(*(points - 0.5).T) < 0.5]
points = points[np.hypot(*(points - (0.36, 0.6)).T) > 0.12]
mesh = Triangulation(*points.T)
inside = np.hypot(*(points[mesh.triangles].mean(axis=1) - (0.36, 0.6)).T) > 0.115
mesh.set_mask(~inside)
a, b = mesh.edges.T
weight = 0.02 / np.hypot(*(points[a] - points[b]).T)
n = len(points)
degree = np.bincount(a, weight, n) + np.bincount(b, weight, n)
rows = np.concatenate([a, b, np.arange(n)])
columns = np.concatenate([b, a, np.arange(n)])
values = np.concatenate([-weight, -weight, degree + 2e-4])
order = np.lexsort((columns, rows))
rows, columns, values = rows[order], columns[order], values[order]
starts = np.searchsorted(rows, np.arange(n + 1))

heat = np.zeros(n)
hot, cold = np.argmin(np.hypot(*(points - (0.75, 0.35)).T)), np.argmin(np.hypot(*(points - (0.15, 0.62)).T))
heat[hot], heat[cold] = 1, -1


def multiply(x):
    y = np.empty_like(x)
    spmv(y, starts, columns, values, x, ndrange=n)
    return y


x = rng.standard_normal(n)
np.testing.assert_allclose(multiply(x), np.bincount(rows, values * x[columns], n), atol=1e-10)


# %%
# Conjugate gradients [Hestenes and Stiefel 1952].


def conjugate_gradients(right, tolerance=1e-10):
    x, residual = np.zeros_like(right), right.copy()
    direction, square = residual.copy(), residual @ residual
    sizes = []
    while square > tolerance**2:
        image = multiply(direction)
        step = square / (direction @ image)
        x += step * direction
        residual -= step * image
        before, square = square, residual @ residual
        direction = residual + square / before * direction
        sizes.append(np.sqrt(square))
    return x, sizes


temperature, sizes = conjugate_gradients(heat)
assert np.abs(multiply(temperature) - heat).max() < 1e-8
print(f"{n} rows, {len(values)} entries, {len(sizes)} iterations")

# %%

figure, axes = plt.subplot_mosaic(
    [["field", "pattern"], ["field", "sizes"]], figsize=(11, 6), width_ratios=(1.6, 1), layout="constrained"
)
most = np.abs(temperature).max() * 0.55
shown = axes["field"].tripcolor(mesh, temperature, cmap="RdBu_r", vmin=-most, vmax=most, shading="gouraud")
axes["field"].tricontour(mesh, temperature, levels=np.linspace(-most, most, 21), colors="k", linewidths=0.4)
axes["field"].plot(*points[[hot, cold]].T, "k.")
axes["field"].set(title="temperature: a source and a sink", aspect="equal", xticks=[], yticks=[])
figure.colorbar(shown, ax=axes["field"], shrink=0.8)
axes["pattern"].plot(columns[rows < 400], rows[rows < 400], ",", color="tab:blue")
axes["pattern"].set(title="the first 400 rows", xlabel="column", ylabel="row", ylim=(400, 0), xlim=(0, n))
axes["sizes"].semilogy(sizes, color="tab:red")
axes["sizes"].set(title="residual", xlabel="iteration")
plt.show()
