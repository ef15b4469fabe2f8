"""``x[mask]`` in array programs: reduced, computed with, written back, as NumPy does it."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def set_number(x, y, m):
    x[x < 0] = 0
    return x


def taken_from_another(x, y, m):
    inside = (x > -0.5) & (y < 0.5)
    x[inside] = y[inside] * 2 - x[inside]
    return x


def in_place(x, y, m):
    x[x > 0] *= 3
    x[m] -= y[0]
    x[~m] **= 2
    return x


def written_twice(x, y, m):
    x[x > 0] = np.sqrt(x[x > 0]) + 1
    return x


def reduced(x, y, m):
    chosen = x[x > 0]
    return (
        chosen.sum(), chosen.mean(), np.max(x[x < 0]), chosen.std(), chosen.var(), np.sum(chosen**2), len(chosen),
        chosen.size, chosen.min(), np.prod(chosen), np.any(chosen > 1), (chosen > 0).all(),
        np.count_nonzero(chosen > 1), np.where(chosen > 1, 1.0, chosen).sum(), chosen.astype(np.float32).sum(),
        (-chosen).sum(),
    )  # fmt: skip


def rows(x, y, m):
    return x[m].sum(axis=0), x[m].mean(), x[m].max(axis=0), (x[m] * y[0]).sum()


def kept_before_a_write(x, y, m):
    chosen = x[m]
    m[0] = ~m[0]
    x[1] = 5
    return chosen.sum()


def of_integers(x, y, m):
    k = (10 * x).astype(int)
    k[k % 2 == 0] //= 2
    return k, k[k > 3].mean(), k[k > 100].sum()


@pytest.mark.parametrize(
    "function",
    [
        set_number,
        taken_from_another,
        in_place,
        written_twice,
        reduced,
        rows,
        kept_before_a_write,
        of_integers,
    ],
)
@pytest.mark.parametrize("shape", [(6, 7), (33, 5)])
def test_as_numpy(rng, function, shape):
    x, y, m = rng.standard_normal(shape), rng.standard_normal(shape), rng.random(shape[0]) > 0.4
    theirs = [x.copy(), y.copy(), m.copy()]
    expected, found = function(*theirs), pk.jit(function)(x, y, m)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for have, want in pairs:
        assert np.asarray(have).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(have, want, rtol=1e-6 if np.asarray(want).dtype == np.float32 else 1e-12)
    for have, want in zip((x, y, m), theirs, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-12)


def test_nothing_selected(rng):
    @pk.jit
    def program(x):
        return x[x > 5].sum(), x[x > 5].mean(), (x[x > 5] > 0).any(), x[x > 5].max()

    total, mean, found, largest = program(rng.random(9))
    assert total == 0 and np.isnan(mean) and not found and largest == -np.inf


def test_derivative(rng):
    @pk.jit
    def loss(x):
        return (x[x > 0] ** 2).sum() + x[x < 0].mean()

    x = rng.standard_normal((5, 4))
    expected = np.where(x > 0, 2 * x, 1 / (x < 0).sum())
    np.testing.assert_allclose(pk.grad(loss)(x), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("return np.concatenate((x[x > 0], x[0]))", "that a mask selects"), ("return x[x > 0]", "does not return"),
        ("x[x > 0] = x[x < 0]", "where another one is true"), ("return x[x > 0] + x", "select of both"),
        ("return x[x > 0][0]", "no places of their own"), ("return x[x > 0].reshape(-1)", "reshape"),
        ("x[x > 0] = x[0]", "only the run knows how many"), ("return x[x[0] > 0]", "does not fit"),
        ("return x[x > 0].sum(axis=1)", "along axis 0"), ("return x[x > 0] + x[x < 0]", "two masks"),
    ],
)  # fmt: skip
def test_refused(rng, statement, said, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(f"import numpy as np\n\n\ndef program(x):\n    {statement}\n")
    scope: dict = {}
    exec(compile(file.read_text(), file, "exec"), scope)
    with pytest.raises(pk.errors.KernelTypeError) as caught:
        pk.jit(scope["program"])(rng.random((5, 7)))
    assert said in str(caught.value) and f'"{file}", line 5' in str(caught.value)
