"""The objectives of ADBench (Srajer, Kukelova, Fitzgibbon, 2018) as kernels.

Gaussian mixture, bundle adjustment and LSTM; `gmm_reference` and the others are the same in NumPy. Used by
the tests of differentiation and by `benchmarks/autodiff.py`.
"""

from __future__ import annotations

import numpy as np

import pykern as pk

# -- Gaussian mixture: one work-item per data point -------------------------------------------------


@pk.func
def squared_distance(x, n, means, logs, lower, k, d):
    """``|Q_k (x_n - mean_k)|^2``, Q lower triangular with exp(logs) on its diagonal."""
    total, at = 0.0, 0
    for i in range(d):
        q = pk.exp(logs[k, i]) * (x[n, i] - means[k, i])
        for j in range(i):
            q += lower[k, at + j] * (x[n, j] - means[k, j])
        at += i
        total += q * q
    return total


@pk.kernel
def gmm(out, alphas, means, logs, lower, x):
    """``out[n] = log sum_k exp(alpha_k + sum(logs_k) - |Q_k (x_n - mean_k)|^2 / 2)``, found in one pass."""
    n = pk.index()
    d = x.shape[1]
    largest, total = -1e300, 0.0
    for k in range(alphas.shape[0]):
        term = alphas[k] - 0.5 * squared_distance(x, n, means, logs, lower, k, d)
        for i in range(d):
            term += logs[k, i]
        top = max(largest, term)
        total = total * pk.exp(largest - top) + pk.exp(term - top)
        largest = top
    out[n] = largest + pk.log(total)


def gmm_reference(alphas, means, logs, lower, x):
    """The same in NumPy."""
    k, d = means.shape
    rows, columns = np.tril_indices(d, -1)
    q = np.zeros((k, d, d))
    q[:, rows, columns] = lower
    q[:, range(d), range(d)] = np.exp(logs)
    z = np.einsum("kij,nkj->nki", q, x[:, None] - means)
    terms = alphas + logs.sum(1) - 0.5 * (z**2).sum(-1)
    top = terms.max(1)
    return top + np.log(np.exp(terms - top[:, None]).sum(1))


