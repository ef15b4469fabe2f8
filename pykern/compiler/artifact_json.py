"""Artifacts as JSON: plain data out, plain data in, no code is ever run by reading.

Comes in: dataclasses of `pykern.data.artifact`, tuples, lists, dicts, scalars, bytes.
Goes out: JSON text that gives back an equal value. A dataclass becomes an object with its class name
under ``"$"``; an array is a tuple, and the rarer containers are marked.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import fields
from typing import Any

from pykern.data.access_offsets import AccessOffsets, Offset
from pykern.data.artifact import (
    ArgumentUse,
    Artifact,
    DeviceCode,
    PlanKernel,
    ProgramLayout,
    ProgramPlan,
    Remark,
    ResultSpec,
    Site,
    Stage,
    TapeUse,
)
from pykern.data.launch_bounds import LaunchBounds, LaunchCheck
from pykern.data.locations import SourceSpan

_CLASSES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        AccessOffsets,
        Artifact,
        ArgumentUse,
        DeviceCode,
        LaunchBounds,
        LaunchCheck,
        Offset,
        PlanKernel,
        ProgramLayout,
        ProgramPlan,
        Remark,
        ResultSpec,
        Site,
        SourceSpan,
        Stage,
        TapeUse,
    )
}


def to_json(value: object, omit: tuple[str, ...] = ()) -> str:
    """`value` as JSON; fields of the outermost dataclass named in `omit` are left out.

    Raises TypeError for what is not plain data.
    """
    return json.dumps(_plain(value, omit), separators=(",", ":"))


def from_json(text: str | bytes, **omitted: object) -> Any:
    """The value that `to_json` wrote; `omitted` gives the fields left out there.

    Raises ValueError, TypeError or KeyError where `text` is something else.
    """
    return _restored(json.loads(text), omitted)


def _plain(value: Any, omit: tuple[str, ...] = ()) -> Any:
    if value is None or type(value) in (str, int, float, bool):
        return value
    if type(value) is tuple:
        return [_plain(item) for item in value]
    if type(value) is list:
        return {"$": "list", "items": [_plain(item) for item in value]}
    if type(value) is bytes:
        return {"$": "bytes", "base64": b64encode(value).decode("ascii")}
    if type(value) is dict:
        if all(type(key) is str for key in value) and "$" not in value:
            return {key: _plain(item) for key, item in value.items()}
        return {"$": "dict", "items": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if _CLASSES.get(type(value).__name__) is type(value):
        named = {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in omit}
        return {"$": type(value).__name__, **named}
    raise TypeError(f"{type(value).__name__} {value!r} is not plain data that the cache can keep")


def _restored(data: Any, omitted: dict[str, object] | None = None) -> Any:
    if isinstance(data, list):
        return tuple(_restored(item) for item in data)
    if not isinstance(data, dict):
        return data
    kind = data.pop("$", None)
    if kind is None:
        return {key: _restored(item) for key, item in data.items()}
    if kind == "list":
        return [_restored(item) for item in data["items"]]
    if kind == "bytes":
        return b64decode(data["base64"])
    if kind == "dict":
        return {_restored(key): _restored(item) for key, item in data["items"]}
    return _CLASSES[kind](**{key: _restored(item) for key, item in data.items()}, **(omitted or {}))
