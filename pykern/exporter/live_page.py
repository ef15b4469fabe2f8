"""A page that runs a kernel in a browser, with WebGPU: one file, which asks for nothing but itself.

Comes in: a kernel that was lowered to WGSL, the values of its arguments, and what to show. Goes out: HTML text. Read
next: `web/page.js`, which runs it.
"""

from __future__ import annotations

import base64
import html
import json
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from pykern.api.lowered import Lowered
from pykern.data.source import ArraySpec, KernelSource
from pykern.errors import LaunchError
from pykern.launching.specs import Spec
from pykern.lowering.source.argument_names import named_leaves
from pykern.types import BY_NAME

MOST_GROUPS = 65535
"""Groups along one axis that every device of WebGPU takes in one launch."""
_FIELD = re.compile(r"^ {4}(\w+): ([\w<>]+),$", re.MULTILINE)
_BINDING = re.compile(r"@binding\(\d+\) var<storage, (\w+)> \w+: array<(?:atomic<)?(\w+)")


@dataclass(frozen=True)
class LivePage:
    """What a live page does with its kernel.

    `show` is the array that is drawn: two lengths are an image, a third of 3 or 4 its colours from 0 to 1; with
    `points` the rows ``(x, y)`` are points between -1 and 1. `swap` are pairs of arrays that change places after each
    launch. `sliders` are the ends of numbers' sliders; those without have 0 to twice their value. `steps` are the
    launches between two pictures, `frame` is the number that counts launches, `range` are the values of the darkest
    and the brightest colour.
    """

    show: str = ""
    swap: tuple[tuple[str, str], ...] = ()
    sliders: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    steps: int = 1
    frame: str = ""
    range: tuple[float, float] | None = None
    points: bool = False


def live_page(lowered: Lowered, values: Mapping[str, Any], told: Mapping[str, Any], page: LivePage) -> str:
    """The page. `values` are arguments by name, `told` is the kernel's manifest. Raises `LaunchError` for arrays of
    open lengths, for names that there are not, and for launches that WebGPU does not take at once."""
    source = lowered.source
    assert isinstance(source, KernelSource)
    text = lowered.compile().source
    arrays, words = _arrays(source, values, told, text), _words(source, values, told, text, page)
    names = [each["name"] for each in arrays]
    show = page.show or next(each["name"] for each in arrays if each["written"])
    swap = [[_number(name, names) for name in pair] for pair in page.swap]
    shown = _number(show, names)
    data = {
        "wgsl": text, "entry": lowered.artifact.entry, "arrays": arrays, "words": words, "groups": _groups(lowered),
        # an array that was swapped after a launch is where the other was
        "shown": next((b if a == shown else a for a, b in swap if shown in (a, b)), shown),
        "swap": swap, "steps": page.steps, "frame": page.frame, "range": page.range,
        "kind": "points" if page.points else "colours" if len(arrays[shown]["shape"]) == 3 else "image",
    }  # fmt: skip
    return string.Template(_part("page.html")).substitute(
        title=html.escape(source.function.name),
        style=_part("page.css"),
        script=_part("page.js"),
        python=html.escape(source.function.text),
        data=json.dumps(data).replace("<", "\\u003c"),
    )


def _arrays(
    source: KernelSource, values: Mapping[str, Any], told: Mapping[str, Any], text: str
) -> list[dict[str, Any]]:
    """Arrays in the order of their bindings, with their first contents where these were given."""
    specs = dict(named_leaves(source))
    written = {each["name"]: each["written"] for each in told["arguments"] if each["kind"] == "memory"}
    found = []
    for (name, is_written), (access, _) in zip(written.items(), _BINDING.findall(text), strict=True):
        spec, value = specs[name], values[name]
        assert isinstance(spec, ArraySpec)
        lengths = [n for n in spec.shape if n is not None]
        if len(lengths) < spec.rank:
            raise LaunchError(
                f"a page needs every length of `{name}`", hint="give arrays, or pk.spec with all lengths"
            )
        size = max(1, BY_NAME[spec.dtype].bits // 8)
        for length in lengths:
            size *= length
        contents = None if isinstance(value, Spec) else base64.b64encode(_bytes(value)).decode()
        found.append(
            {"name": name, "dtype": spec.dtype, "shape": lengths, "bytes": size, "access": access,
             "written": is_written, "contents": contents}
        )  # fmt: skip
    return found


def _bytes(value: Any) -> bytes:
    import numpy as np  # here: `import pykern` alone loads no NumPy

    return np.ascontiguousarray(value.numpy() if hasattr(value, "numpy") else value).tobytes()


def _words(
    source: KernelSource, values: Mapping[str, Any], told: Mapping[str, Any], text: str, page: LivePage
) -> list[dict[str, Any]]:
    """Numbers in the order of the struct's fields, with their places in it, their values and sliders."""
    block = text[text.index("struct Words {") :] if "struct Words {" in text else "}"
    fields = _FIELD.findall(block[: block.index("}")])
    numbers = [each["name"] for each in told["arguments"] if each["kind"] == "number"]
    for name in page.sliders:
        _number(name, numbers)
    found, end = [], 0
    for name, (_, kind) in zip(numbers, fields, strict=False):
        size = 8 if kind.startswith("vec2") else 4
        place, end = -(-end // size) * size, -(-end // size) * size + size
        told_of = {"name": name, "type": kind, "place": place}
        if name in values and name != page.frame:
            value = _plain(values[name])
            slider = page.sliders.get(name) or ((0, 2 * value) if value > 0 else (2 * value - 1, 1))
            found.append({**told_of, "value": value, "slider": slider})
        else:
            found.append({**told_of, "value": 0, "slider": None})
    return found


def _plain(value: Any) -> int | float:
    """A number of Python's; 1 where only its type is known."""
    if isinstance(value, int | float):
        return value
    return value.item() if hasattr(value, "item") else 1


def _groups(lowered: Lowered) -> list[int]:
    source, sizes = lowered.source, lowered.artifact.workgroup
    assert isinstance(source, KernelSource)
    if source.launch.ndrange is None:
        raise LaunchError("a page needs a known ndrange", hint="give ndrange= the lengths of the index space")
    counts = [-(-n // size) for n, size in zip(source.launch.ndrange, sizes, strict=True)]
    if len(counts) > 3 or max(counts) > MOST_GROUPS:
        raise LaunchError(
            f"WebGPU launches at most {MOST_GROUPS} groups along three axes, and here are {counts}",
            hint="give a larger workgroup=, or an ndrange of two dimensions",
        )
    return [*reversed(counts), 1, 1][:3]


def _number(name: str, names: list[str]) -> int:
    if name not in names:
        raise LaunchError(f"the page names `{name}`, and there are {', '.join(names)}")
    return names.index(name)


def _part(name: str) -> str:
    return resources.files("pykern.exporter.web").joinpath(name).read_text(encoding="utf-8")
