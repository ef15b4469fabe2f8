"""Names of operators: the same in every process, and others where the operator computes something else.

Comes in: a kernel or program, and what its operator is made with. Goes out: a name. PyTorch keeps graphs with such
names on disk, in exported programs and in its cache of compiled graphs, which hold what rules gave.
"""

from __future__ import annotations

import hashlib
import types
from typing import Any

import pykern

_CONSTANT = (bool, int, float, str, bytes, tuple, frozenset, type(None))


def name_of(decorated: Any, *made_with: Any) -> str:
    """The function's name, and a hash of its text and of all else."""
    said = (pykern.__version__, decorated.text.text, decorated.options, *map(_told, made_with))
    return f"{decorated.__name__}_{hashlib.sha256(repr(said).encode()).hexdigest()[:12]}"


def _told(value: Any) -> Any:
    """What a rule does, as far as its code, its constants, and the constants that it captures say."""
    if isinstance(value, dict):
        return [(key, _told(item)) for key, item in value.items()]
    if not isinstance(value, types.FunctionType):
        return repr(value)
    names = value.__code__.co_names
    outside = [value.__globals__.get(n) for n in names]
    captured = [cell.cell_contents for cell in value.__closure__ or ()]
    constants = [repr(v) for v in (*outside, *captured) if isinstance(v, _CONSTANT)]
    return _code(value.__code__), constants, repr(value.__defaults__)


def _code(code: types.CodeType) -> Any:
    inner = [_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return code.co_code.hex(), code.co_names, inner
