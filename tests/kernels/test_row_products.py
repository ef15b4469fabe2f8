"""Products of rows and small matrices in kernels, and what is written with f-strings."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern import errors
from tests.cases.row_kernels import check, of_lines

DEVICES = ["cpu", "python", "opencl", "vulkan", "cuda:emulated"]

PRODUCTS = [
    "o[i] = A[i] @ v[i]",
    "o[i] = v[i] @ A[i] + A[i].T @ v[i]",
    "m[i] = A[i] @ A[0]",
    "m[i] = A[i].T @ A[i] - np.outer(v[i], v[0])",
    "m[i] = A[i] @ A[0].T @ A[i]\no[i] = np.trace(A[i]) + v[i] @ A[0] @ v[i]",
    "m[i] = np.transpose(A[i]) * 2\nm[i] += np.matmul(A[i], A[0])",
    "R = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, v[i, 0]]])\no[i] = R @ v[i]\nm[i] = R @ A[i] @ R.T",
    "M = np.zeros((3, 3))\nM[0, 0] = 2\nM[1:, 1:] = A[i, :2, :2]\n"
    "m[i] = np.linalg.inv(M + 4 * np.eye(3))\no[i] = np.linalg.det(M)",
    "B = A[i, :2, 1:] + 0.5\nm[i, :2, :2] = np.linalg.inv(B)\no[i] = np.linalg.det(B) + B.sum()",
    "M = np.eye(3)\nfor k in range(3):\n    M = M @ A[k] * 0.5\nm[i] = M",
    "v[i] = A[i] @ v[i]\nv[i] -= 0.5 * (v[i] @ A[i]) / np.linalg.norm(v[i])\nm[i] = A[i]\nm[i] = m[i] @ m[i]",
    "m[i] = A[i]\nw = m[i, 0]\nw[:] = m[i] @ w\nm[i] -= m[i].mean(axis=0)\nm[i, :, 1] = m[i] @ m[i, :, 1]",
    "F = np.eye(3) + 0.1 * A[i]\nJ = np.linalg.det(F)\nm[i] = np.linalg.inv(F).T * J + F\no[i] = F[1] + F[:, 2]",
]


@pytest.mark.parametrize("text", PRODUCTS)
def test_as_numpy_does(rng, text, tmp_path):
    a, v = rng.standard_normal((4, 3, 3)), rng.standard_normal((4, 3))
    check(
        text,
        4,
        tmp_path,
        ("cpu", "python"),
        None,
        1e-9,
        1e-9,
        o=np.zeros((4, 3)),
        m=np.zeros((4, 3, 3)),
        A=a,
        v=v,
    )


@pytest.mark.parametrize("text", PRODUCTS[:4])
def test_other_sizes_and_types(rng, text, tmp_path):
    a, v = rng.integers(-3, 4, (3, 11, 11)).astype("f4"), rng.integers(-3, 4, (3, 11)).astype("f4")
    check(
        text,
        3,
        tmp_path,
        ("cpu",),
        None,
        1e-5,
        1e-5,
        o=np.zeros((3, 11), "f4"),
        m=np.zeros((3, 11, 11), "f4"),
        A=a,
        v=v,
    )


@pk.kernel
def strain(o, x, v):
    i = pk.index()
    f = x[i, :3, :3]
    e = 0.5 * (f.T @ f - np.eye(3, dtype=np.float32))
    o[i] = np.linalg.inv(f + np.float32(4) * np.eye(3, dtype=np.float32)) @ (e @ v[i]) * np.linalg.det(f)


@pytest.mark.parametrize("device", DEVICES, indirect=True)
def test_on_devices(rng, device):
    x, v = rng.standard_normal((5, 3, 3)).astype("f4"), rng.standard_normal((5, 3)).astype("f4")
    given = [pk.array(a, device=device) for a in (np.zeros((5, 3), "f4"), x, v)]
    strain(*given, ndrange=5)
    e = 0.5 * (x.transpose(0, 2, 1) @ x - np.eye(3))
    u = np.linalg.solve(x + 4 * np.eye(3), (e @ v[..., None])) * np.linalg.det(x)[:, None, None]
    np.testing.assert_allclose(given[0].numpy(), u[..., 0], rtol=2e-3, atol=2e-3)


def test_long_products_in_place_are_refused(tmp_path):
    k = of_lines("v[i] = A[i] @ v[i]", tmp_path, "A, v")
    with pytest.raises(errors.KernelTypeError, match=r"`v\[i\]` is read at other places than it is written"):
        k(np.ones((2, 300, 300)), np.ones((2, 300)), ndrange=2)


def test_gradients_of_products(rng):
    @pk.kernel
    def energy(e, x, v):
        i = pk.index()
        f = x[i] + 3 * np.eye(3)
        e[i] = (np.linalg.inv(f) @ v[i]) @ v[i] + np.linalg.det(f)

    def value(x):
        f = x + 3 * np.eye(3)
        return np.einsum("nij,nj,ni->n", np.linalg.inv(f), v, v) + np.linalg.det(f)

    x, v, weights = rng.standard_normal((3, 3, 3)), rng.standard_normal((3, 3)), rng.random(3)
    dx = np.zeros_like(x)
    pk.autodiff(energy)(pk.Dup(np.zeros(3), weights.copy()), pk.Dup(x, dx), v, ndrange=3)
    for place in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        slope = ((value(moved[0]) - value(moved[1])) * weights).sum() / 2e-6
        np.testing.assert_allclose(dx[place], slope, rtol=1e-5, atol=1e-6)


REFUSED = {
    "m[i] = np.linalg.inv(np.eye(5) + A[i, 0, 0])[:3, :3]": "takes matrices up to 4 x 4",
    "o[i] = A @ v[i]": "one or two dimensions",
    "M = np.zeros((3, 2))\no[i] = M @ v[i, :3]": "do not go together",
    "o[i] = np.outer(A[i], v[i])[0]": "takes two rows of one dimension",
}


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text, device, tmp_path):
    with pytest.raises(errors.KernelTypeError, match=REFUSED[text]):
        of_lines(text, tmp_path, "o, m, A, v")(
            np.zeros((2, 3)),
            np.zeros((2, 3, 3)),
            np.ones((2, 3, 3)),
            np.ones((2, 3)),
            ndrange=2,
            device=device,
        )


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_f_strings_are_printed(device, tmp_path, capsys):
    text = (
        "print(f'{i}: {x[i]:.3f} {{}} {n:>4d}|', x[i], sep='; ')\n"
        "print(f'{x[i] > 1} {y[i]} {x[i]}', f'{y[i]:8.2e}')"
    )
    x, y = np.array([1.5, 0.1, 1 / 3], np.float32), np.array([1 / 3, 2.0, -0.0])
    of_lines(text, tmp_path, "x, y, n")(x, y, 12, ndrange=3, device=device)
    expected = []
    for i in range(3):
        expected.append(f"{i}: {x[i]:.3f} {{}} {12:>4d}|; {x[i]!s}\n{x[i] > 1} {y[i]} {x[i]} {y[i]:8.2e}\n")
    assert capsys.readouterr().out == "".join(expected)


FORMATS = {"{x[i]!r}": "!r", "{x[i]:{i}}": "constant", "{x[i]:d}": "cannot be shown"}


@pytest.mark.parametrize("text", FORMATS)
def test_formats_that_are_refused(text, tmp_path):
    with pytest.raises(pk.KernelError, match=FORMATS[text]):
        of_lines(f"print(f'{text}')", tmp_path, "x")(np.ones(3), ndrange=3)
