"""Networks of NPBench, with channels last: each in the forms that people write."""

from __future__ import annotations

import numpy as np
from npbench_setting import form

import pykern as pk

# -- softmax along the last of four dimensions ---------------------------------------------------


@pk.jit
def _softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@pk.jit
def _softmax_rows(x):
    rows = np.reshape(x, (-1, x.shape[-1]))
    e = np.exp(rows - rows.max(axis=1)[:, None])
    return np.reshape(e / e.sum(axis=1)[:, None], x.shape)


@pk.kernel
def _softmax_kernel(out, x):
    b, h, i = pk.index()
    most = x[b, h, i, 0]
    for j in range(1, x.shape[3]):
        most = max(most, x[b, h, i, j])
    total = pk.f32(0)
    for j in range(x.shape[3]):
        e = pk.exp(x[b, h, i, j] - most)
        out[b, h, i, j] = e
        total += e
    for j in range(x.shape[3]):
        out[b, h, i, j] /= total


form("softmax", "program")(_softmax)
form("softmax", "program, rows of a matrix")(_softmax_rows)


@form("softmax", "kernel")
def _(x):
    out = np.empty_like(x)
    _softmax_kernel(out, x, ndrange=x.shape[:3])
    return out


# -- mlp: three layers and a softmax -------------------------------------------------------------


@pk.jit
def _mlp(x, w1, b1, w2, b2, w3, b3):
    x = np.maximum(x @ w1 + b1, 0)
    x = np.maximum(x @ w2 + b2, 0)
    x = x @ w3 + b3
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@pk.jit
def _mlp_layers(x, weights, biases):
    for w, b in zip(weights[:-1], biases[:-1]):  # noqa: B905 (programs know no `strict`)
        x = pk.where(np.dot(x, w) + b > 0, np.dot(x, w) + b, 0.0)
    x = np.dot(x, weights[-1]) + biases[-1]
    e = np.exp(x - x.max(axis=1)[:, None])
    return e / e.sum(axis=1)[:, None]


@pk.kernel(fastmath=True)
def _layer(y, x, w, b, relu):
    i, j = pk.index()
    total = b[j]
    for k in range(x.shape[1]):
        total += x[i, k] * w[k, j]
    y[i, j] = max(total, 0) if relu else total


@pk.kernel(fastmath=True)
def _softmax_of_rows(out, x):
    i = pk.index()
    most = x[i, 0]
    for j in range(x.shape[1]):
        most = max(most, x[i, j])
    total = pk.f32(0)
    for j in range(x.shape[1]):
        total += pk.exp(x[i, j] - most)
    for j in range(x.shape[1]):
        out[i, j] = pk.exp(x[i, j] - most) / total


form("mlp", "program")(_mlp)


@form("mlp", "program, a loop over layers")
def _(x, *layers):
    return _mlp_layers(x, layers[::2], layers[1::2])


@form("mlp", "kernels")
def _(x, *layers):
    for at in range(0, len(layers), 2):
        w, b = layers[at : at + 2]
        y = np.empty((len(x), w.shape[1]), np.float32)
        _layer(y, x, w, b, at < len(layers) - 2, ndrange=y.shape)
        x = y
    out = np.empty_like(x)
    _softmax_of_rows(out, x, ndrange=len(x))
    return out


# -- conv2d: a square filter without rims --------------------------------------------------------


@pk.kernel
def _filtered(y, x, w):
    """A work-item an output."""
    n, i, j, o = pk.index()
    total = pk.f32(0)
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            for c in range(w.shape[2]):
                total += x[n, i + a, j + b, c] * w[a, b, c, o]
    y[n, i, j, o] = total


@pk.kernel
def _filtered_pixels(y, x, w):
    """A work-item all channels of a pixel."""
    n, i, j = pk.index()
    for o in range(w.shape[3]):
        y[n, i, j, o] = 0
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            for c in range(w.shape[2]):
                for o in range(w.shape[3]):
                    y[n, i, j, o] += x[n, i + a, j + b, c] * w[a, b, c, o]


