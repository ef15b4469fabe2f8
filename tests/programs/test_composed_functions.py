"""Functions of NumPy that programs translate from a text: against NumPy, and with NumPy's parameters."""

from __future__ import annotations

import inspect
import operator

import numpy as np
import pytest

import pykern as pk
from pykern.language import composed


def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple | list) else [value]


def rearranged(a, c, bits, integers):
    return (
        np.matrix_transpose(c), np.rollaxis(c, 2), np.rollaxis(c, 0, 3), np.atleast_3d(a), np.unstack(a, axis=1),
        np.diagflat(a, 1),
        np.broadcast_arrays(a, a[0], c), np.resize(a, (3, 5)), np.delete(a, -1, axis=1), np.delete(a, 2),
        np.insert(a, 1, 5.0, axis=1), np.insert(a[0], 2, 7), np.choose(integers % 2, (a[0, 0], a[1, 1])),
        np.packbits(bits, axis=1), np.packbits(bits, bitorder="little"), np.unpackbits(integers.astype(np.uint8)),
        np.vander(a[0], 3), np.vander(a[0], increasing=True), np.tri(3, 4, 1) + a, np.logspace(0, 1, 4) + a[0],
        np.geomspace(1, 16, 5)[:4] + a[0], np.amax(a, axis=0), np.linalg.diagonal(c), np.linalg.trace(c),
        np.linalg.multi_dot((a, a.T, a)), np.linalg.multi_dot((a[0], a.T, a[:, 0])), np.ediff1d(a),
    )  # fmt: skip


def indexed(a, integers, v):
    np.fill_diagonal(a, 9.0)
    np.putmask(a, a < -1, 0.5)
    np.put_along_axis(a, integers[:3, None] % 4, -2.0, 1)
    return (
        a[np.ix_((0, 2), (1, 3))], a[np.triu_indices(3)], a[np.tril_indices(3, -1)], a[np.diag_indices(3)],
        np.indices((2, 3)) + integers[0], np.unravel_index(integers, (2, 6)), np.lexsort((v, integers % 3)),
        np.ravel_multi_index((integers % 3, integers % 4), (3, 4)), a,
    )  # fmt: skip


def numbers(a, v, holes, integers):
    return (
        np.fix(3 * a), np.logaddexp2(a, 2 * a), np.lcm(integers, integers + 3), np.modf(3 * a),
        np.ldexp(v, integers - 5), np.frexp(v), np.unwrap(5 * a), np.unwrap(5 * a, axis=0, period=4.0),
        np.cumulative_sum(a, axis=1, include_initial=True), np.cumulative_prod(v), np.nancumsum(holes),
        np.nancumprod(holes, axis=0), np.i0(9 * a), np.vecdot(a, 2 * a), np.matvec(a, a[0]), np.vecmat(a[:, 0], a),
        np.nanvar(holes, axis=0, ddof=1), np.nanstd(holes), np.nanargmax(holes, axis=1), np.nanargmin(holes),
        np.nanmedian(holes, axis=0), np.nanquantile(holes, 0.3), np.nanpercentile(holes, 70, axis=1, keepdims=True),
        np.histogram2d(v, v[::-1], bins=(3, 4)), np.histogram2d(v, v, range=((0, 1), (-1, 1)), density=True),
        np.polyadd(v, v[:2]), np.polysub(v[:2], v), np.polymul(v, v), np.polyder(v, 2), np.polyint(v, k=2.0),
        np.polyfit(v, v**2, 3), np.hanning(5) + v[0], np.hamming(4) + v[0], np.blackman(5) + v[0],
        np.bartlett(5) + v[0], np.kaiser(5, 9.0) + v[0], np.array_equiv(v, v), np.iscomplexobj(v + 1j),
    )  # fmt: skip