def gmm_data(n: int, d: int, k: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """alphas, means, logs, lower, x."""
    random = np.random.default_rng(seed)
    return (
        random.standard_normal(k),
        random.random((k, d)),
        0.3 * random.standard_normal((k, d)),
        0.3 * random.standard_normal((k, d * (d - 1) // 2)),
        random.standard_normal((n, d)),
    )


# -- bundle adjustment: one work-item per observation ------------------------------------------------


@pk.func
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@pk.func
def rotated(r, x):
    """`x` turned by the angle |r| about r (Rodrigues' formula)."""
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    angle = pk.sqrt(square)
    c, s = pk.cos(angle), pk.sin(angle)
    w = (r[0] / angle, r[1] / angle, r[2] / angle)
    v = cross(w, x)
    along = (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]) * (1.0 - c)
    return (
        x[0] * c + v[0] * s + w[0] * along,
        x[1] * c + v[1] * s + w[1] * along,
        x[2] * c + v[2] * s + w[2] * along,
    )


@pk.kernel
def reprojection(error, cameras, points, weights, features, camera_of, point_of):
    """``error[p]``: weighted distance of a projected point from where it was seen.

    A camera is rotation (3), centre (3), focal length, principal point (2), radial distortion (2).
    """
    p = pk.index()
    c, q = camera_of[p], point_of[p]
    moved = (
        points[q, 0] - cameras[c, 3],
        points[q, 1] - cameras[c, 4],
        points[q, 2] - cameras[c, 5],
    )
    y = rotated((cameras[c, 0], cameras[c, 1], cameras[c, 2]), moved)
    u, v = y[0] / y[2], y[1] / y[2]
    r = u * u + v * v
    bent = 1.0 + cameras[c, 9] * r + cameras[c, 10] * r * r
    error[p, 0] = weights[p] * (u * bent * cameras[c, 6] + cameras[c, 7] - features[p, 0])
    error[p, 1] = weights[p] * (v * bent * cameras[c, 6] + cameras[c, 8] - features[p, 1])


def reprojection_reference(cameras, points, weights, features, camera_of, point_of):
    """The same in NumPy."""
    cam, x = cameras[camera_of], points[point_of] - cameras[camera_of, 3:6]
    angle = np.linalg.norm(cam[:, :3], axis=1, keepdims=True)
    w = cam[:, :3] / angle
    along = (w * x).sum(1, keepdims=True) * (1 - np.cos(angle))
    y = x * np.cos(angle) + np.cross(w, x) * np.sin(angle) + w * along
    u = y[:, :2] / y[:, 2:]
    r = (u**2).sum(1, keepdims=True)
    bent = u * (1 + cam[:, 9:10] * r + cam[:, 10:11] * r**2)
    return weights[:, None] * (bent * cam[:, 6:7] + cam[:, 7:9] - features)


def reprojection_data(cameras: int, points: int, seen: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """cameras, points, weights, features, camera_of, point_of."""
    random = np.random.default_rng(seed)
    each = random.standard_normal((cameras, 11)) * 0.1
    each[:, 5] -= 4.0
    each[:, 6] += 1.0
    return (
        each,
        random.standard_normal((points, 3)),
        random.random(seen),
        random.standard_normal((seen, 2)),
        random.integers(0, cameras, seen),
        random.integers(0, points, seen),
    )


# -- LSTM: one work-item per sequence ------------------------------------------------------------------


@pk.func
def sigmoid(x):
    return 1.0 / (1.0 + pk.exp(-x))


@pk.kernel
def lstm(loss, weights, biases, first, last, sequence):
    """``loss[b]``: minus the mean log-likelihood of the next characters of sequence b.

    Two layers of 14 units, as in ADBench's small case; `first` scales the input, `last` is (scale, bias)
    of the output. Hidden state and cells begin at zero.
    """
    b = pk.index()
    hidden, cells, x = pk.private((2, 14), pk.f64), pk.private((2, 14), pk.f64), pk.private(14, pk.f64)
    for layer in range(2):
        for u in range(14):
            hidden[layer, u] = 0.0
            cells[layer, u] = 0.0
    total = 0.0
    for t in range(sequence.shape[1] - 1):
        for u in range(14):
            x[u] = sequence[b, t, u] * first[u]
        for layer in range(2):
            for u in range(14):
                forget = sigmoid(x[u] * weights[layer, 0, u] + biases[layer, 0, u])
                enter = sigmoid(hidden[layer, u] * weights[layer, 1, u] + biases[layer, 1, u])
                leave = sigmoid(x[u] * weights[layer, 2, u] + biases[layer, 2, u])
                change = pk.tanh(hidden[layer, u] * weights[layer, 3, u] + biases[layer, 3, u])
                cell = cells[layer, u] * forget + enter * change
                cells[layer, u] = cell
                hidden[layer, u] = leave * pk.tanh(cell)
                x[u] = hidden[layer, u]
        norm = 2.0
        for u in range(14):
            norm += pk.exp(x[u] * last[0, u] + last[1, u])
        for u in range(14):
            total += sequence[b, t + 1, u] * (x[u] * last[0, u] + last[1, u] - pk.log(norm))
    loss[b] = -total / ((sequence.shape[1] - 1) * 14)


def lstm_reference(weights, biases, first, last, sequence):
    """The same in NumPy."""

    def gate(v):
        return 1 / (1 + np.exp(-v))

    batch, steps, units = sequence.shape
    hidden, cells = np.zeros((2, batch, units)), np.zeros((2, batch, units))
    total = np.zeros(batch)
    for t in range(steps - 1):
        x = sequence[:, t] * first
        for layer in range(2):
            w, c = weights[layer], biases[layer]
            forget, enter = gate(x * w[0] + c[0]), gate(hidden[layer] * w[1] + c[1])
            leave, change = gate(x * w[2] + c[2]), np.tanh(hidden[layer] * w[3] + c[3])
            cells[layer] = cells[layer] * forget + enter * change
            x = hidden[layer] = leave * np.tanh(cells[layer])
        y = x * last[0] + last[1]
        total += (sequence[:, t + 1] * (y - np.log(2 + np.exp(y).sum(1, keepdims=True)))).sum(1)
    return -total / ((steps - 1) * units)


def lstm_data(batch: int, steps: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """weights, biases, first, last, sequence (one-hot characters)."""
    random = np.random.default_rng(seed)
    one_hot = np.eye(14)[random.integers(0, 14, (batch, steps))]
    return (
        random.standard_normal((2, 4, 14)),
        random.standard_normal((2, 4, 14)),
        random.standard_normal(14),
        random.standard_normal((2, 14)),
        one_hot,
    )
