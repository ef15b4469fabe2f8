"""What tests of kernels and passes need: IR checks, comparisons with the reference, golden files, lit suites.

- `check_ir(lowered, stage, checks)`: FileCheck over a stage of a kernel.
- `assert_matches_python(kernel, *args, ndrange=...)`: a device against plain Python, on copies of the arrays.
- `bisect(kernel, *args, ndrange=...)`: the pass that makes a kernel's result wrong, with what it changed.
- `repro(kernel, *args, ndrange=...)`: a script that makes a call again, standing alone.
- `golden(text, name)`: a text against a file beside the test; ``pytest --pykern-update`` writes it.
- `missing_device(name)`: why a device is not there, for a skip.
- `lit` sets a lit suite up in three lines, ``pykern test`` runs lit tests; `filecheck` finds directives that
  FileCheck would pass over.

Each is imported when it is first used: lit, NumPy and MLIR are loaded by what needs them alone. The pytest plugin
is `pykern.pytest_plugin`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "check_ir": "pykern.testing.ir_checks",
    "assert_matches_python": "pykern.testing.reference",
    "bisect": "pykern.testing.bisection",
    "repro": "pykern.testing.call_script",
    "golden": "pykern.testing.goldens",
    "missing_device": "pykern.testing.device_needs",
}


def __getattr__(name: str) -> Any:
    """Import a public function from its module at its first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'pykern.testing' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


if TYPE_CHECKING:
    from pykern.testing.bisection import bisect as bisect
    from pykern.testing.call_script import repro as repro
    from pykern.testing.device_needs import missing_device as missing_device
    from pykern.testing.goldens import golden as golden
    from pykern.testing.ir_checks import check_ir as check_ir
    from pykern.testing.reference import assert_matches_python as assert_matches_python
