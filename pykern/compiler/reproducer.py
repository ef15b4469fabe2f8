"""A file that shows a crash of the compiler again: one Python script with the kernel inside.

Comes in: a `KernelSource` and what is known of the crash. Goes out: the path of the script, which
compiles the kernel in its own process, so that a debugger can look on.
"""

from __future__ import annotations

import dataclasses
import pickle
import pprint
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import pykern.data.source
from pykern.compiler.versions import versions
from pykern.data.runtime_source import Source
from pykern.data.source import FunctionSource, reached
from pykern.environment.settings import Settings
from pykern.storage.reports import write_report

_SCRIPT = '''\
"""Compiles one kernel as pykern did when its compiler crashed.

kernel    {kernel}  ({place})
target    {target}
crash     {what}
versions  {versions}
{words}
Run it with the Python that has pykern; it compiles in this process, which may die of it.
"""

{definition}

if __name__ == "__main__":
    from pykern.compiler.driver import compile_source

    artifact = compile_source(SOURCE)
    print("compiled without a crash:", artifact.entry, len(artifact.binary), "bytes")
'''


def write_reproducer(source: Source, what: str, words: Sequence[str], settings: Settings) -> str | None:
    """Write the script and return its path, or None where no directory takes it."""
    name = f"{re.sub(r'[^A-Za-z0-9_]', '_', source.function.name)[:60]}-{source.key('')[:8]}.py"
    text = reproducer_text(source, what, words)
    return write_report(name, text.encode("utf-8", "surrogateescape"), settings)


def reproducer_text(source: Source, what: str, words: Sequence[str] = ()) -> str:
    """The script."""
    said = "".join(f"          {word}\n" for word in words)
    facts = {
        "kernel": source.function.name,
        "place": f"{source.function.file}, line {source.function.first_line}",
        "target": str(source.target),
        "what": what,
        "versions": versions(),
        "words": f"it said\n{said}" if said else "",
    }
    quoted = {name: _in_docstring(value) for name, value in facts.items()}
    return _SCRIPT.format(definition=_definition(source), **quoted)


def _definition(source: Source) -> str:
    """Python that makes `SOURCE`: legible, or a pickle where a value has no such form."""
    functions = {id(f): (f"FUNCTION_{n}", f) for n, f in enumerate(reached(source.function))}
    text = "".join(
        f"{name} = {_made(function, functions, known=False)}\n\n" for name, function in functions.values()
    )
    text += f"SOURCE = {_made(source, functions)}"
    names: dict[str, Any] = {"inf": float("inf"), "nan": float("nan"), **vars(pykern.data.source)}
    try:
        exec(text, names)  # our own text, only to see that it is right
        legible = repr(names["SOURCE"]) == repr(source)
    except (SyntaxError, NameError, TypeError, ValueError):
        legible = False
    if legible:
        used = sorted(name for name in _classes() if re.search(rf"\b{name}\(", text))
        imports = f"from pykern.data.source import {', '.join(used)}\n\ninf, nan = float('inf'), float('nan')"
        return f"{imports}\n\n{text}"
    return f"import pickle\n\nSOURCE = pickle.loads({pickle.dumps(source)!r})"


def _made(value: Any, functions: dict[int, tuple[str, FunctionSource]], known: bool = True) -> str:
    """Python that makes a value. Functions have names, under which they are `known`: many may call one."""
    if known and id(value) in functions:
        return functions[id(value)][0]
    if dataclasses.is_dataclass(type(value)):
        fields = [f"{f.name}={_made(getattr(value, f.name), functions)}" for f in dataclasses.fields(value)]
        return _over_lines(f"{type(value).__name__}(", fields)
    if type(value) is tuple and value:
        return _over_lines("(", [_made(item, functions) for item in value], ",")
    return pprint.pformat(value, width=92)


def _over_lines(start: str, items: list[str], comma: str = "") -> str:
    """The items on one line where there is room, else each on lines of its own."""
    one = f"{start}{', '.join(items)}{comma if len(items) == 1 else ''})"
    if len(one) <= 100 and "\n" not in one:
        return one
    return start + "".join(f"\n{textwrap.indent(item, '    ')}," for item in items) + "\n)"


def _classes() -> list[str]:
    return [name for name, value in vars(pykern.data.source).items() if isinstance(value, type)]


def _in_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
