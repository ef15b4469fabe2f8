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
# # A first kernel
#
# A function that runs once for each index. It is compiled when it is called.

# %%
import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.kernel
def julia(steps, c_real, c_imaginary):
    i, j = pk.index()
    rows, columns = steps.shape
    x, y = 3.2 * j / columns - 1.6, 2.4 * i / rows - 1.2
    n = 0
    while x * x + y * y < 4.0 and n < 255:
        x, y = x * x - y * y + c_real, 2.0 * x * y + c_imaginary
        n += 1
    steps[i, j] = n


# %%
steps = np.zeros((360, 480), np.int32)
julia(steps, -0.79, 0.15, ndrange=steps.shape)
plt.imshow(np.sqrt(steps), cmap="twilight_shifted")
plt.axis("off")
plt.show()

# %% [markdown]
# The same function as plain Python, for a part of the picture: `device="python"` runs it work-item by work-item.

# %%
part = np.zeros((18, 24), np.int32)
again = np.zeros_like(part)
julia(part, -0.79, 0.15, ndrange=part.shape)
julia(again, -0.79, 0.15, ndrange=part.shape, device="python")
assert (part == again).all()

# %% [markdown]
# ## Look inside
#
# Every stage, with the time it took and how long its text is.

# %%
julia.lower(steps, pk.f64, pk.f64, ndrange=("n", "m"))

# %%
print(julia.lower(steps, pk.f64, pk.f64, ndrange=("n", "m")).as_text("kern"))

# %% [markdown]
# The explorer, in a frame. Click a line of Python to see what it became.

# %%
pk.explore(julia, steps, pk.f64, pk.f64, ndrange=("n", "m"), to="julia.html")

# %% [markdown]
# ## A mistake
#
# Errors stand at the line of the kernel, in notebooks too.


# %% tags=["raises-exception"]
@pk.kernel
def wrong(x):
    i = pk.index()
    x[i] = sorted(x)[0]


wrong(np.ones(4), ndrange=4)
