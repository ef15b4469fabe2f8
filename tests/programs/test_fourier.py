"""`numpy.fft` in array programs: against NumPy, of lengths with small and large factors, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def close(found, expected, rtol=1e-12):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    scale = np.abs(expected).max(initial=1e-300)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=rtol)


def forms(z, x):
    return (
        np.fft.fft(z), np.fft.ifft(z, norm="ortho"), np.fft.fft(x, axis=0), np.fft.rfft(x), np.fft.rfft(x, 9),
        np.fft.rfft(x, axis=0, norm="forward"), np.fft.irfft(z), np.fft.irfft(z, 7), np.fft.fft(z, 14),
    )  # fmt: skip


@pytest.mark.slow
def test_forms(rng):
    z = rng.standard_normal((3, 12)) + 1j * rng.standard_normal((3, 12))
    x = rng.standard_normal((4, 10))
    for found, expected in zip(pk.jit(forms)(z, x), forms(z, x), strict=True):
        close(found, expected)


def several_axes(z, x):
    return (
        np.fft.fft2(z), np.fft.ifftn(z), np.fft.rfft2(x), np.fft.irfft2(z, s=(3, 8)), np.fft.fftn(x, axes=(0,)),
        np.fft.fftshift(x), np.fft.ifftshift(x, axes=1), np.fft.fftfreq(9, 0.5) + x[0, 0], np.fft.rfftfreq(8) + x[0, 0],
    )  # fmt: skip


@pytest.mark.slow
def test_several_axes(rng):
    z = rng.standard_normal((3, 5)) + 1j * rng.standard_normal((3, 5))
    x = rng.standard_normal((3, 5))
    for found, expected in zip(pk.jit(several_axes)(z, x), several_axes(z, x), strict=True):
        close(found, expected)


@pytest.mark.parametrize(
    "n", [1, 60, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 8, 17, 143, 194, 256, 1000, 4096))]
)
def test_lengths(rng, n):
    """60 has the radices 4, 3 and 5, 17 and 194 have prime factors that go by a chirp, 4096 computes its roots."""
    z = rng.standard_normal((2, n)) + 1j * rng.standard_normal((2, n))
    close(pk.jit(lambda z: np.fft.fft(z))(z), np.fft.fft(z))


@pytest.mark.slow
def test_small_floats(rng):
    z = (rng.standard_normal((2, 12)) + 1j * rng.standard_normal((2, 12))).astype(np.complex64)
    close(pk.jit(lambda z: np.fft.fft(z))(z), np.fft.fft(z), 1e-6)


@pytest.mark.slow
def test_not_a_number_stays_in_its_row(rng):
    z = rng.standard_normal((2, 8)) + 1j * rng.standard_normal((2, 8))
    z[0, 3] = np.nan
    found = pk.jit(lambda z: np.fft.fft(z))(z)
    assert np.isnan(found[0]).all()
    close(found[1], np.fft.fft(z[1]))


def filtered(x, w):
    spectrum = np.fft.rfft(x) * w
    return (np.fft.irfft(spectrum, x.shape[-1]) ** 3).sum() + np.abs(np.fft.fft(x * x)[..., 1] ** 2).sum()


def test_gradient(rng):
    x, w = rng.standard_normal((2, 10)), rng.standard_normal(6)
    found = pk.grad(filtered, argnums=(0, 1))(x, w)
    for k, given in enumerate((x, w)):
        direction = rng.standard_normal(given.shape)
        ends = [[x, w], [x, w]]
        for side, sign in enumerate((1e-6, -1e-6)):
            ends[side][k] = given + sign * direction
        slope = (filtered(*ends[0]) - filtered(*ends[1])) / 2e-6
        np.testing.assert_allclose((found[k] * direction).sum(), slope, rtol=1e-6)


@pytest.mark.slow
def test_forward_mode(rng):
    x, dx = rng.standard_normal((2, 2, 6))
    _, found = pk.jvp(lambda x: np.fft.rfft(x).imag, (x,), (dx,))
    np.testing.assert_allclose(found, np.fft.rfft(dx).imag, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["opencl"], indirect=True)
def test_on_a_device(rng, device):
    x = rng.standard_normal((3, 12)).astype(np.float32)
    with pk.device(device):
        found = pk.jit(lambda x: np.fft.irfft(np.fft.rfft(x), 12))(pk.asarray(x, device=device))
    close(found.numpy(), x, 1e-6)
