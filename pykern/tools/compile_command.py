"""``pykern compile FILE.py::KERNEL``: every stage of a kernel or an array program, without running it."""

from __future__ import annotations

import argparse
import json
import re
from difflib import get_close_matches
from typing import Any

from pykern.errors import KernelTypeError, LaunchError
from pykern.lowered import Lowered, spec
from pykern.tools.output import write
from pykern.types import BY_NAME, ArrayAnnotation, IntentAnnotation
from pykern.user_file import imported


def run(chosen: argparse.Namespace) -> int:
    kernel = load_kernel(chosen.kernel, programs=True)
    if hasattr(type(kernel), "__pykern_program__"):
        args, keywords = arguments_of(kernel, chosen.args), {"target": chosen.target}
    elif chosen.ndrange:
        args, keywords = call_of(kernel, chosen)
    else:
        raise LaunchError(f"`{chosen.kernel}` is a kernel", hint="say how many work-items: --ndrange 128,?")
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
            raise LaunchError(str(error.args[0])) from None
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


def call_of(kernel: Any, chosen: argparse.Namespace) -> tuple[list[Any], dict[str, Any]]:
    """The arguments and keywords of ``kernel.lower`` that were chosen."""
    keywords: dict[str, Any] = {
        "ndrange": _lengths(chosen.ndrange, f"--ndrange {chosen.ndrange}", "write --ndrange 128,? or ?"),
        "target": chosen.target,
        "debug": chosen.debug,
    }
    if chosen.workgroup:
        keywords["workgroup"] = _sizes(chosen.workgroup)
    return arguments_of(kernel, chosen.args), keywords


def load_kernel(path: str, programs: bool = False) -> Any:
    """The kernel of ``FILE.py::NAME``, with `programs` or a program. Raises `LaunchError` where there is none."""
    file, _, name = path.partition("::")
    module = imported(file, "write FILE.py::KERNEL")
    from pykern.kernel import KernelBase

    def fits(value: Any) -> bool:
        return isinstance(value, KernelBase) or (programs and hasattr(type(value), "__pykern_program__"))

    found = getattr(module, name, None)
    if not fits(found):
        names = [n for n, v in vars(module).items() if fits(v)]
        near = get_close_matches(name, names, 1)
        there = f"there are {', '.join(f'{file}::{n}' for n in names) or 'none'}"
        reason = f"{file} has no kernel `{name}`" if name else f"`{file}` names no kernel"
        raise LaunchError(reason, hint=f"did you mean `{near[0]}`? {there}" if near else there)
    return found


def arguments_of(kernel: Any, types: str) -> list[Any]:
    """Specs, one a parameter: of ``--args``, else of the annotations."""
    texts = types.split()
    names = list(kernel.signature.parameters)
    if texts and len(texts) != len(names):
        raise KernelTypeError(
            f"--args gives {len(texts)} types for {len(names)} parameters: {', '.join(names)}",
            hint="give one for each, with spaces between: 'f32[?,?] f32[128] f64 int'",
        )
    if texts:
        return [_from_text(t) for t in texts]
    missing = [n for n in names if n not in kernel.annotations]
    if missing:
        raise KernelTypeError(
            f"`{missing[0]}` has no annotation", hint="give --args 'f32[?] ...', one a parameter"
        )
    return [_from_annotation(kernel.annotations[n]) for n in names]


def _from_annotation(annotation: Any) -> Any:
    inner = annotation.of if isinstance(annotation, IntentAnnotation) else annotation
    return spec(inner.shape, inner.dtype) if isinstance(inner, ArrayAnnotation) else inner


def _from_text(text: str) -> Any:
    match = re.fullmatch(r"(\w+)(?:\[([^\]]*)\])?", text)
    if match is None or match[1] not in BY_NAME:
        raise KernelTypeError(
            f"`{text}` is no type", hint=f"write one of {', '.join(BY_NAME)}, or f32[?,128]"
        )
    dtype = BY_NAME[match[1]]
    if match[2] is None:
        return dtype
    return spec(
        _lengths(match[2], f"--args {text}", "write f32[?,128]: a length, or ? where it is open"), dtype
    )


def _lengths(text: str, where: str, hint: str) -> tuple[int | None, ...]:
    """Lengths with commas between; None for one that is open."""
    found = []
    for item in map(str.strip, text.split(",")):
        if item not in ("?", ":") and not re.fullmatch(r"[0-9]{1,19}", item):
            raise LaunchError(f"{where}: `{item}` is no length", hint=hint)
        found.append(None if item in ("?", ":") else int(item))
    return tuple(found)


def _sizes(text: str) -> tuple[int, ...]:
    """The lengths of a workgroup."""
    hint = "write --workgroup 16,16"
    found = _lengths(text, f"--workgroup {text}", hint)
    if None in found:
        raise LaunchError(f"--workgroup {text}: every length of a workgroup is known", hint=hint)
    return tuple(n for n in found if n is not None)


def _as_json(lowered: Lowered) -> dict[str, Any]:
    compiled = lowered.compile()
    return {
        "kernel": lowered.artifact.kernel,
        "target": lowered.artifact.target,
        "resources": compiled.resources,
        "stages": [{"name": s.name, "kind": s.kind, "ms": s.ms, "text": s.text} for s in lowered.stages],
    }
