"""``--args``: the types of a call as text, and as specs.

Comes in: ``"f32[?,?] f32[128] f64 int"``, with spaces or commas between, names as pykern or NumPy has them, values for
`pk.static` parameters; or the annotations of the kernel. Goes out: specs, types and values, one a parameter.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from pykern.api.user_file import UsageError
from pykern.launching.specs import spec
from pykern.types import BY_NAME, COMPLEX, ArrayAnnotation, DType, IntentAnnotation, by_numpy_name, static

_ARGUMENT = re.compile(r"""(?:'[^']*'|"[^"]*"|\([^)]*\)|[^\s,\[(])+(?:\[[^\]]*\])?|\[[^\]]*\]""")
"""A type with its lengths, a quoted string, or a tuple; what stands between is spaces and commas."""
_TYPE = re.compile(r"(?:(?:pk|np|numpy)\.)?(\w+)(?:\[([^\]]*)\])?")


def arguments_of(kernel: Any, types: str, valued: tuple[str, ...] = ()) -> list[Any]:
    """Specs, one a parameter: of ``--args``, else of the annotations. What is `valued` gets its value elsewhere."""
    texts = _ARGUMENT.findall(types)
    annotations, names = kernel.annotations, list(kernel.signature.parameters)
    if not texts:
        return [_from_annotation(name, annotations[name]) for name in names]
    if len(texts) != len(names):
        raise UsageError(
            f"--args gives {len(texts)} {'type' if len(texts) == 1 else 'types'} for "
            f"{len(names)} parameters: {', '.join(names)}",
            hint="give one for each: --args 'f32[?,?] f32[128] f64 int'",
        )
    return [
        _value(name, text) if annotations.get(name) is static and name not in valued else _from_text(text)
        for name, text in zip(names, texts, strict=True)
    ]


def _value(name: str, text: str) -> Any:
    """What a `pk.static` parameter is: a number, a string, True, None, or a tuple of them."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise UsageError(
            f"--args {text}: `{name}` is pk.static, and known when compiling",
            hint="give its value in place of a type: 3, 0.5, True, 'text'",
        ) from None


def _from_annotation(name: str, annotation: Any) -> Any:
    inner = annotation.of if isinstance(annotation, IntentAnnotation) else annotation
    if inner is static:
        raise UsageError(
            f"`{name}` is pk.static, and known when compiling",
            hint="give all arguments, and its value, with --args",
        )
    return spec(inner.shape, inner.dtype) if isinstance(inner, ArrayAnnotation) else inner


def _from_text(text: str) -> Any:
    match = _TYPE.fullmatch(text)
    dtype = _named(match[1]) if match else None
    if match is None or dtype is None:
        raise UsageError(
            f"--args: `{text}` is no type",
            hint=f"write one of {', '.join(BY_NAME)}, complex64, complex128, or an array of it: f32[?,128]",
        )
    if match[2] is None:
        return dtype
    return spec(
        lengths(match[2], f"--args {text}", "write f32[?,128]: a length, or ? where it is open"), dtype
    )


def _named(name: str) -> DType | None:
    """The type that is called so, here or by NumPy."""
    whole = {f"complex{dtype.bits}": dtype for dtype in COMPLEX.values()}
    return BY_NAME.get(name) or by_numpy_name(name) or whole.get(name)


def lengths(text: str, where: str, hint: str) -> tuple[int | None, ...]:
    """Lengths with commas between; None for one that is open."""
    found = []
    for item in map(str.strip, text.strip("() ").split(",")):
        if item not in ("?", ":") and not re.fullmatch(r"[0-9]{1,19}", item):
            raise UsageError(f"{where}: `{item}` is no length", hint=hint)
        found.append(None if item in ("?", ":") else int(item))
    return tuple(found)
