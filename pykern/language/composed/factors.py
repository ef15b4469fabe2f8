"""Functions of `numpy.linalg` that factor matrices, and what follows from factors.

All rest on functions of batches (batch, m, n), whose derivatives are known: those marked `builtin`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pykern.language.builtin import builtin
from pykern.language.composed.kinds import is_complex


class EighResult(NamedTuple):
    """Values in rising order, and vectors as columns."""

    eigenvalues: np.ndarray
    eigenvectors: np.ndarray


class SVDResult(NamedTuple):
    """Left vectors, values in falling order, right vectors as rows."""

    U: np.ndarray
    S: np.ndarray
    Vh: np.ndarray


class QRResult(NamedTuple):
    """An orthogonal and a triangular factor."""

    Q: np.ndarray
    R: np.ndarray


@builtin
def eigen_factors(a):
    """Eigenvalues and eigenvectors of symmetric matrices."""
    return tuple(np.linalg.eigh(a))


@builtin
def singular_factors(a):
    """Left vectors, values and right vectors, as many as the shorter side has."""
    return tuple(np.linalg.svd(a, full_matrices=False))


@builtin
def singular_complement(a):
    """The left vectors of tall matrices that belong to no value."""
    return (np.linalg.svd(a)[0][..., a.shape[-1] :],)


@builtin
def orthogonal_factors(a):
    """An orthogonal and a triangular factor."""
    return tuple(np.linalg.qr(a))


@builtin
def orthogonal_complement(a):
    """The columns of the complete orthogonal factor of tall matrices behind those of the reduced one."""
    return (np.linalg.qr(a, "complete")[0][..., a.shape[-1] :],)


@builtin
def pseudo_inverse(a, least):
    """The pseudo-inverse without small singular values."""
    return np.linalg.pinv(a, least)


def _floats(a):
    """Matrices of floats with 32 or 64 bits."""
    assert not is_complex(a), "complex matrices have no factors in array programs"
    return a if a.dtype == np.float32 else a.astype(np.float64)


def _rows(a):
    """The matrices of a batch along one axis."""
    assert a.ndim >= 2, "matrices have two axes at least"
    assert a.shape[-2] > 0 and a.shape[-1] > 0, "matrices without elements have no factors in array programs"
    count = 1
    for n in a.shape[:-2]:
        count = count * n
    return np.reshape(_floats(a), (count, a.shape[-2], a.shape[-1]))


def _shaped(x, a):
    """What was found for rows of matrices, in the shape of their batch."""
    return np.reshape(x, (*a.shape[:-2], *x.shape[1:]))


def _symmetric(a, UPLO):
    """The symmetric matrices whose lower triangle, or upper one, is given."""
    assert a.shape[-1] == a.shape[-2], "symmetric matrices are square"
    rows = _rows(a)
    if UPLO == "U" or UPLO == "u":
        rows = np.swapaxes(rows, 1, 2)
    return np.tril(rows) + np.swapaxes(np.tril(rows, -1), 1, 2)


def eigh(a, UPLO="L"):
    """Give eigenvalues and eigenvectors of symmetric matrices, of which one triangle is read."""
    w, v = eigen_factors(_symmetric(a, UPLO))
    return EighResult(_shaped(w, a), _shaped(v, a))


def eigvalsh(a, UPLO="L"):
    """Give the eigenvalues of symmetric matrices in rising order."""
    return eigh(a, UPLO)[0]


def _values(a):
    """Singular values in falling order."""
    return _shaped(singular_factors(_rows(a))[1], a)


def svd(a, full_matrices=True, compute_uv=True):
    """Give singular vectors and values, with all vectors of the longer side unless `full_matrices` is false."""
    rows = _rows(a)
    u, s, vt = singular_factors(rows)
    if not compute_uv:
        return _shaped(s, a)
    m, n = a.shape[-2], a.shape[-1]
    if full_matrices and m > n:
        u = np.concatenate((u, singular_complement(rows)[0]), axis=2)
    if full_matrices and m < n:
        others = singular_complement(np.swapaxes(rows, 1, 2))[0]
        vt = np.concatenate((vt, np.swapaxes(others, 1, 2)), axis=1)
    return SVDResult(_shaped(u, a), _shaped(s, a), _shaped(vt, a))


def svdvals(x):
    """Give singular values in falling order."""
    return _values(x)


def qr(a, mode="reduced"):
    """Give an orthogonal and a triangular factor; with the mode `r` the triangular one alone."""
    assert mode == "reduced" or mode == "complete" or mode == "r", (
        "np.linalg.qr knows 'reduced', 'complete' and 'r'"
    )
    rows = _rows(a)
    q, r = orthogonal_factors(rows)
    if mode == "r":
        return _shaped(r, a)
    m, n = a.shape[-2], a.shape[-1]
    if mode == "complete" and m > n:
        q = np.concatenate((q, orthogonal_complement(rows)[0]), axis=2)
        r = np.concatenate((r, np.zeros((r.shape[0], m - n, n), r.dtype)), axis=1)
    return QRResult(_shaped(q, a), _shaped(r, a))


def pinv(a, rcond=None):
    """Give the pseudo-inverse, without singular values that are `rcond` times the greatest one or smaller."""
    return _shaped(pseudo_inverse(_rows(a), 1e-15 if rcond is None else rcond), a)


def matrix_rank(A, tol=None):
    """Count the singular values that are greater than a bound."""
    s = _values(A)
    rounding = 1.1920929e-07 if s.dtype == np.float32 else 2.220446049250313e-16
    least = (
        np.max(s, axis=-1, keepdims=True) * (max(A.shape[-2], A.shape[-1]) * rounding) if tol is None else tol
    )
    return np.sum(s > least, axis=-1)


def cond(x, p=None):
    """Give the norm of a matrix times that of its inverse; of the order 2 by singular values."""
    if p is None or p == 2:
        s = _values(x)
        return s[..., 0] / s[..., -1]
    if p == -2:
        s = _values(x)
        return s[..., -1] / s[..., 0]
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, (-2, -1))


def lstsq(a, b, rcond=None):
    """Give the solution of least squares, the squares that are left, the rank and the singular values.

    Squares are given where there are more equations than unknowns, whatever the rank.
    """
    m, n = a.shape
    x = _floats(a)
    y = _floats(b) if x.dtype == np.float32 else _floats(b).astype(np.float64)
    rounding = 1.1920929e-07 if x.dtype == np.float32 and y.dtype == np.float32 else 2.220446049250313e-16
    least = max(m, n) * rounding if rcond is None else rcond
    columns = y[:, None] if b.ndim == 1 else y
    found = pseudo_inverse(_rows(x), least)[0] @ columns
    left = columns - x @ found
    squares = np.sum(left * left, axis=0) if m > n else np.zeros(0, found.dtype)
    s = _values(x)
    rank = np.sum(s > least * s[0])
    return (found[:, 0] if b.ndim == 1 else found), squares, rank, s
