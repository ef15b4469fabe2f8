"""Operators of kernels whose code exists for known lengths alone."""

from __future__ import annotations

import numpy as np

import pykern as pk
import pykern.torch as pkt
from pykern.pytest_plugin import need_package

torch = need_package("torch")


@pk.kernel
def determinants(o, a):
    i = pk.index()
    o[i] = np.linalg.det(a[i])


def test_matrices_of_several_sizes_with_gradients():
    op = pkt.op(determinants, out={"o": lambda a: a.new_empty(a.shape[0])}, ndrange=lambda a: a.shape[0])
    for size in (2, 3, 2):
        a = torch.rand(5, size, size, dtype=torch.float64) + 2 * torch.eye(size, dtype=torch.float64)
        a.requires_grad_()
        found = op(a)
        torch.testing.assert_close(found, torch.linalg.det(a))
        (grad,) = torch.autograd.grad(found.sum(), a)
        (expected,) = torch.autograd.grad(torch.linalg.det(a).sum(), a)
        torch.testing.assert_close(grad, expected)


def test_in_place():
    op = pkt.op(determinants)
    a, o = torch.rand(5, 3, 3, dtype=torch.float64), torch.zeros(5, dtype=torch.float64)
    op(o, a, ndrange=5)
    torch.testing.assert_close(o, torch.linalg.det(a))
