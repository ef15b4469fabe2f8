"""PyTorch imported before pykern, and after pykern has launched: a process for each, since imports happen once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pykern.pytest_plugin import need_package

need_package("torch")

KERNEL = """
import numpy as np
import pykern as pk


@pk.kernel
def double(o, x):
    i = pk.index()
    o[i] = 2 * x[i]


@pk.jit
def plus(x):
    return x + 1


x = np.arange(5.0)
o = np.zeros(5)
double(o, x, ndrange=5)
np.testing.assert_array_equal(o, 2 * x)
np.testing.assert_array_equal(plus(x), x + 1)
"""
TENSORS = """
import torch

for dtype in (torch.float64, torch.float32, torch.bfloat16):
    t = torch.arange(5, dtype=dtype)
    to = torch.zeros_like(t)
    before = to._version
    double(to, t, ndrange=5)
    torch.testing.assert_close(to, 2 * t)
    assert to._version > before
    assert type(plus(t)) is torch.Tensor
    torch.testing.assert_close(plus(t), t + 1)
import pykern.torch as pkt

t = torch.arange(5.0, requires_grad=True)
pkt.op(plus)(t).square().sum().backward()
torch.testing.assert_close(t.grad, 2 * (t + 1).detach())
print("right")
"""


@pytest.mark.parametrize(
    "text",
    [KERNEL + TENSORS, pytest.param("import torch" + KERNEL + TENSORS, marks=pytest.mark.slow)],
    ids=["after", "before"],
)
def test_either_order(text, tmp_path):
    script = tmp_path / "orders.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.stdout.split()[-1:] == ["right"], done.stderr[-3000:]