@pk.func
def _correlate(x, w):
    """A product for each tap."""
    h, v = x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1
    y = pk.zeros((x.shape[0], h, v, w.shape[3]), pk.f32)
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            y += x[:, a : a + h, b : b + v, :] @ w[a, b]
    return y


def _outputs(x, w, dtype=np.float32):
    return np.empty((len(x), x.shape[1] - len(w) + 1, x.shape[2] - len(w) + 1, w.shape[3]), dtype)


@pk.jit
def _conv_taps(x, w, bias):
    return _correlate(x, w) + bias


@pk.jit
def _conv_launch(x, w, bias):
    y = pk.empty(
        (x.shape[0], x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1, w.shape[3]),
        pk.f32,
    )
    _filtered(y, x, w, ndrange=y.shape)
    return y + bias


form("conv2d_bias", "program, products of taps")(_conv_taps)
form("conv2d_bias", "program of a kernel")(_conv_launch)


@form("conv2d_bias", "kernel, outputs")
def _(x, w, bias):
    y = _outputs(x, w)
    _filtered(y, x, w, ndrange=y.shape)
    return y + bias


@form("conv2d_bias", "kernel, pixels")
def _(x, w, bias):
    y = _outputs(x, w)
    _filtered_pixels(y, x, w, ndrange=y.shape[:3])
    return y + bias


# -- lenet: two filters with pooling, three layers -----------------------------------------------


@pk.func
def _halved(x):
    """The largest of each two by two; a last odd row or column is left out."""
    h, v = x.shape[1] // 2 * 2, x.shape[2] // 2 * 2
    upper = np.maximum(x[:, 0:h:2, 0:v:2], x[:, 0:h:2, 1:v:2])
    return np.maximum(upper, np.maximum(x[:, 1:h:2, 0:v:2], x[:, 1:h:2, 1:v:2]))


