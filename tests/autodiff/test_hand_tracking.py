"""ADBench's hand tracking: values against NumPy, gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from benchmarks import adbench_hand

SIZES = {"some": (31, 17), "one point": (5, 1), "large": (544, 100)}
"""Vertices of the model, points seen."""


@pytest.mark.parametrize("size", SIZES)
def test_value(size):
    data = adbench_hand.hand_data(*SIZES[size])
    np.testing.assert_allclose(
        adbench_hand.hand(*data), adbench_hand.hand_reference(*data), rtol=1e-12, atol=1e-14
    )


def test_the_model_at_rest_stays_where_it_is():
    """Without a turn, every vertex is where the model has it, whatever the weights."""
    _, *model = adbench_hand.hand_data(31, 17)
    error = adbench_hand.hand(np.zeros(26), *model)
    _, _, _, vertices, points, _, vertex_of = model
    np.testing.assert_allclose(error, points - vertices[vertex_of], atol=1e-13)


@pk.jit
def posed(theta, base, parents):
    bones = pk.zeros((adbench_hand.BONES, 3, 4), pk.f64)
    adbench_hand.pose(bones, theta, base, parents, ndrange=1)
    return bones


def test_gradient_of_the_pose():
    theta, base, *_, parents, _ = adbench_hand.hand_data(31, 17)
    pk.check_grads(posed, (theta, base, parents), entries=26, rtol=2e-7)


def test_gradient_of_the_pose_as_a_kernel():
    theta, base, *_, parents, _ = adbench_hand.hand_data(31, 17)
    bones = np.zeros((adbench_hand.BONES, 3, 4))
    pk.check_grads(adbench_hand.pose, (bones, theta, base, parents), ndrange=1, entries=26, rtol=2e-7)


@pytest.mark.parametrize("size", ["some", "one point"])
def test_gradient_of_the_skin(size):
    theta, base, *model, parents, vertex_of = adbench_hand.hand_data(*SIZES[size])
    bones = np.zeros((adbench_hand.BONES, 3, 4))
    adbench_hand.pose(bones, theta, base, parents, ndrange=1)
    inverse, *rest = model
    error = np.zeros((SIZES[size][1], 3))
    arguments = (error, bones, inverse, theta, *rest, vertex_of)
    pk.check_grads(
        adbench_hand.skin, arguments, ndrange=SIZES[size][1], entries=26, rtol=2e-7, level="direct"
    )


@pytest.mark.parametrize("size", ["some", "one point"])
def test_gradient(size):
    pk.check_grads(adbench_hand.hand, adbench_hand.hand_data(*SIZES[size]), entries=26, rtol=2e-7)


@pk.kernel
def scaled_sum(out, c, m):
    n = pk.index()
    total = pk.private(1, pk.f64)
    total[0] = 0.0
    for b in range(c.shape[0]):
        total[0] += c[b] * m[0]
    out[n] = total[0]


@pk.jit
def scaled_sums(c, m):
    out = pk.zeros(2, pk.f64)
    scaled_sum(out, c, m, ndrange=2)
    return out.sum()


def test_shadows_of_one_shape_are_two_buffers():
    dc, dm = pk.grad(scaled_sums, (0, 1))(np.full(4, 3.0), np.full(4, 5.0))
    np.testing.assert_array_equal(dc, np.full(4, 10.0))
    np.testing.assert_array_equal(dm, [24.0, 0.0, 0.0, 0.0])
