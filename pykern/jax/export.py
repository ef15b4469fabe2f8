"""`pkj.export`: a function that calls primitives, as StableHLO for other machines.

Comes in: a function of JAX arrays, platforms, arguments. Goes out: `jax.export.Exported`. On the CPU the program
calls code of this process, so that it runs where the primitives were called before; elsewhere it is StableHLO alone.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from pykern.jax.framework import jax

_OURS = re.compile(r"pykern_[0-9a-f]+")
"""Names of handlers in StableHLO."""


def export(
    function: Callable[..., Any], platforms: Sequence[str] = ("tpu", "cuda", "cpu")
) -> Callable[..., Any]:
    """A function that takes arguments (arrays or `jax.ShapeDtypeStruct`s) and gives the `jax.export.Exported` of
    `function` for them. Raises what JAX raises where a primitive has no portable source for one of the platforms."""
    exporting: Any = importlib.import_module("jax.export")
    jitted = jax.jit(function)

    def exported(*args: Any, **keywords: Any) -> Any:
        checks = []
        if "cpu" in platforms:
            text = jitted.trace(*args, **keywords).lower(lowering_platforms=("cpu",)).as_text()
            names = dict.fromkeys(_OURS.findall(text))
            checks = [exporting.DisabledSafetyCheck.custom_call(name) for name in names]
        return exporting.export(jitted, platforms=tuple(platforms), disabled_checks=checks)(*args, **keywords)

    return exported
