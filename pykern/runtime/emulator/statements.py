"""PTX cut into statements, and operands at their commas.

Comes in: text without comments. Goes out: statements, labels, braces and directives, each without its semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINES = (".loc ", ".file", ".version", ".target", ".address_size", ".maxntid", ".reqntid", ".minnctapersm")
"""Directives that end with their line."""


def statements(text: str) -> Iterator[str]:
    """Statements, labels, braces and directives, without their semicolons."""
    held = ""
    for line in text.split("\n"):
        line = " ".join(line.split())
        if not line:
            continue
        if not held and line.startswith(_LINES):
            yield line
            continue
        if not held and line.startswith("{") and line != "{":  # a scope of inline assembly
            yield "{"
            line = line[1:].strip()
        held = f"{held} {line}".strip()
        if ".entry" in held or ".func" in held:
            if (line not in ("{",) and not line.endswith((")", ";"))) or held.count("(") != held.count(")"):
                continue
            yield held.removesuffix("{").strip()
            held = ""
            if line == "{":
                yield "{"
            continue
        if held in ("{", "}") or re.fullmatch(r"[\w$]+:", held):
            yield held
            held = ""
            continue
        while ";" in held:
            one, _, held = held.partition(";")
            yield one.strip()
            held = held.strip()
        if held in ("{", "}"):
            yield held
            held = ""


def split_operands(text: str) -> tuple[str, ...]:
    """Split at the commas outside of brackets."""
    found, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    last = text[begin:].strip()
    return (*found, last) if last else tuple(found)


def without_linkage(text: str) -> str:
    """A declaration of memory without what tells linkers about it."""
    return re.sub(r"^(?:\.(?:visible|extern|weak|internal|common)\s+)+", "", text)
