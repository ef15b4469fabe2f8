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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from extensions.markdown import docstring, fence, table

TESTS = Path(__file__).resolve().parents[2] / "lit_tests"
LONGEST = 70
"""Lines of an example that are shown, and of a part of a test that is tried."""
TRIED = 12
"""Functions of the tests of a pass that are run to find the shortest example."""


@dataclass(frozen=True)
class Example:
    """A part of a test, the passes that are run over it, the last of them for the sake of the example."""

    test: Path
    passes: tuple[str, ...]
    before: str
    after: str = ""

    @property
    def command(self) -> str:
        """How to see it: flags, or a pipeline where they say less."""
        flags = [f"--{step.replace('{', '=').rstrip('}')}" for step in self.passes]
        if any(mark in flag for flag in flags for mark in "( "):
            return f'pykern-opt --pass-pipeline="builtin.module({",".join(self.passes)})"'
        return f"pykern-opt {' '.join(flags)}"


def page() -> str:
    from pykern.passes.old_names import OLD_NAMES
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
    old = [(f"`{before}`", f"`{now}`") for before, now in OLD_NAMES.items()]
    parts += ["## Deprecated names", "They go with the next release.", table(("before", "now"), old)]
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
        parts.append(f"From `{found.test.relative_to(TESTS.parent)}`, by `{found.command}`:")
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
    """The shortest part of the tests of a pass that the pass changes; None where there is none."""
    found = None
    for candidate in _candidates(name)[:TRIED]:
        if found is not None and _length(candidate) >= _length(found):
            break  # sorted by length: what comes out only adds to it
        tried = _tried(candidate, name)
        if tried is not None and (found is None or _length(tried) < _length(found)):
            found = tried
    return found


def _length(found: Example) -> int:
    return len(found.before.splitlines()) + len(found.after.splitlines())


def _candidates(name: str) -> list[Example]:
    """Parts of the tests that run the pass, those first that need fewer passes before it, then the shorter ones."""
    found = []
    for test, parts, runs in _tests():
        for steps in runs:
            names = [re.split(r"[{=]", step)[0] for step in steps]
            if name in names:
                end = names.index(name) + 1
                while end < len(steps) and steps[end] in ("canonicalize", "cse"):
                    end += 1  # they clear up behind it
                found += [Example(test, steps[:end], part) for part in parts]
    return sorted(found, key=lambda e: (e.passes[0].split("{")[0] != name, len(e.before.splitlines())))


@functools.cache
def _tests() -> tuple[tuple[Path, tuple[str, ...], tuple[tuple[str, ...], ...]], ...]:
    """Every lit test: its file, its parts, and the passes of its RUN lines."""
    found = []
    for test in sorted(TESTS.rglob("*.mlir")):
        if "Output" not in test.parts:
            text = test.read_text()
            chunks = re.split(r"^// -----.*$", text, flags=re.MULTILINE)
            parts = tuple(
                part for chunk in chunks for part in _parts(chunk) if len(part.splitlines()) <= LONGEST
            )
            found.append((test, parts, tuple(_runs(text))))
    return tuple(found)


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """The passes of the RUN lines that print what comes out."""
    from pykern.passes.registry import split

    for line in re.findall(r"^// RUN: %pykern-opt %s (.*?)(?:\|.*)?$", text, re.MULTILINE):
        if "%" in line or "--verify-diagnostics" in line:
            continue
        steps: list[str] = []
        for option in shlex.split(line):
            if option.startswith("--pass-pipeline="):
                pipeline = option.partition("=")[2]
                steps += split(pipeline.removeprefix("builtin.module(").removesuffix(")"))
            elif option.startswith("--") and not option.startswith(("--split-input-file", "--mlir-print")):
                name, _, options = option[2:].partition("=")
                steps.append(f"{name}{{{options}}}" if options else name)
        yield tuple(steps)


def _parts(chunk: str) -> list[str]:
    """Top-level operations of a test without what FileCheck reads, each with its aliases; and all of them together."""
    lines = [
        line for line in chunk.splitlines() if not re.match(r"\s*//\s*([A-Z0-9-]+(-[A-Z]+)*:|RUN)", line)
    ]
    text = "\n".join(lines) + "\n"
    aliases = re.findall(r"^([#!]\w+) = .*$", text, re.MULTILINE)
    operation = r"^(?:func\.func|module|gpu\.module|llvm\.func)\b.*?^}\n?"
    found = []
    for single in re.findall(operation, text, re.MULTILINE | re.DOTALL):
        used = [
            line
            for line in lines
            for a in aliases
            if line.startswith(f"{a} =") and re.search(rf"{a}\b", single)
        ]
        found.append("\n".join([*used, single.strip()]))
    whole = re.sub(r"\n{3,}", "\n\n", text).strip()
    return [*found, *([whole] if whole and [whole] != found else [])]


def _tried(candidate: Example, name: str) -> Example | None:
    """The example with what comes out; None where this part does not stand alone, or stays as it is."""
    place = [re.split(r"[{=]", step)[0] for step in candidate.passes].index(name)
    before = candidate.before if place == 0 else _run(candidate.before, candidate.passes[:place])
    after = before and _run(before, candidate.passes[place:])
    if not after or after == _run(before, candidate.passes[place + 1 :]):
        return None
    return dataclasses.replace(candidate, before=before, after=after)


def _run(text: str, passes: tuple[str, ...]) -> str:
    """What pykern-opt prints; nothing where it fails."""
    from pykern.tools import opt

    out, told = io.StringIO(), io.StringIO()
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text + "\n")
        file.flush()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
            code = opt.alone([file.name, f"--pass-pipeline=builtin.module({','.join(passes)})"])
    return _unwrapped(out.getvalue()) if code == 0 else ""


def _unwrapped(text: str) -> str:
    """Without the module that the printer puts around."""
    lines = text.rstrip().splitlines()
    if "module {" in lines and lines[-1] == "}":
        start = lines.index("module {")
        lines = [*lines[:start], *(line.removeprefix("  ") for line in lines[start + 1 : -1])]
    return "\n".join(lines)
