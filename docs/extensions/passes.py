"""Every pass: what it does, its options, and a function before and after it, taken from its lit test."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import io
import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from extensions.markdown import docstring, fence, table

TESTS = Path(__file__).resolve().parents[2] / "lit_tests"
LONGEST = 60
"""Lines of an example that are shown."""
TRIED = 12
"""Functions of the tests of a pass that are run to find the shortest example."""


@dataclass(frozen=True)
class Example:
    """A part of a test, the options of pykern-opt it is run with, and what comes out."""

    test: Path
    options: tuple[str, ...]
    before: str
    after: str = ""


def page() -> str:
    from pykern.passes.registry import known
    from pykern.tools import opt  # noqa: F401  registers the passes of every target

    groups: dict[str, list] = {}
    for name, kind in sorted(known().items()):
        groups.setdefault(_home(kind), []).append((name, kind))
    parts = []
    for home in sorted(groups):
        parts.append(f"## {home}")
        for name, kind in groups[home]:
            parts += _section(name, kind)
    return "\n\n".join(parts)


def _home(kind: type) -> str:
    """The folder of a pass: ``passes/vectorize``."""
    parts = kind.__module__.split(".")[1:-1]
    return "/".join(parts)


def _section(name: str, kind: type) -> list[str]:
    parts = [f"### {name}", docstring(kind)]
    options = [
        (f"`{f.name.replace('_', '-')}`", f"`{f.default!r}`", _comment(kind, f.name))
        for f in dataclasses.fields(kind)
    ]
    if options:
        parts.append(table(("option", "default", ""), options))
    found = example(name)
    if found is not None:
        command = f"pykern-opt {' '.join(map(shlex.quote, found.options))}"
        parts.append(f"From `{found.test.relative_to(TESTS.parent)}`, by `{command}`:")
        parts.append(
            "::::{tab-set}\n:::{tab-item} before\n" + fence(found.before, "mlir") + "\n:::\n"
            ":::{tab-item} after\n" + fence(_shortened(found.after), "mlir") + "\n:::\n::::"
        )
    return parts


def _comment(kind: type, field: str) -> str:
    """The comment or docstring behind a field."""
    source = inspect.getsource(kind)
    match = re.search(
        rf"^    {field}:.*?(?:#\s*(.*))?$(?:\n    \"\"\"(.*?)\"\"\")?", source, re.MULTILINE | re.DOTALL
    )
    return ((match[1] or match[2] or "") if match else "").split("\n\n")[0].replace("``", "`")


def _shortened(text: str) -> str:
    lines = text.splitlines()
    if len(lines) <= LONGEST:
        return text
    return "\n".join([*lines[:LONGEST], f"// … {len(lines) - LONGEST} lines more"])


# -- examples --------------------------------------------------------------------------------------


def example(name: str) -> Example | None:
    """The shortest function of the tests of a pass that the pass changes; None where there is none."""
    candidates = [c for c in _candidates() if f"--{name}" in {o.split("=")[0] for o in c.options}]
    candidates.sort(key=lambda c: (len(c.options), len(c.before.splitlines())))
    best = None
    for candidate in candidates[:TRIED]:
        after = _run(candidate)
        if not after or _same(candidate.before, after):
            continue
        found = dataclasses.replace(candidate, after=after)
        if best is None or _length(found) < _length(best):
            best = found
    return best


def _length(found: Example) -> int:
    return len(found.before.splitlines()) + len(found.after.splitlines())


@functools.cache
def _candidates() -> tuple[Example, ...]:
    found = []
    for test in sorted(TESTS.rglob("*.mlir")):
        if "Output" in test.parts:
            continue
        text = test.read_text()
        pieces = [
            piece
            for chunk in re.split(r"^// -----.*$", text, flags=re.MULTILINE)
            for piece in _functions(chunk)
        ]
        for options in _runs(text):
            found += [Example(test, options, piece) for piece in pieces if len(piece.splitlines()) <= LONGEST]
    return tuple(found)


def _runs(text: str) -> list[tuple[str, ...]]:
    """Options of the RUN lines that print what a pipeline makes."""
    found = []
    for line in re.findall(r"^// RUN: %pykern-opt %s (.*?)(?:\|.*)?$", text, re.MULTILINE):
        options = tuple(o for o in shlex.split(line) if o.startswith("--") and o != "--split-input-file")
        if "--verify-diagnostics" not in options and "%" not in line:
            found.append(options)
    return found


def _functions(chunk: str) -> list[str]:
    """Top-level operations of a test, each without what FileCheck reads; and all of them together."""
    lines = [
        line for line in chunk.splitlines() if not re.match(r"\s*//\s*([A-Z0-9-]+(-[A-Z]+)*:|RUN)", line)
    ]
    text = "\n".join(lines)
    single = re.findall(
        r"^(?:func\.func|module|gpu\.module|llvm\.func)\b.*?^}\n?", text + "\n", re.MULTILINE | re.DOTALL
    )
    whole = re.sub(r"\n{3,}", "\n\n", text).strip()
    return [s.strip() for s in single] + ([whole] if whole and len(single) != 1 else [])


def _run(candidate: Example) -> str:
    """What pykern-opt prints; nothing where this part of the test does not stand alone."""
    from pykern.tools import opt

    out, told = io.StringIO(), io.StringIO()
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(candidate.before + "\n")
        file.flush()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
            code = opt.main([file.name, *candidate.options])
    return _unwrapped(out.getvalue()) if code == 0 else ""


def _unwrapped(text: str) -> str:
    """Without the module that the printer puts around."""
    lines = text.rstrip().splitlines()
    if lines[:1] == ["module {"] and lines[-1] == "}":
        lines = [line.removeprefix("  ") for line in lines[1:-1]]
    return "\n".join(lines)


def _same(before: str, after: str) -> bool:
    from mlir import ir

    from pykern.dialect.context import new_context

    with new_context():
        return str(ir.Module.parse(before)) == str(ir.Module.parse(after))