@pk.func
def _halved_by_axes(x):
    n, h, v, c = x.shape
    x = x[:, : h // 2 * 2, : v // 2 * 2]
    return np.max(np.reshape(x, (n, h // 2, 2, v // 2, 2, c)), axis=(2, 4))


@pk.jit
def _lenet(x, k1, c1, k2, c2, w1, b1, w2, b2, w3, b3):
    x = _halved(np.maximum(_correlate(x, k1) + c1, 0))
    x = _halved(np.maximum(_correlate(x, k2) + c2, 0))
    x = np.reshape(x, (x.shape[0], -1))
    x = np.maximum(x @ w1 + b1, 0)
    x = np.maximum(x @ w2 + b2, 0)
    return x @ w3 + b3


@pk.jit
def _lenet_launches(x, k1, c1, k2, c2, w1, b1, w2, b2, w3, b3):
    for k, c in ((k1, c1), (k2, c2)):
        n, h, v, _ = x.shape
        y = pk.empty((n, h - k.shape[0] + 1, v - k.shape[1] + 1, k.shape[3]), pk.f32)
        _filtered(y, x, k, ndrange=y.shape)
        x = _halved_by_axes(np.maximum(y + c, 0))
    x = np.reshape(x, (x.shape[0], -1))
    for w, b in ((w1, b1), (w2, b2)):
        x = np.maximum(x @ w + b, 0)
    return x @ w3 + b3


@pk.kernel
def _pool_relu(out, x, bias):
    n, i, j, c = pk.index()
    most = x[n, 2 * i, 2 * j, c]
    for a in range(2):
        for b in range(2):
            most = max(most, x[n, 2 * i + a, 2 * j + b, c])
    out[n, i, j, c] = max(most + bias[c], 0)


@form("lenet", "program, products of taps")
def _(*given):
    return _lenet(*given[:11])


@form("lenet", "program of kernels")
def _(*given):
    return _lenet_launches(*given[:11])


@form("lenet", "kernels")
def _(x, k1, c1, k2, c2, w1, b1, w2, b2, w3, b3, n, width):
    for k, c in ((k1, c1), (k2, c2)):
        y = _outputs(x, k)
        _filtered(y, x, k, ndrange=y.shape)
        x = np.empty((len(y), y.shape[1] // 2, y.shape[2] // 2, y.shape[3]), np.float32)
        _pool_relu(x, y, c, ndrange=x.shape)
    x = x.reshape(n, width)
    for w, b, relu in ((w1, b1, True), (w2, b2, True), (w3, b3, False)):
        y = np.empty((n, w.shape[1]), np.float32)
        _layer(y, x, w, b, relu, ndrange=y.shape)
        x = y
    return x


# -- resnet: a block of three filters, each scaled by what the batch has -------------------------


@pk.func
def _scaled(x, eps=1e-5):
    return (x - np.mean(x, axis=0, keepdims=True)) / np.sqrt(np.std(x, axis=0, keepdims=True) + eps)


@pk.func
def _framed(x):
    """In f64, between zeros."""
    frame = pk.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, x.shape[3]), pk.f64)
    frame[:, 1:-1, 1:-1, :] = x
    return frame


@pk.jit
def _block(x, k1, k2, k3):
    y = np.maximum(_scaled(_framed(_correlate(x, k1))), 0)
    y = np.maximum(_scaled(_correlate(pk.cast(y, pk.f32), k2)), 0)
    y = _scaled(_correlate(y, k3))
    return np.maximum(y + x, 0)


@pk.jit
def _block_launches(x, k1, k2, k3):
    n, h, v, _ = x.shape
    narrow = k1.shape[3]
    first, second = pk.empty((n, h, v, narrow), pk.f32), pk.empty((n, h, v, narrow), pk.f32)
    third = pk.empty_like(x)
    _filtered(first, x, k1, ndrange=first.shape)
    y = pk.cast(
        np.maximum(_scaled(np.pad(pk.cast(first, pk.f64), ((0, 0), (1, 1), (1, 1), (0, 0)))), 0), pk.f32
    )
    _filtered(second, y, k2, ndrange=second.shape)
    _filtered(third, np.maximum(_scaled(second), 0), k3, ndrange=third.shape)
    return np.maximum(_scaled(third) + x, 0)


@pk.kernel
def _scale(out, x, floor):
    """Over the batch; `floor` are the smallest numbers."""
    i, j, c = pk.index()
    n = x.shape[0]
    mean = pk.f64(0)
    for b in range(n):
        mean += x[b, i, j, c]
    mean /= n
    spread = pk.f64(0)
    for b in range(n):
        spread += (x[b, i, j, c] - mean) ** 2
    by = pk.sqrt(pk.sqrt(spread / n) + 1e-5)
    for b in range(n):
        out[b, i, j, c] = max((x[b, i, j, c] - mean) / by, floor)


@pk.kernel
def _add_relu(out, x):
    n, i, j, c = pk.index()
    out[n, i, j, c] = max(out[n, i, j, c] + x[n, i, j, c], 0)


form("resnet", "program, products of taps")(_block)
form("resnet", "program of kernels")(_block_launches)


@form("resnet", "kernels")
def _(x, k1, k2, k3):
    n, h, v, _ = x.shape
    frame = np.zeros((n, h + 2, v + 2, k1.shape[3]), np.float32)
    y, z = np.empty((n, h, v, k1.shape[3]), np.float32), np.empty_like(x)
    _filtered(y, x, k1, ndrange=y.shape)
    frame[:, 1:-1, 1:-1] = y
    _scale(frame, frame, 0.0, ndrange=frame.shape[1:])
    _filtered(y, frame, k2, ndrange=y.shape)
    _scale(y, y, 0.0, ndrange=y.shape[1:])
    _filtered(z, y, k3, ndrange=z.shape)
    _scale(z, z, -np.inf, ndrange=z.shape[1:])
    _add_relu(z, x, ndrange=z.shape)
    return z
