"""Functions of as many statements as wanted, for the cost of compiling: the same text for pykern and its peers.

Comes in: a number of statements. Goes out: source text that `made` turns into a function. Each statement needs the one
before, so that nothing can be left out.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping
from typing import Any


def statements(count: int, x: str) -> str:
    """Alternating updates of two values; `x` is how the input is written."""
    lines = []
    for k in range(count):
        lines.append(f"    a = a * 0.5 + {x} * {k % 7 + 1}.0" if k % 2 == 0 else "    b = b * 0.25 + a")
    return "\n".join(lines)


def kernel_text(count: int) -> str:
    """A kernel over one element."""
    head = "def chain(y, x):\n    i = pk.index()\n    a = x[i]\n    b = a\n"
    return f"{head}{statements(count, 'x[i]')}\n    y[i] = a + b\n"


def memory_text(count: int) -> str:
    """A kernel whose every statement reads and writes an array."""
    lines = "\n".join(f"    y[i] = y[i] * 0.5 + x[i] * {k % 7 + 1}.0" for k in range(count))
    return f"def chain(y, x):\n    i = pk.index()\n{lines}\n"


def terms(count: int, x: str) -> str:
    """A sum of so many products, in groups: Python's own compiler follows no sum of thousands."""
    each = [f"{x} * {k % 97 + 1}.0" for k in range(count)]
    return " + ".join(f"({' + '.join(each[k : k + 500])})" for k in range(0, count, 500))


def sum_text(count: int) -> str:
    """A kernel of one statement, with so many terms."""
    return f"def chain(y, x):\n    i = pk.index()\n    y[i] = {terms(count, 'x[i]')}\n"


def array_sum_text(count: int, objective: bool = False) -> str:
    """A function of one statement over whole arrays; with `objective` it gives one number."""
    return f"def chain(x):\n    return ({terms(count, 'x')}){'.sum()' if objective else ''}\n"


def array_text(count: int) -> str:
    """A function over whole arrays: an array program, a function of JAX's or torch's."""
    return f"def chain(x):\n    a = x\n    b = a\n{statements(count, 'x')}\n    return a + b\n"


def loop_text(count: int) -> str:
    """The kernel's loop, for Numba."""
    body = statements(count, "x[i]").replace("    ", "        ")
    head = "def chain(y, x):\n    for i in range(len(x)):\n        a = x[i]\n        b = a\n"
    return f"{head}{body}\n        y[i] = a + b\n"


def made(text: str, scope: Mapping[str, Any]) -> Callable:
    """The function `chain` of a text; its source can be looked up, as that of a file."""
    file = f"<generated {hash(text) & 0xFFFFFFFF:x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = dict(scope)
    exec(compile(text, file, "exec"), names)
    return names["chain"]
