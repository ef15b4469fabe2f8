"""A fault as a script: the IR before the pass and after it, the arguments, and what plain Python gives.

Comes in: a `Fault`. Goes out: the text of a Python file that needs pykern alone; it runs the pass again, and its exit
status tells whether the fault is still there. Read next: `pykern.tools.replay`, which the script calls.
"""

from __future__ import annotations

import base64
import io
import os
import sys
import textwrap
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pykern.testing.bisection import Evidence, Fault

_SCRIPT = '''\
"""A pass of pykern that changes what a kernel computes. Run me: exit status 1 while it does.

kernel   {kernel} on {device}
pass     {step}
before   {before}
{difference}
"""

from pykern.data.index_space import Extent
from pykern.data.source import ArraySpec, Parameter, ScalarSpec, StaticSpec, StructSpec
from pykern.tools.replay import replay

inf, nan = float("inf"), float("nan")

PARAMETERS = {parameters}
SLOTS = {slots}
SPACE = {space}
ARRAYS = """
{arrays}
"""  # a compressed .npz: each parameter's arrays, then what Python makes of them

BEFORE = r"""
{before_ir}
"""

AFTER = r"""
{after_ir}
"""

if __name__ == "__main__":
    raise SystemExit(replay(
        BEFORE, AFTER, {step!r}, {function!r}, PARAMETERS, SLOTS, ARRAYS, SPACE,
        plain={plain}, workgroup={workgroup}, shared={shared}, rtol={rtol}, atol={atol},
    ))
'''


def script(fault: Fault) -> str:
    """The text of the script."""
    evidence = fault.evidence
    assert evidence is not None
    rtol, atol = evidence.tolerance
    return _SCRIPT.format(
        kernel=fault.kernel,
        device=fault.device,
        step=fault.stage,
        before=fault.before,
        difference=fault.difference.replace("\\", "\\\\"),
        parameters=repr(evidence.parameters),
        slots=repr(evidence.slots),
        space=repr(evidence.space),
        arrays=packed(evidence),
        before_ir=evidence.before.rstrip(),
        after_ir=evidence.after.rstrip(),
        function=_place_of(evidence.step),
        plain=evidence.plain,
        workgroup=evidence.workgroup,
        shared=evidence.shared,
        rtol=rtol,
        atol=atol,
    )


def packed(evidence: Evidence) -> str:
    """Arrays as text."""
    held = {f"p{n}_{m}": a for n, arrays in enumerate(evidence.arrays) for m, a in enumerate(arrays)}
    held |= {f"expected_{n}": a for n, a in enumerate(evidence.expected)}
    plain = {name: np.array(a).view(np.uint8) if a.dtype.kind == "V" else a for name, a in held.items()}
    file = io.BytesIO()
    arrays: Any = {name: _raw(a) for name, a in plain.items()}
    np.savez(file, **arrays)
    text = base64.b64encode(zlib.compress(file.getvalue(), 9)).decode()
    return "\n".join(textwrap.wrap(text, 110))


def _raw(array: np.ndarray) -> np.ndarray:
    """Small floats are kept as their bits."""
    return (
        array if array.dtype.isbuiltin == 1 else np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
    )


def _place_of(step: object) -> tuple[str, str] | None:
    """File and name of a user's pass."""
    module = sys.modules.get(getattr(step, "__module__", ""))
    file, name = getattr(module, "__file__", None), getattr(step, "__qualname__", "")
    return (os.path.abspath(file), name) if file and name.isidentifier() else None
