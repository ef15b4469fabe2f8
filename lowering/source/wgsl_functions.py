"""Functions that printed WGSL calls, by their names.

Comes in: a name. Goes out: its text and those of the functions that it calls. Read next: `pair_functions`,
`angle_functions`.
"""

from __future__ import annotations

import re

from pykern.lowering.source import angle_functions, pair_functions


def _read(texts: str) -> dict[str, str]:
    """Each function by its name, with the comment above it."""
    return {_name(text): text for text in texts.strip().split("\n\n")}


def _name(text: str) -> str:
    found = re.search(r"fn (\w+)\(", text)
    assert found is not None
    return found[1]


FUNCTIONS = _read(pair_functions.TEXTS) | _read(angle_functions.TEXTS)


def add_function(name: str, texts: dict[str, str]) -> None:
    """Put a function and those that it calls into `texts`."""
    if name in texts:
        return
    for called in re.findall(r"\b(\w+)\(", FUNCTIONS[name]):
        if called in FUNCTIONS and called != name:
            add_function(called, texts)
    texts[name] = FUNCTIONS[name]
