"""Where MLIR's bindings bring no LLVM library of their own, llvmlite makes the code for the CPU."""

from __future__ import annotations

import subprocess
import sys

import pykern as pk


@pk.kernel
def twice(y, x):
    i = pk.index()
    y[i] = x[i] + x[i]


@pk.jit
def product(a, b):
    return a @ b


PROGRAM = """
import os
os.environ["PYKERN_COMPILER"], os.environ["PYKERN_CACHE"] = "inprocess", "0"
import numpy as np
from pykern.bootstrap import search_path
import sys
sys.path[:] = list(dict.fromkeys([*sys.path, *search_path()]))
from pykern.lowering.llvm import codegen, libllvm
libllvm.library = lambda: None
from tests.lowering.test_without_libllvm import product, twice
x, y = np.arange(37, dtype=np.float32), np.zeros(37, np.float32)
twice(y, x, ndrange=37)
assert codegen.machine_of(codegen.Host()) is None
assert (y == 2 * x).all()
assert (product(np.eye(5), np.ones((5, 3))) == 1).all()
a, b = np.random.default_rng(0).standard_normal((2, 300, 300))  # shared among threads
np.testing.assert_allclose(product(a, b), a @ b, rtol=1e-10)
assert any("pk_run" in stage.text for stage in twice.lower(y, x, ndrange=37).stages if stage.kind == "asm")
print("done")
"""


def test_llvmlite_makes_the_code() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert ran.stdout == "done\n", ran.stderr
