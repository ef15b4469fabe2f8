"""`import pykern` is light: no compiler, no array library, no driver, before a kernel needs it."""

from __future__ import annotations

import json
import sys

from tests.project.programs import run
from tests.project.tree import ROOT

HEAVY = {
    "mlir", "llvm", "llvmlite", "numpy", "ml_dtypes", "torch", "jax", "cupy", "cuda", "hip",
    "pyopencl", "vulkan", "wgpu", "mpi4py", "matplotlib", "multiprocessing", "asyncio", "rich",
}  # fmt: skip


def loaded_by(statement: str) -> set[str]:
    """Top-level packages in `sys.modules` after `statement` in a fresh interpreter."""
    program = f"import json, sys; {statement}; print(json.dumps([m.partition('.')[0] for m in sys.modules]))"
    return set(json.loads(run(sys.executable, "-c", program, cwd=ROOT)))


def test_import_pykern_is_light():
    assert not loaded_by("import pykern") & HEAVY


def test_command_line_is_light():
    """``pykern --help`` and ``pykern devices`` answer at once."""
    assert not loaded_by("import pykern.tools.cli") & HEAVY


def test_the_probe_sees_what_is_loaded():
    assert "numpy" in loaded_by("import numpy")
