"""``pykern compile FILE.py::KERNEL``: every stage of a kernel or an array program, without running it."""

from __future__ import annotations

import argparse
import json
import os
import re
from difflib import get_close_matches
from typing import Any

from pykern.api.lowered import Lowered
from pykern.api.user_file import UsageError, imported
from pykern.launching.specs import Spec
from pykern.tools.argument_types import arguments_of, lengths
from pykern.tools.output import write
from pykern.tools.suggested_call import refuse_incomplete


def run(chosen: argparse.Namespace) -> int:
    kernel = load_kernel(chosen.kernel, programs=True)
    refuse_incomplete(kernel, chosen)
    if hasattr(type(kernel), "__pykern_program__"):
        args, keywords = arguments_of(kernel, chosen.args), {"target": chosen.target}
    else:
        args, keywords = call_of(kernel, chosen)
    lowered: Lowered = kernel.lower(*args, **keywords)
    if chosen.output:
        write(chosen.output, lowered.compile().binary)
    if chosen.stage is not None or chosen.diff:
        try:
            print(
                lowered.as_text(_stage(chosen.stage))
                if chosen.stage is not None
                else lowered.diff(*map(_stage, chosen.diff))
            )
        except KeyError as error:
            raise UsageError(str(error.args[0])) from None
    elif chosen.asm:
        print(lowered.compile().asm())
    elif chosen.json:
        print(json.dumps(_as_json(lowered), indent=1))
    else:
        print(lowered)
        print("  ".join(f"{name} {value}" for name, value in lowered.compile().resources.items()))
    return 0


def _stage(text: str) -> str | int:
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else text


def call_of(
    kernel: Any, chosen: argparse.Namespace, valued: tuple[str, ...] = ()
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments and keywords of ``kernel.lower`` that were chosen."""
    keywords: dict[str, Any] = {
        "ndrange": lengths(chosen.ndrange, f"--ndrange {chosen.ndrange}", 'write --ndrange "?,?" or "128,?"'),
        "target": chosen.target,
        "debug": chosen.debug,
    }
    if chosen.workgroup:
        keywords["workgroup"] = _sizes(chosen.workgroup)
    return arguments_of(kernel, chosen.args, valued), keywords


def derivative_of(kernel: Any, args: list[Any]) -> tuple[Any, list[Any]]:
    """The derivative of a kernel, and its arguments: arrays of floats have shadows. Of a program the gradient by
    these."""
    from pykern.derivatives.autodiff import Dup, autodiff  # here: compiling alone differentiates nothing
    from pykern.derivatives.gradients import grad

    real = [isinstance(a, Spec) and a.dtype.name.startswith(("f", "bf")) for a in args]
    if hasattr(type(kernel), "__pykern_program__"):
        return grad(kernel, tuple(n for n, is_real in enumerate(real) if is_real)), args
    return autodiff(kernel), [Dup(a, a) if is_real else a for a, is_real in zip(args, real, strict=True)]


def load_kernel(path: str, programs: bool = False) -> Any:
    """The kernel of ``FILE.py::NAME``, with `programs` or a program. Raises `UsageError` where there is none."""
    file, _, name = path.partition("::")
    if name and not os.path.exists(file) and os.path.isfile(f"{file}.py"):
        file += ".py"
    module = imported(file, "write FILE.py::KERNEL")
    from pykern.api.kernel import KernelBase

    def fits(value: Any) -> bool:
        return isinstance(value, KernelBase) or (programs and hasattr(type(value), "__pykern_program__"))

    found = getattr(module, name, None)
    if not fits(found):
        names = [n for n, v in vars(module).items() if fits(v)]
        near = get_close_matches(name, names, 1)
        there = f"there are {', '.join(f'{file}::{n}' for n in names) or 'none'}"
        reason = f"`{file}` has no kernel `{name}`" if name else f"which kernel of `{file}`?"
        raise UsageError(reason, hint=f"did you mean `{near[0]}`? {there}" if near else there)
    return found


def _sizes(text: str) -> tuple[int, ...]:
    """The lengths of a workgroup."""
    hint = "write --workgroup 16,16"
    found = lengths(text, f"--workgroup {text}", hint)
    if None in found:
        raise UsageError(f"--workgroup {text}: every length of a workgroup is known", hint=hint)
    return tuple(n for n in found if n is not None)


def _as_json(lowered: Lowered) -> dict[str, Any]:
    compiled = lowered.compile()
    return {
        "kernel": lowered.artifact.kernel,
        "target": lowered.artifact.target,
        "resources": compiled.resources,
        "stages": [{"name": s.name, "kind": s.kind, "ms": s.ms, "text": s.text} for s in lowered.stages],
    }
