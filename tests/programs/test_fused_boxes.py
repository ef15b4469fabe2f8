"""Arrays that are put together and read element by element: against the same functions on NumPy's arrays."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def neighbours(x):
    """Periodic neighbours along both axes: nine boxes."""
    rows = np.concatenate((x[1:], x[:1])) - np.concatenate((x[-1:], x[:-1]))
    columns = np.concatenate((x[:, 1:], x[:, :1]), axis=1) - np.concatenate((x[:, -1:], x[:, :-1]), axis=1)
    return rows * rows + columns * columns


def padded(x):
    """Zeros around, twice as wide in front as behind."""
    p = np.pad(x, ((2, 1), (2, 1)))
    return p[1:-2, 2:-1] + p[3:, 2:-1] - 3 * p[2:-1, 1:-2]


def written(x):
    """Slices, rows and columns of a new array are written, some of them twice."""
    o = np.zeros_like(x)
    o[1:] = x[:-1] * 2
    o[:, -2:] = x[:, :2]
    o[0] = x[-1]
    o[:, 0] = x[:, 1]
    return (o - x).T + o.T


def nested(x):
    """What is put together is put together again, and its slices, too."""
    a = np.concatenate((x[:3], -x[3:]))
    b = np.concatenate((a[:, 5:], a[:, :5] * 3), axis=1)
    return np.abs(b[2:]) - x[:-2]


def sums(x):
    """Sums along both axes, over everything, and extremes, of differences."""
    d = np.concatenate((x[:, :1], np.diff(x, axis=1)), axis=1)
    s = np.vstack((x[1:], x[:1])) - x
    return (d * d).sum(axis=1), s.max(axis=0), np.hstack((x[:, 2:], x[:, :2])).min()


def placed(x):
    """An index and the place of an extreme: both count from the beginning of the whole."""
    y = np.concatenate((x[:, 1:], x[:, :1]), axis=1)
    z = np.concatenate((x[2:], x[:2]))
    return y * np.arange(x.shape[1]), np.where(z > 0, np.arange(x.shape[0])[:, None], -1), z.argmax(axis=1)


def several(x):
    """Two readers of one array, and one that is returned itself."""
    a = np.concatenate((x[4:], x[:4]))
    b = np.concatenate((x[:, 4:], x[:, :4]), axis=1)
    return a + 1, a * x, b, b - x


def repeated(x):
    """Edges are repeated, and rows come in at the other end, as look-ups."""
    p, q, r = np.pad(x, 1, "edge"), np.pad(x, ((2, 1), (0, 3)), "wrap"), np.roll(x, 2, axis=0)
    return (
        p[2:, 1:-1] - p[:-2, 2:] + q[1:-2, 3:] * q[2:-1, :-3],
        r[1:] - r[:-1],
        np.pad(x, 2, "reflect")[4:, 3:-1],
    )


PROGRAMS = (neighbours, padded, written, nested, sums, placed, several, repeated)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.sweep("dtype", "shape")
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("shape", [(70, 71), (5, 6)])
def test_boxes_are_those_of_numpy(program, dtype, shape, rng):
    x = (10 * rng.normal(size=shape)).astype(dtype)
    expected, found = program(x.copy()), pk.jit(program)(x)
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (expected, found)), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-4)


def test_infinities_and_nan_stay_where_they_are(rng):
    x = rng.normal(size=(80, 90))
    x[3, 0], x[0, 89], x[79, 7] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(pk.jit(neighbours)(x), neighbours(x), rtol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 2000, 2001])
def test_lengths_of_a_vector(length, rng):
    def ends(x):
        return np.concatenate((x[:1], x[1:] - x[:-1])) * np.concatenate((x[1:], x[:1]))

    x = rng.normal(size=length)
    np.testing.assert_array_equal(pk.jit(ends)(x), ends(x))


def test_a_gradient_goes_through_boxes(rng):
    def energy(x):
        d = np.concatenate((x[1:], x[:1])) - x
        o = np.zeros_like(x)
        o[:, 1:] = x[:, :-1] * x[:, 1:]
        return (np.sin(d) * o).sum()

    x, step = rng.normal(size=(71, 73)), 1e-6
    found = pk.grad(energy)(x)
    for i, j in ((0, 0), (70, 72), (7, 11), (0, 72)):
        moved = [x.copy(), x.copy()]
        moved[0][i, j] += step
        moved[1][i, j] -= step
        assert found[i, j] == pytest.approx((energy(moved[0]) - energy(moved[1])) / (2 * step), abs=1e-6)


def test_nothing_is_put_together():
    """The only array that is made is the result."""
    x = np.ones((64, 80))
    stage = pk.jit(neighbours).lower(x).as_text("kern-fuse-boxes")
    assert stage.count("linalg.generic {") == 9
    x = np.ones((64, 30, 80))
    stage = pk.jit(lambda x: np.concatenate((x[:, :, 3:], x[:, :, :3]), axis=2) - x).lower(x)
    assert stage.as_text("kern-fuse-boxes").count("linalg.generic {") == 2


def test_padded_slices_are_read_where_they_lie():
    def flow(x):
        p = np.pad(x, 1, "wrap")
        return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]

    stage = pk.jit(flow).lower(np.ones((64, 80))).as_text("kern-fuse-boxes")
    assert stage.count("linalg.generic {") == 9
    assert "tensor.extract " not in stage
