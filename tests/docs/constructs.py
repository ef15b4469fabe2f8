"""What a kernel may be written in, construct by construct; the language table of the documentation is made from it.

`constructs.txt` has a row after each `##`: its name, the suite that goes through its values and corners, keywords of
the launch, and the body of a kernel `k(out, x, n, p)` over 8 work-items. `i` is the index, `out` and `x` are f64 arrays
of 8 elements, `n` is an i32 array of 8, `p` a named tuple of two numbers. `test_language` runs it on the CPU and
compares it with plain Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

TEXT = Path(__file__).with_name("constructs.txt")


@dataclass(frozen=True)
class Construct:
    """A row of the table. `launch` are keywords of the launch beside `ndrange`."""

    name: str
    body: str
    more: str
    launch: str = ""


PRELUDE = """
import dataclasses
import math
from typing import NamedTuple

import numpy as np
import pykern as pk

SCALE = 3
WEIGHTS = (0.25, 0.5, 0.25)


class Pair(NamedTuple):
    a: float
    b: float


@pk.func
def twice(v):
    return v + v


@pk.func
def ordered(a, b):
    return (a, b) if a < b else (b, a)


@pk.kernel
def k(out, x, n, p):
    i = pk.index()
"""


def read() -> dict[str, tuple[Construct, ...]]:
    """The rows of `constructs.txt`, group by group."""
    groups: dict[str, tuple[Construct, ...]] = {}
    for group in re.split(r"^# ", TEXT.read_text(), flags=re.MULTILINE)[1:]:
        title, _, rows = group.partition("\n")
        groups[title] = tuple(map(_row, re.split(r"^## ", rows, flags=re.MULTILINE)[1:]))
    return groups


def _row(text: str) -> Construct:
    name, tested, body = text.split("\n", 2)
    more, _, launch = tested.removeprefix("-- ").partition("; ")
    return Construct(name, body.strip("\n"), more, launch)


CONSTRUCTS = read()
