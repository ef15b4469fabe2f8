"""The first tensor that a process launches a kernel on may come at any time: in a context, within a transformation."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")


FIRST = """
import numpy as np
import torch

import pykern as pk


@pk.kernel
def double(o, x):
    i = pk.index()
    o[i] = x[i] * 2


o = torch.zeros(4, device="cpu")


def launch(x):
    double(o, x, ndrange=4)
    assert o.tolist() == [0, 2, 4, 6], o
    return x


x = torch.arange(4.0, device="cpu")
{first}
launch(x)
print("right")
"""


@pytest.mark.parametrize(
    "first",
    [
        'torch.set_default_device("meta"); launch(x)',
        'with torch.device("meta"): launch(x); launch(x)',
        "torch.func.functionalize(lambda t: (launch(x), t)[1])(x)",
        "with torch.inference_mode(): launch(x)",
    ],
)
def test_the_first_tensor_may_come_within_a_context(first, tmp_path):
    (tmp_path / "first.py").write_text(FIRST.format(first=first))
    done = subprocess.run(
        [sys.executable, "first.py"], cwd=tmp_path, capture_output=True, text=True, timeout=200
    )
    assert done.stdout == "right\n", done.stderr


def test_a_module_that_is_not_torch_yet_takes_part_in_nothing(tmp_path):
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "program.py").write_text(
        "import torch\nimport numpy as np\nimport pykern as pk\n\n\n"
        "@pk.kernel\ndef double(o, x):\n    i = pk.index()\n    o[i] = x[i] * 2\n\n\n"
        "o = np.zeros(4)\ndouble(o, memoryview(np.arange(4.0)), ndrange=4)\nprint(o.tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=200
    )
    assert done.stdout == "[0.0, 2.0, 4.0, 6.0]\n", done.stderr
