"""Programs that are given as text: what they define, with lines that errors can show.

Comes in: the text of a program. Goes out: its names.
"""

from __future__ import annotations

import importlib.util
import linecache
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any


def defined(text: str, file: str, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a text defines, where `names` are given; `file`, such as ``<chain>``, is not on disk."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return _run(text, file, names)


def written(path: Path, text: str, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a text defines, where `names` are given, once it is written to the file `path`."""
    path.write_text(text)
    return _run(text, str(path), names)


def load(text: str, folder: Path) -> ModuleType:
    """The module of a text, in a file of the folder that no other text has."""
    return imported(folder / f"loaded_{zlib.crc32(text.encode()):08x}.py", text)


def imported(path: Path, text: str | None = None) -> ModuleType:
    """The module of the file `path`, to which the text is written before where one is given."""
    if text is not None:
        path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(text: str, file: str, names: Mapping[str, Any] | None) -> dict[str, Any]:
    found = dict(names or {})
    exec(compile(text, file, "exec", dont_inherit=True), found)
    return found
