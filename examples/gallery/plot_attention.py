"""
Attention
=========

Softmax of scores times values, in one pass over the keys: the running maximum rescales what was summed so
far, so that no matrix of scores is ever stored [Milakov and Gimelshein 2018].
"""

# %%
# A work-item a query. `pk.private` memory holds the sum while keys go by; the width is `pk.static`, so that
# its loops have known lengths. `examples/attention.py` has heads that share keys, and the textbook's formula as an
# array program, which the compiler turns into this by itself.

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.kernel(fastmath=True)
def attention(out, q, k, v, scale, width: pk.static):
    row = pk.index()
    total = pk.private(width, pk.f32)
    for d in range(width):
        total[d] = 0.0
    most, weights = pk.f32(-1e30), pk.f32(0)
    for key in range(min(row + 1, k.shape[0])):  # causal: a query sees the keys before it
        score = pk.f32(0)
        for d in range(width):
            score += q[row, d] * k[key, d]
        score *= scale
        larger = max(most, score)
        shrink, weight = pk.exp(most - larger), pk.exp(score - larger)
        weights = weights * shrink + weight
        for d in range(width):
            total[d] = total[d] * shrink + weight * v[key, d]
        most = larger
    for d in range(width):
        out[row, d] = total[d] / weights


# %%
# Keys that turn with their place, a period of 48 long: each query finds the places of its own phase. The
# values are a signal of that period under noise, so attention takes the mean over the periods before.

length, width = 288, 32
rng = np.random.default_rng(0)
place = np.arange(length)[:, None]
turns = 2 * np.pi / 48 * place * np.arange(1, 4)
k = np.concatenate([np.cos(turns), np.sin(turns), 0.02 * rng.standard_normal((length, width - 6))], axis=1)
q, k = 4 * k.astype(np.float32), k.astype(np.float32)
phases = 2 * np.pi * rng.random(width)
signal = np.sin(2 * np.pi * place / 48 + phases) + 0.7 * np.sign(np.sin(4 * np.pi * place / 48 + phases))
v = (signal + 0.5 * rng.standard_normal(signal.shape)).astype(np.float32)
out = np.empty_like(v)
attention(out, q, k, v, np.float32(1), width, ndrange=length)

# %%
# With the whole matrix of scores, in NumPy and f64.

scores = q.astype(float) @ k.T.astype(float)
scores[np.triu_indices(length, 1)] = -np.inf
probability = np.exp(scores - scores.max(axis=1, keepdims=True))
probability /= probability.sum(axis=1, keepdims=True)
np.testing.assert_allclose(out, probability @ v, rtol=1e-4, atol=1e-5)

# %%

figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), width_ratios=(1, 1.3), layout="constrained")
shown = axes[0].imshow(probability**0.5, cmap="magma", vmax=0.5, interpolation="nearest")
axes[0].set(title="where queries look (square root)", xlabel="key", ylabel="query")
figure.colorbar(shown, ax=axes[0], shrink=0.8)
axes[1].plot(v[:, 0], ".", color="0.6", markersize=4, label="values")
axes[1].plot(signal[:, 0], color="tab:blue", linewidth=1, label="signal under them")
axes[1].plot(out[:, 0], color="tab:red", linewidth=1.6, label="attention")
axes[1].set(title="what they get: one of 32 features", xlabel="query", xlim=(0, length - 1))
axes[1].legend(loc="upper left", ncols=3, fontsize="small")
axes[1].margins(y=0.15)
plt.show()
