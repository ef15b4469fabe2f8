"""A kernel or program as Python source that stands alone: helpers, captured values and types included.

Comes in: a kernel or an array program. Goes out: text that defines it, and what it uses, under the same names.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pykern.capture.function_text import FunctionText, function_text
from pykern.data.locations import parse_definition
from pykern.errors import LaunchError
from pykern.language import from_callable
from pykern.types import ArrayAnnotation, DType, IntentAnnotation, static

OWN = ("pykern", "numpy", "math", "ml_dtypes", "dataclasses", "typing", "collections")
"""Modules that are there wherever pykern is."""


def source_of(kernel: Any) -> str:
    """The text. Raises `LaunchError` for a derivative, whose source is the derivative's caller."""
    if getattr(kernel, "derivatives", ()) or not _is_known(kernel):
        raise LaunchError(
            f"{kernel!r} is a derivative, or no kernel: it has no source of its own",
            hint="write the script of the function that is differentiated, and differentiate in it",
        )
    out = _Source()
    out.define(kernel.__name__, kernel)
    imports = sorted(set(out.imports) - {"import numpy as np", "import pykern as pk"})
    first = ["import numpy as np", "import pykern as pk"]
    return "\n".join([*imports, *([""] if imports else []), *first, "", *out.lines]).rstrip() + "\n"


def _is_known(value: Any) -> bool:
    return any(hasattr(type(value), name) for name in ("__pykern_kernel__", "__pykern_program__"))


@dataclass
class _Source:
    """What has been written so far; a name means one thing."""

    imports: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)

    def define(self, name: str, value: Any) -> None:
        """Make `name` mean `value`."""
        if name in self.known and self.known[name] is value:
            return
        if name in self.known:
            raise LaunchError(
                f"`{name}` means two things in what is to be written",
                hint="give one of the functions another name",
            )
        self.known[name] = value
        text = self._text(name, value)
        if text:
            self.lines += text.splitlines()

    def _text(self, name: str, value: Any) -> str:
        if isinstance(value, types.ModuleType):
            return self._module(name, value)
        if isinstance(value, DType):
            return f"{name} = pk.{_public(value.name)}"
        if value is static:
            return f"{name} = pk.static"
        if isinstance(value, ArrayAnnotation | IntentAnnotation):
            return f"{name} = {annotation(value)}"
        if (language := from_callable(value)) is not None and not isinstance(value, type):
            return f"{name} = pk.{language}" if not hasattr(builtins, name) else ""
        if _is_known(value):
            return self._function(name, value.__wrapped__, value.text, _decorator(value))
        if hasattr(type(value), "__pykern_func__"):
            return self._function(name, value.__pykern_function__, value.text, "@pk.func")
        if isinstance(value, types.FunctionType):
            return self._function(name, value, function_text(value), "")
        if isinstance(value, type):
            return self._class(name, value)
        return f"{name} = {literal(value)}"

    def _module(self, name: str, value: types.ModuleType) -> str:
        root = value.__name__
        if root.split(".")[0] in OWN:
            line = f"import {root}" if root == name else f"import {root} as {name}"
            self.imports.append(line)
        return ""  # what a function takes from another module is written at the function

    def _function(self, name: str, function: Any, text: FunctionText, decorator: str) -> str:
        for path in (*text.paths, *_signature_paths(text)):
            self._use(function, path)
        body = textwrap.dedent(text.text).rstrip()
        alias = f"\n\n\n{name} = {text.name}" if text.name != name else ""
        self.lines.append("")
        return f"\n{decorator}\n{body}{alias}\n" if decorator else f"\n{body}{alias}\n"

    def _use(self, function: Any, path: str) -> None:
        first, *rest = path.split(".")
        value = _lookup(function, first)
        if value is _MISSING or (getattr(builtins, first, _MISSING) is value):
            return
        if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] not in OWN:
            self._member(first, value, rest)
        else:
            self.define(first, value)

    def _member(self, name: str, module: types.ModuleType, rest: list[str]) -> None:
        """``settings.N`` of a module that will not be there: a namespace takes its place."""
        if not rest or not hasattr(module, rest[0]):
            return
        if name not in self.known:
            self.known[name] = module
            self.imports.append("import types")
            self.lines += ["", f"{name} = types.SimpleNamespace()"]
        inner = f"{name}_{rest[0]}"
        if inner not in self.known:
            self.define(inner, getattr(module, rest[0]))
            self.lines.append(f"{name}.{rest[0]} = {inner}")

    def _class(self, name: str, value: type) -> str:
        if value.__module__.split(".")[0] in OWN:
            self.imports.append(f"from {value.__module__} import {value.__qualname__} as {name}")
            return ""
        if dataclasses.is_dataclass(value):
            self.imports.append("import dataclasses")
            fields = [f"    {f.name}: object" for f in dataclasses.fields(value)]
            return "\n".join(["", "", "@dataclasses.dataclass", f"class {name}:", *fields, "", ""])
        if issubclass(value, tuple) and hasattr(value, "_fields"):
            self.imports.append("import collections")
            return f"{name} = collections.namedtuple({name!r}, {[*vars(value)['_fields']]!r})"
        return f"{name} = None  # a class that kernels cannot use: {value.__qualname__}"


_MISSING = object()


def _lookup(function: Any, name: str) -> Any:
    code = function.__code__
    if name in code.co_freevars:
        try:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return _MISSING
    return function.__globals__.get(name, getattr(builtins, name, _MISSING))


def _signature_paths(text: FunctionText) -> Iterator[str]:
    """Dotted names in annotations and defaults."""
    node = parse_definition(text.text)
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    parts = [a.annotation for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    for part in (*parts, *arguments.defaults, *arguments.kw_defaults, node.returns):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            part = ast.parse(part.value, mode="eval").body
        for inner in ast.walk(part) if part is not None else ():
            if isinstance(inner, ast.Name):
                yield inner.id


def _decorator(value: Any) -> str:
    options = [f"{n}={v!r}" for n in ("debug", "fastmath") if (v := getattr(value.options, n))]
    if getattr(type(value), "__pykern_program__", False):
        options += [f"donate_argnums={value.donate_argnums!r}"] if value.donate_argnums else []
        return f"@pk.jit({', '.join(options)})" if options else "@pk.jit"
    options += [f"{n}={v!r}" for n in ("workgroup", "ndrange") if (v := getattr(value, n)) is not None]
    return f"@pk.kernel({', '.join(options)})" if options else "@pk.kernel"


def _public(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype


def annotation(value: Any) -> str:
    """An annotation as it is written."""
    if isinstance(value, IntentAnnotation):
        kind = {(True, False): "In", (False, True): "Out", (True, True): "InOut"}[value.reads, value.writes]
        return f"pk.{kind}[{annotation(value.of)}]"
    if isinstance(value, ArrayAnnotation):
        dims = ", ".join(":" if n is None else str(n) for n in value.shape)
        return f"pk.{_public(value.dtype.name)}[{dims}]"
    return f"pk.{_public(value.name)}"


def literal(value: Any) -> str:
    """A constant as it is written; None with a remark where a kernel could not use the value anyway."""
    if isinstance(value, np.generic):
        return f"np.dtype({value.dtype.name!r}).type({value.item()!r})".replace("nan", "np.nan").replace(
            "inf", "np.inf"
        )
    if isinstance(value, float):
        return (
            f"float({str(value)!r})"
            if value != value or value in (float("inf"), -float("inf"))
            else repr(value)
        )
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"({''.join(f'{literal(item)}, ' for item in value)})"
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    return f"None  # {type(value).__name__}, which kernels cannot use"
