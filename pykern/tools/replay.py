"""What a reproducer of `bisect` runs: one pass, between two interpretations of its IR.

Comes in: IR before and after a pass, the pass by its text or as a user's function, arguments as text. Goes out: an
exit status, 1 where the pass makes the result differ from plain Python's.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import os
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from mlir import ir

from pykern.data.index_space import Extent
from pykern.data.source import ArraySpec, Parameter, StaticSpec, leaves
from pykern.dialect.context import new_context
from pykern.errors import PassError
from pykern.interpreter.stage import Call, run_stage
from pykern.launching.arguments import Passed, pass_value
from pykern.passes.framework import Callback, Pipeline, run_pass
from pykern.passes.registry import parse_pipeline
from pykern.testing.reference import difference
from pykern.tools import opt  # noqa: F401  registers the passes of all targets
from pykern.types import BY_NAME


def replay(
    before: str,
    after: str,
    step: str,
    function: tuple[str, str] | None,
    parameters: tuple[Parameter, ...],
    cells: tuple[tuple[int, ...], ...],
    arrays: str,
    space: tuple[Extent, ...],
    *,
    plain: bool,
    workgroup: tuple[int, ...],
    shared: int | None,
    rtol: float | None,
    atol: float | None,
) -> int:
    """Run the pass again and compare. `function` is the file and the name of a user's pass."""
    with np.load(io.BytesIO(zlib.decompress(base64.b64decode(arrays)))) as file:
        kept = dict(file)

    def outcome(text: str) -> str:
        passed, flat = [], []
        for n, (parameter, given) in enumerate(zip(parameters, cells, strict=True)):
            own, made = _passed(parameter, given, kept, n)
            passed.append(made)
            flat += own
        run_stage(text, Call(tuple(passed), space, plain, workgroup, shared))
        wrong = [
            shown
            for n, array in enumerate(flat)
            if (
                shown := difference(
                    f"array {n}", kept[f"expected_{n}"].view(array.dtype), array, "this IR", rtol, atol
                )
            )
        ]
        return "\n".join(wrong)

    print("before the pass:", outcome(before) or "as in Python")
    steps = _steps(step, function)
    made = after if steps is None else _run(before, steps)
    if steps is None:
        print(f"`{step}` is not here: what it once made of it is read instead")
    shown = outcome(made)
    print("after the pass:", shown or "as in Python")
    return 1 if shown else 0


def _passed(
    parameter: Parameter, given: tuple[int, ...], kept: dict[str, np.ndarray], number: int
) -> tuple[list[np.ndarray], Passed]:
    """A parameter with copies of its arrays in place of those it was called with."""
    if isinstance(parameter.spec, StaticSpec):
        return [], Passed(parameter, ())
    own: list[np.ndarray] = []
    filled: list[int] = []
    cells = iter(given)
    for spec in leaves(parameter.spec):
        if not isinstance(spec, ArraySpec):
            filled.append(next(cells))
            continue
        raw = kept[f"p{number}_{len(own)}"].view(BY_NAME[spec.dtype].numpy)
        array = _strided(raw) if spec.strided else raw.copy()
        own.append(array)
        described = pass_value("x", array, None)
        address, *lengths = described.slots
        strides = [s // array.itemsize for s in array.strides] if spec.strided else []
        filled += [address, *lengths[: spec.rank], *strides]
        for _ in range(1 + spec.rank + len(strides)):
            next(cells)
    return own, Passed(parameter, tuple(filled), tuple(own))


def _strided(array: np.ndarray) -> np.ndarray:
    """A copy with holes in it."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def _steps(step: str, function: tuple[str, str] | None) -> Pipeline | None:
    if function is not None:
        found = _load(*function)
        return None if found is None else Pipeline((Callback(function=found),))
    try:
        return parse_pipeline(step)
    except PassError:
        return None


def _load(file: str, name: str) -> Callable[..., Any] | None:
    if not os.path.isfile(file):
        return None
    spec = importlib.util.spec_from_file_location("bisected_pass", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name, None)


def _run(text: str, steps: Pipeline) -> str:
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for step in steps:
            run_pass(step, module)
        return str(module)
