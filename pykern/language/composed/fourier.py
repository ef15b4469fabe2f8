"""Functions of `numpy.fft`: over one axis, over several, of real arrays, and frequencies.

All rest on `fourier_transform`, the plain transform of the last axis. A real signal of even length is transformed as a
complex one of half the length, whose elements are pairs of neighbours (H. V. Sorensen and others, "Real-valued fast
Fourier transform algorithms", 1987).
"""

from __future__ import annotations

import numpy as np

from pykern.language.builtin import builtin
from pykern.language.composed.kinds import is_complex, wide_floats


@builtin
def fourier_transform(real, imag, inverse):
    """The transform of the last axis of complex numbers, given and made by parts; not divided by the length."""
    whole = np.fft.fft(real + 1j * imag) if not inverse else np.fft.ifft(real + 1j * imag, norm="forward")
    return whole.real, whole.imag


@builtin
def complex_of_parts(real, imag):
    """The complex array with these parts, whatever they are: multiplied by `1j` infinities would become NaN."""
    made = np.empty(real.shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    made.real, made.imag = real, imag
    return made


def _sized(x, n):
    """The first `n` elements of the last axis, with zeros behind where there are fewer."""
    if n <= x.shape[-1]:
        return x[..., :n]
    return np.concatenate((x, np.zeros((*x.shape[:-1], n - x.shape[-1]), x.dtype)), axis=-1)


def _factor(norm, n, inverse):
    """What a transform is multiplied by."""
    if norm is None or norm == "backward":
        return 1.0 / n if inverse else 1.0
    if norm == "ortho":
        return 1.0 / n**0.5
    assert norm == "forward", "norm is 'backward', 'ortho' or 'forward'"
    return 1.0 if inverse else 1.0 / n


def _whole(a, n, axis, norm, inverse):
    """The transform of one axis."""
    x = np.moveaxis(a, axis, -1)
    count = x.shape[-1] if n is None else n
    assert count > 0, "a transform has at least one point"
    factor = _factor(norm, count, inverse)
    real, imag = fourier_transform(_sized(np.real(x), count), _sized(np.imag(x), count), inverse)
    return np.moveaxis(_complex(real, imag, factor), -1, axis)


def _complex(real, imag, factor):
    """A complex array of its parts, multiplied by a number."""
    if factor == 1.0:
        return complex_of_parts(real, imag)
    return complex_of_parts(real * factor, imag * factor)


def fft(a, n=None, axis=-1, norm=None):
    """Transform one axis."""
    return _whole(a, n, axis, norm, False)


def ifft(a, n=None, axis=-1, norm=None):
    """Transform one axis back."""
    return _whole(a, n, axis, norm, True)


def _mirrored(x, sign):
    """The elements of the last axis in the opposite order, times a sign."""
    return x[..., ::-1] * sign


def rfft(a, n=None, axis=-1, norm=None):
    """Transform one axis of a real array; what follows from symmetry is left out."""
    assert not is_complex(a), "np.fft.rfft takes real arrays; np.fft.fft transforms complex ones"
    moved = np.moveaxis(a, axis, -1)
    count = moved.shape[-1] if n is None else n
    assert count > 0, "a transform has at least one point"
    x = _sized(moved, count)
    factor = _factor(norm, count, False)
    if count % 2:
        real, imag = fourier_transform(x, np.zeros_like(x), False)
        half = count // 2 + 1
        return np.moveaxis(_complex(real[..., :half], imag[..., :half], factor), -1, axis)
    real, imag = fourier_transform(x[..., ::2], x[..., 1::2], False)
    p = np.concatenate((real, real[..., :1]), axis=-1)
    q = np.concatenate((imag, imag[..., :1]), axis=-1)
    angle = (np.arange(count // 2 + 1) * (2.0 * np.pi / count)).astype(p.dtype)
    c, s = np.cos(angle), np.sin(angle)
    even, odd = p + _mirrored(p, 1), q + _mirrored(q, 1)
    left, right = p - _mirrored(p, 1), q - _mirrored(q, 1)
    return np.moveaxis(
        _complex(even + (c * odd - s * left), right - (s * odd + c * left), 0.5 * factor), -1, axis
    )


def irfft(a, n=None, axis=-1, norm=None):
    """Transform one axis back to real numbers."""
    moved = np.moveaxis(wide_floats(a), axis, -1)
    count = 2 * (moved.shape[-1] - 1) if n is None else n
    assert count > 0, "a transform has at least one point"
    factor = _factor(norm, count, True)
    half = count // 2 + 1
    p, q = _sized(np.real(moved), half), _sized(np.imag(moved), half)
    first = np.arange(half) == 0
    if count % 2:
        q = np.where(first, 0.0, q)
        real, imag = fourier_transform(
            np.concatenate((p, _mirrored(p[..., 1:], 1)), axis=-1),
            np.concatenate((q, _mirrored(q[..., 1:], -1)), axis=-1),
            True,
        )
        return np.moveaxis(real * factor, -1, axis)
    q = np.where(first | (np.arange(half) == half - 1), 0.0, q)
    angle = (np.arange(half) * (2.0 * np.pi / count)).astype(p.dtype)
    c, s = np.cos(angle), np.sin(angle)
    even, odd = p + _mirrored(p, 1), q + _mirrored(q, 1)
    left, right = p - _mirrored(p, 1), q - _mirrored(q, 1)
    whole = (even - (s * left + c * odd), right + (c * left - s * odd))
    real, imag = fourier_transform(whole[0][..., :-1], whole[1][..., :-1], True)
    pairs = np.stack((real * factor, imag * factor), axis=-1)
    return np.moveaxis(pairs.reshape((*real.shape[:-1], count)), -1, axis)


def _axes(a, s, axes):
    """The axes of a transform over several, and their lengths."""
    if axes is None:
        rank = a.ndim if s is None else len(s)
        chosen = tuple([k - rank for k in range(rank)])
    else:
        chosen = tuple(axes)
    lengths = tuple([a.shape[k] for k in chosen]) if s is None else tuple(s)
    return chosen, lengths


def fftn(a, s=None, axes=None, norm=None):
    """Transform several axes."""
    chosen, lengths = _axes(a, s, axes)
    for k in range(len(chosen)):
        a = _whole(a, lengths[k], chosen[k], norm, False)
    return a


def ifftn(a, s=None, axes=None, norm=None):
    """Transform several axes back."""
    chosen, lengths = _axes(a, s, axes)
    for k in range(len(chosen)):
        a = _whole(a, lengths[k], chosen[k], norm, True)
    return a


def fft2(a, s=None, axes=(-2, -1), norm=None):
    """Transform two axes."""
    return fftn(a, s, axes, norm)


def ifft2(a, s=None, axes=(-2, -1), norm=None):
    """Transform two axes back."""
    return ifftn(a, s, axes, norm)


def rfftn(a, s=None, axes=None, norm=None):
    """Transform several axes of a real array, the last one first."""
    chosen, lengths = _axes(a, s, axes)
    found = rfft(a, lengths[-1], chosen[-1], norm)
    for k in range(len(chosen) - 1):
        found = _whole(found, lengths[k], chosen[k], norm, False)
    return found


def irfftn(a, s=None, axes=None, norm=None):
    """Transform several axes back to real numbers, the last one last."""
    chosen, lengths = _axes(a, s, axes)
    last = 2 * (a.shape[chosen[-1]] - 1) if s is None else lengths[-1]
    for k in range(len(chosen) - 1):
        a = _whole(a, lengths[k], chosen[k], norm, True)
    return irfft(a, last, chosen[-1], norm)


def rfft2(a, s=None, axes=(-2, -1), norm=None):
    """Transform two axes of a real array."""
    return rfftn(a, s, axes, norm)


def irfft2(a, s=None, axes=(-2, -1), norm=None):
    """Transform two axes back to real numbers."""
    return irfftn(a, s, axes, norm)


def fftfreq(n, d=1.0):
    """Give the frequencies of a transform, for samples `d` apart."""
    half = (n - 1) // 2 + 1
    return np.concatenate((np.arange(0, half), np.arange(-(n // 2), 0))) * (1.0 / (n * d))


def rfftfreq(n, d=1.0):
    """Give the frequencies of a transform of real samples `d` apart."""
    return np.arange(0, n // 2 + 1) * (1.0 / (n * d))


def fftshift(x, axes=None):
    """Move the frequency 0 to the middle."""
    chosen = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    return np.roll(x, tuple([x.shape[k] // 2 for k in chosen]), chosen)


def ifftshift(x, axes=None):
    """Move the frequency 0 to the front."""
    chosen = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    return np.roll(x, tuple([-(x.shape[k] // 2) for k in chosen]), chosen)
