"""A module in two parts, whose machine code two threads make at once.

Comes in: LLVM IR text. Goes out: which of its functions the second part has. Only functions that are never inlined can
stand elsewhere than their callers; what they may inline, both parts have. Nests of an array program are such functions,
so that products and longer programs come in two parts, and most kernels in one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pykern.environment.machine import processors
from pykern.passes.analysis.cost_model.code_size import FEWEST_THREAD_LINES

_NAME = re.compile(r'@("(?:[^"\\]|\\.)*"|[\w.$-]+)\(')
_GROUP = re.compile(r" (#\d+)(?: [^{]*)?\{$")
_APART = re.compile(r"^attributes (#\d+) = \{[^}]*\bnoinline\b", re.MULTILINE)
_SHARED = re.compile(r"^@.* = (?!.*\bconstant\b).*\bglobal\b", re.MULTILINE)


@dataclass
class _Function:
    """As far as its text tells."""

    apart: bool
    """Whether it is never inlined."""
    lines: int = 0
    calls: set[str] = field(default_factory=set)


def second_part(text: str, extra: tuple[str, ...]) -> tuple[str, ...]:
    """Names of functions that another thread should make; none where it is not worth it, or not possible.

    `extra` are texts that are linked to the first part only: what calls them stays there.
    """
    if processors() < 2 or _SHARED.search(text):
        return ()
    functions = _functions(text)
    for each in functions.values():
        _add_what_is_inlined(each, functions)
    fixed = {name for name, each in functions.items() if each.apart}
    fixed |= {name for each in extra for name in _functions(each)}
    loose = {name: each.lines for name, each in functions.items() if each.apart and not each.calls & fixed}
    first = sum(each.lines for name, each in functions.items() if name not in loose)
    second, chosen = 0, []
    for name, lines in sorted(loose.items(), key=lambda item: -item[1]):
        if second < first:
            second += lines
            chosen.append(name)
        else:
            first += lines
    return tuple(chosen) if min(first, second) >= FEWEST_THREAD_LINES else ()


def _add_what_is_inlined(function: _Function, functions: dict[str, _Function]) -> None:
    """What the functions that may be inlined call, it calls."""
    waiting = list(function.calls)
    while waiting:
        called = functions.get(waiting.pop())
        if called is not None and not called.apart:
            waiting += called.calls - function.calls
            function.calls |= called.calls


def _functions(text: str) -> dict[str, _Function]:
    """Those that a text defines."""
    apart = set(_APART.findall(text))
    found: dict[str, _Function] = {}
    function = None
    for line in text.splitlines():
        if line.startswith("define "):
            name, group = _NAME.search(line), _GROUP.search(line)
            assert name is not None, line
            function = found[_plain(name[1])] = _Function(group is not None and group[1] in apart)
        elif line == "}":
            function = None
        elif function is not None:
            function.lines += 1
            if "@" in line:
                function.calls.update(map(_plain, _NAME.findall(line)))
    return found


def _plain(name: str) -> str:
    return name.strip('"')
