# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Derivatives
#
# A cannon in the wind: which direction and speed hit the target? The flight is a time loop in an array program; its
# derivatives drive Newton's method.

# %%
import matplotlib.pyplot as plt
import numpy as np

import pykern as pk

STEPS, DT = 300, 0.01


@pk.jit
def flight(aim, wind):
    """Positions on the way; `aim` is the velocity at the start."""
    path = pk.zeros((STEPS, 2))
    place, velocity = pk.zeros(2), pk.copy(aim)
    for n in pk.range(STEPS):
        speed = pk.sqrt((velocity**2).sum())
        drag = 0.05 * speed * (velocity - wind)
        velocity = velocity - DT * drag - DT * pk.concatenate([pk.zeros(1), pk.full(1, 9.81)])
        place = place + DT * velocity
        path[n] = place
    return path


@pk.jit
def miss(aim, wind, target):
    return ((flight(aim, wind)[STEPS - 1] - target) ** 2).sum()


# %% [markdown]
# The gradient, beside a finite difference.

# %%
wind, target = np.array([-3.0, 0.0]), np.array([18.0, 1.0])
aim = np.array([8.0, 14.0])
value, slope = pk.value_and_grad(miss)(aim, wind, target)
step = 1e-6
for k in range(2):
    ahead, behind = aim.copy(), aim.copy()
    ahead[k] += step
    behind[k] -= step
    difference = (miss(ahead, wind, target) - miss(behind, wind, target)) / (2 * step)
    print(f"{slope[k]:.6f}  {difference:.6f}")
    np.testing.assert_allclose(slope[k], difference, rtol=1e-6)

# %% [markdown]
# Newton's method wants second derivatives: `pk.hvp` gives the Hessian times a vector.

# %%
paths = [flight(aim, wind)]
for _ in range(12):
    value, slope = pk.value_and_grad(miss)(aim, wind, target)
    hessian = np.stack([pk.hvp(miss, (aim, wind, target), (unit, None, None))[0] for unit in np.eye(2)])
    hessian += max(0.0, 0.1 - np.linalg.eigvalsh(hessian).min()) * np.eye(2)
    aim = aim - np.linalg.solve(hessian, slope)
    paths.append(flight(aim, wind))
print(f"aim {aim}, misses by {np.sqrt(miss(aim, wind, target)):.1e}")
assert miss(aim, wind, target) < 1e-8

# %%
for n, path in enumerate(paths):
    plt.plot(*path.T, color=plt.get_cmap("viridis")(n / len(paths)), linewidth=1)
plt.plot(*target, "r*", markersize=12)
plt.xlabel("distance")
plt.ylabel("height")
plt.ylim(bottom=-2)
plt.show()