def whole_numbers(integers, small):
    """Of integers NumPy computes in floats, of the width that the function has."""
    half = small.astype(np.float16) / 4
    return (
        np.modf(integers), np.modf(small), np.frexp(integers), np.ldexp(integers, 3), np.ldexp(half, small // 16),
        np.ldexp(1.5 + integers, small),
        np.ldexp(integers * 5e-324, integers * 190), np.nanvar(small), np.nanstd(integers), np.nanargmax(integers),
        np.nanmedian(half), np.nanmedian(np.where(integers > 5, np.inf, integers)), np.fft.irfft(small),
        np.vecdot(small, small), np.polyfit(100 * integers, small, 3),
        np.ravel_multi_index((small, small), (200, 200)), np.average(small, weights=small),
        np.linspace(-1, 1, 4, dtype=np.int64) + integers[0], np.polyval(small, 2),
        np.isclose(small * 2, small - 127, atol=3), np.isclose(small > 9, small > 50), np.unwrap(integers, period=5),
    )  # fmt: skip


def several(c, a, v, holes):
    z = a + 1j * c[0]
    return (
        np.linalg.vector_norm(c, axis=(0, -1), keepdims=True), np.linalg.vector_norm(c, axis=(1, 2), ord=3),
        np.polyint(v, 2, (1.0, 2.0)), np.insert(a[:, :3], 1, a[:3, :3] + 7, axis=1), np.nanvar(z, axis=0),
        np.sum(z, initial=3), np.searchsorted(np.sort(holes[0]), holes), np.searchsorted(v[:1], 0.5),
        np.searchsorted(v[:1], holes, side="right"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "function",
    [pytest.param(f, marks=pytest.mark.slow) for f in (rearranged, numbers, whole_numbers, several)]
    + [indexed],
)
def test_same_as_numpy(rng, function):
    holes = np.where(rng.random((5, 6)) < 0.3, np.nan, rng.standard_normal((5, 6)))
    holes[:, 0] = 1.0
    given = {
        "a": rng.standard_normal((3, 4)), "c": rng.standard_normal((2, 3, 4)), "v": rng.standard_normal(12),
        "bits": rng.random((3, 11)) < 0.5, "integers": rng.integers(0, 12, 12), "holes": holes,
        "small": rng.integers(1, 100, 12).astype(np.int8),
    }  # fmt: skip
    names = list(inspect.signature(function).parameters)
    found, expected = ([given[name].copy() for name in names] for _ in range(2))
    results = leaves(pk.jit(function)(*found)), leaves(function(*expected))
    for have, want in zip((*results[0], *found), (*results[1], *expected), strict=True):
        have, want = np.asarray(have), np.asarray(want)
        assert have.shape == want.shape and have.dtype == want.dtype
        np.testing.assert_allclose(have, want, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", composed.names())
def test_parameters_are_numpys(name):
    """What may be given by its place stands at the same place in NumPy. Ufuncs of an older NumPy tell no names."""
    function = operator.attrgetter(name)(np)
    theirs = [
        p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL
    ]
    ours = inspect.signature(composed.composed(function)).parameters.values()
    placed = [p.name for p in ours if p.kind is p.POSITIONAL_OR_KEYWORD]
    if name != "atleast_3d":  # of which NumPy takes several
        assert placed == theirs[: len(placed)]
    assert {p.name for p in ours if p.kind is p.KEYWORD_ONLY} <= set(theirs)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("np.fft.fft(x, 0)", "at least one point"), ("np.delete(x, 9)", "outside of the axis"),
        ("np.unravel_index(x, 3, 4, 5)", "unravel_index"), ("np.ix_(x > 0)", "flatnonzero"),
        ("np.linalg.eigvalsh(x[:, None] * x * 1j)", "complex matrices"), ("np.fft.rfft(x * 1j)", "np.fft.fft"),
        ("np.linalg.norm(x[:, None] * x * 1j, 2)", "singular values"), ("np.unpackbits(x)", "uint8"),
        ("np.histogram2d(x, x, bins=(0, 1, 2))", "numbers of bins"), ("np.sum(x * 1j, dtype=np.float64)", "`dtype`"),
    ],
)  # fmt: skip
def test_errors_stand_at_the_call(rng, expression, said, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(f"import numpy as np\nimport pykern as pk\n\ndef program(x):\n    return {expression}\n")
    scope: dict = {}
    exec(compile(file.read_text(), file, "exec"), scope)
    with pytest.raises(pk.KernelError) as caught:
        pk.jit(scope["program"])(rng.random(3))
    assert said in str(caught.value) and f'"{file}", line 5' in str(caught.value)
    assert "composed" not in str(caught.value)
