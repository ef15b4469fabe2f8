"""A file that shows a crash of the compiler again: one Python script with the kernel inside.

Comes in: a `KernelSource` and what is known of the crash. Goes out: the path of the script, which
compiles the kernel in its own process, so that a debugger can look on.
"""

from __future__ import annotations

import pickle
import pprint
import re
from collections.abc import Sequence
from typing import Any

import pykern.source
from pykern.compiler.versions import versions
from pykern.program_source import ProgramSource
from pykern.settings import Settings
from pykern.source import KernelSource
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


def write_reproducer(
    source: KernelSource | ProgramSource, what: str, words: Sequence[str], settings: Settings
) -> str | None:
    """Write the script and return its path, or None where no directory takes it."""
    name = f"{re.sub(r'[^A-Za-z0-9_]', '_', source.function.name)[:60]}-{source.key('')[:8]}.py"
    text = reproducer_text(source, what, words)
    return write_report(name, text.encode("utf-8", "surrogateescape"), settings)


def reproducer_text(source: KernelSource | ProgramSource, what: str, words: Sequence[str] = ()) -> str:
    """The script."""
    said = "".join(f"          {word}\n" for word in words)
    facts = {
        "kernel": source.function.name,
        "place": f"{source.function.file}, line {source.function.first_line}",
        "target": source.target,
        "what": what,
        "versions": versions(),
        "words": f"it said\n{said}" if said else "",
    }
    quoted = {name: _in_docstring(value) for name, value in facts.items()}
    return _SCRIPT.format(definition=_definition(source), **quoted)


def _definition(source: KernelSource | ProgramSource) -> str:
    """Python that makes `SOURCE`: legible, or a pickle where a value has no such form."""
    names: dict[str, Any] = {"inf": float("inf"), "nan": float("nan"), **vars(pykern.source)}
    text = pprint.pformat(source, width=100, sort_dicts=False)
    try:
        legible = repr(eval(text, names)) == repr(source)  # our own text, only to see that it is right
    except (SyntaxError, NameError, TypeError, ValueError):
        legible = False
    if legible:
        used = sorted(name for name in _classes() if re.search(rf"\b{name}\(", text))
        imports = f"from pykern.source import {', '.join(used)}\n\ninf, nan = float('inf'), float('nan')"
        return f"{imports}\n\nSOURCE = {text}"
    return f"import pickle\n\nSOURCE = pickle.loads({pickle.dumps(source)!r})"


def _classes() -> list[str]:
    return [name for name, value in vars(pykern.source).items() if isinstance(value, type)]


def _in_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
