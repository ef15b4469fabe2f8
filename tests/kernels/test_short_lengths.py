"""Kernels whose code exists for known lengths alone take those of the launch."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern import errors


@pk.kernel
def determinants(o, m, a):
    i = pk.index()
    o[i] = np.linalg.det(a[i])
    m[i] = np.linalg.inv(a[i])


def _matrices(rng, n, size, dtype):
    return (rng.standard_normal((n, size, size)) + 3 * np.eye(size)).astype(dtype)


@pytest.mark.parametrize(
    ("where", "dtype"),
    [
        ("cpu", "f4"),
        ("cpu", "f8"),
        *((name, "f4") for name in ("python", "opencl", "vulkan", "cuda:emulated")),
    ],
)
def test_one_kernel_with_matrices_of_several_sizes(rng, where, dtype, need_device):
    need_device(where)
    for size in (2, 3, 2, 1, 4, 3):
        a = _matrices(rng, 17, size, dtype)
        o, m = np.zeros(17, dtype), np.zeros_like(a)
        determinants(o, m, a, ndrange=17, device=where)
        tolerance = 1e-10 if dtype == "f8" else 1e-4
        np.testing.assert_allclose(o, np.linalg.det(a), rtol=tolerance)
        np.testing.assert_allclose(m, np.linalg.inv(a), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("where", ["cpu", "opencl", "vulkan", "cuda:emulated"])
def test_entries_are_for_their_lengths(rng, where, need_device):
    need_device(where)

    @pk.kernel
    def volumes(o, a):
        i = pk.index()
        o[i] = np.linalg.det(a[i])

    given = {size: pk.array(_matrices(rng, 9, size, "f4"), device=where) for size in (2, 3)}
    o = pk.array(np.zeros(9, "f4"), device=where)
    for size in (3, 3, 3, 2, 2, 2, 3, 2, 3, 3, 2):
        volumes(o, given[size], ndrange=9)
        np.testing.assert_allclose(o.numpy(), np.linalg.det(given[size].numpy()), rtol=1e-4)


def test_other_lengths_go_another_way_in_the_compiled_entry(rng):
    @pk.kernel
    def ordered(o, x):
        i = pk.index()
        o[i] = np.sort(x[i])

    for n in (3, 3, 5, 3, 8, 5, 3, 3):
        x = rng.standard_normal((11, n))
        o = np.zeros_like(x)
        ordered(o, x, ndrange=11)
        np.testing.assert_array_equal(o, np.sort(x, 1))


def test_strided_and_overlapping_arguments(rng):
    x = rng.standard_normal((11, 6, 4))
    view = x[::-1, ::2, 1:]
    o = np.zeros((22, 3, 3))[::2]
    determinants(np.zeros(11), o, view, ndrange=11)
    np.testing.assert_allclose(o, np.linalg.inv(view), rtol=1e-9, atol=1e-9)
    expected = np.linalg.inv(view)
    determinants(np.zeros(11), view, view, ndrange=11)
    np.testing.assert_allclose(view, expected, rtol=1e-9, atol=1e-9)


def test_lengths_that_are_long_stay_those_of_the_launch(rng):
    @pk.kernel
    def crossed(o, x, long):
        i = pk.index()
        o[i] = np.cross(x[i], x[0]) + long[i].sum()

    for n, m in ((40, 100), (40, 50), (7, 100)):
        x, long = rng.standard_normal((n, 2)), rng.integers(0, 5, (n, m)).astype(float)
        o = np.zeros(n)
        crossed(o, x, long, ndrange=n)
        first = x[0]
        np.testing.assert_allclose(o, x[:, 0] * first[1] - x[:, 1] * first[0] + long.sum(1), rtol=1e-12)
    lengths = [p.lengths for source in crossed.launcher.cache.variants for p in source.parameters]
    assert all(100 not in known and 50 not in known for known in lengths)


def test_gradients(rng):
    @pk.kernel
    def volumes(o, a):
        i = pk.index()
        o[i] = np.linalg.det(a[i])

    for size in (2, 3):
        a = _matrices(rng, 5, size, "f8")
        o, da = np.zeros(5), np.zeros_like(a)
        pk.autodiff(volumes)(pk.Dup(o, np.ones(5)), pk.Dup(a, da), ndrange=5)
        expected = np.linalg.det(a)[:, None, None] * np.linalg.inv(a).transpose(0, 2, 1)
        np.testing.assert_allclose(da, expected, rtol=1e-8)


def test_the_first_reason_is_told_where_lengths_do_not_help(rng):
    with pytest.raises(errors.KernelTypeError, match=r"up to 4 x 4, and this is array `a\[i\]`: f64\[5, 5\]"):
        determinants(np.zeros(3), np.zeros((3, 5, 5)), np.zeros((3, 5, 5)), ndrange=3)
    a = _matrices(rng, 3, 2, "f8")
    o = np.zeros(3)
    determinants(o, np.zeros_like(a), a, ndrange=3)  # and other launches go on
    for _ in range(2):  # on the reference device, too, whatever was launched before
        determinants(o, np.zeros_like(a), a, ndrange=3, device="python")
        with pytest.raises(errors.KernelTypeError, match="up to 4 x 4"):
            determinants(np.zeros(3), np.zeros((3, 5, 5)), np.zeros((3, 5, 5)), ndrange=3, device="python")
    np.testing.assert_allclose(o, np.linalg.det(a))


def test_systems_and_pairs(rng):
    @pk.kernel
    def solved(o, s, a, b):
        i = pk.index()
        pair = np.stack([a[i, 0], b[i]], axis=1)
        o[i] = np.linalg.solve(a[i], b[i]) + pair[:, 1]
        s[i] = np.cross(b[i, :2], a[i, 0, :2])

    for where in ("cpu", "python"):
        for size in (2, 3, 4):
            a, b = _matrices(rng, 9, size, "f8"), rng.standard_normal((9, size))
            o, s = np.zeros_like(b), np.zeros(9)
            solved(o, s, a, b, ndrange=9, device=where)
            np.testing.assert_allclose(o, np.linalg.solve(a, b[..., None])[..., 0] + b, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(s, b[:, 0] * a[:, 0, 1] - b[:, 1] * a[:, 0, 0], rtol=1e-9, atol=1e-12)


def test_stages_and_exported_code(rng):
    a = _matrices(rng, 5, 2, "f8")
    o, m = np.zeros(5), np.zeros_like(a)
    lowered = determinants.lower(o, m, a, ndrange=5)
    assert [p.lengths for p in lowered.source.parameters] == [(), (None, 2, 2), (None, 2, 2)]
    assert "f64" in lowered.as_text("kern")
    text = pk.export(determinants, o, m, a, ndrange=5, form="c").text
    assert "double" in text
    with pytest.raises(errors.KernelTypeError, match="up to 4 x 4"):
        determinants.lower(o, np.zeros((5, 5, 5)), np.zeros((5, 5, 5)), ndrange=5)
