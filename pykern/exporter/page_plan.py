"""What a live page does, as data: its arrays, its texts in WGSL, and the steps between two pictures.

Comes in: a kernel or an array program that was lowered to WGSL, with its manifest and the values of its arguments. Goes
out: a `PagePlan`, which becomes JSON. Read next: `live_page`, and `web/page.js`, which follows the steps.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pykern.api.lowered import Lowered
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, KernelSource, leaves
from pykern.derivatives import trees
from pykern.errors import LaunchError
from pykern.launching.specs import Spec
from pykern.lowering.source.argument_names import named_leaves
from pykern.types import BY_NAME, DType

MOST_GROUPS = 65535
"""Groups along one axis that every device of WebGPU takes in one launch."""
GRAIN = 4
"""Bytes that WebGPU copies at least."""
_FIELD = re.compile(r"^ {4}(\w+): ([\w<>]+),$", re.MULTILINE)
_BINDING = re.compile(r"@binding\(\d+\) var<storage, (\w+)> \w+: array<(?:atomic<)?(\w+)")
Json = dict[str, Any]


@dataclass
class PagePlan:
    """`arrays` have a name, or "" where only the steps know them. `steps` are launches and copies, in order.
    `numbers` are those that a page can change, with their types in WGSL. `begins_anew` says that each run begins with
    the first contents of all arrays."""

    arrays: list[Json] = field(default_factory=list)
    codes: list[Json] = field(default_factory=list)
    steps: list[Json] = field(default_factory=list)
    numbers: list[Json] = field(default_factory=list)
    begins_anew: bool = False

    def names(self) -> list[str]:
        """Names of arrays, in their order."""
        return [each["name"] for each in self.arrays]

    def array(self, name: str, dtype: str, shape: list[int], written: bool, value: Any) -> None:
        """One more array; `value` are its first contents, where they are given."""
        size = max(1, BY_NAME[dtype].bits // 8)
        for length in shape:
            size *= length
        contents = None if value is None or isinstance(value, Spec) else _text(_bytes(value))
        self.arrays.append(
            {
                "name": name,
                "dtype": dtype,
                "shape": shape,
                "bytes": size,
                "written": written,
                "contents": contents,
            }
        )

    def hidden(self, nbytes: int, contents: str | None = None) -> int:
        """One more array that only the steps know."""
        self.arrays.append(
            {
                "name": "",
                "dtype": "u8",
                "shape": [nbytes],
                "bytes": nbytes,
                "written": True,
                "contents": contents,
            }
        )
        return len(self.arrays) - 1

    def code(self, text: str, entry: str) -> int:
        """One more text."""
        access = [kind for kind, _ in _BINDING.findall(text)]
        self.codes.append({"wgsl": text, "entry": entry, "access": access})
        return len(self.codes) - 1

    def number(self, name: str, dtype: str, kind: str, value: Any) -> int:
        """A number of this name, which may stand in the words of several launches: those of 16 bits by their bits."""
        for place, each in enumerate(self.numbers):
            if each["name"] == name:
                return place
        self.numbers.append({"name": name, "dtype": dtype, "type": kind, "value": _plain(value)})
        return len(self.numbers) - 1

    def launch(self, code: int, groups: list[int], arrays: list[int], words: list[Json]) -> None:
        """A launch. An array that is read is copied first where the same launch writes it by another name."""
        access = self.codes[code]["access"]
        assert len(access) == len(arrays)
        written = [array for array, kind in zip(arrays, access, strict=True) if kind != "read"]
        if len(set(written)) < len(written):
            raise LaunchError(
                f"`{self.codes[code]['entry']}` writes one array by two names, which WebGPU does not take",
                hint='export it as C: form="c"',
            )
        bound = list(arrays)
        for place, (array, kind) in enumerate(zip(arrays, access, strict=True)):
            if kind == "read" and array in written:
                nbytes = self.arrays[array]["bytes"]
                bound[place] = self.hidden(nbytes)
                self.copy(nbytes, (array, 0), (bound[place], 0))
        if max(groups) > MOST_GROUPS:
            raise LaunchError(
                f"WebGPU launches at most {MOST_GROUPS} groups along three axes, and here are {groups}",
                hint="give a larger workgroup=, or an ndrange of two dimensions",
            )
        self.steps.append({"code": code, "groups": groups, "arrays": bound, "words": words})

    def copy(self, nbytes: int, source: tuple[int, int], to: tuple[int, int]) -> None:
        """A copy between places: the number of an array, and a byte in it. What is behind an array's end is padding."""
        ends = all(at + nbytes == self.arrays[n]["bytes"] for n, at in (source, to))
        if (source[1] | to[1]) % GRAIN or (nbytes % GRAIN and not ends):
            raise LaunchError(
                f"the program copies {nbytes} bytes from byte {source[1]} to byte {to[1]}, and WebGPU copies multiples "
                "of four bytes",
                hint='compute in types of 32 bits, or export it as C: form="c"',
            )
        size = -(-nbytes // GRAIN) * GRAIN
        self.steps.append({"copy": size, "from": source[0], "at": source[1], "to": to[0], "toAt": to[1]})


def kernel_plan(lowered: Lowered, values: Mapping[str, Any], told: Mapping[str, Any]) -> PagePlan:
    """One launch. Raises `LaunchError` for arrays or index spaces of open lengths."""
    source, plan = lowered.source, PagePlan()
    assert isinstance(source, KernelSource)
    specs, given = dict(named_leaves(source)), dict(_values(source, values))
    text = lowered.compile().source
    for argument in told["arguments"]:
        name = argument["name"]
        if argument["kind"] == "memory":
            spec = specs[name]
            assert isinstance(spec, ArraySpec)
            plan.array(name, spec.dtype, _lengths(name, spec), argument["written"], given.get(name))
    numbers = [each for each in told["arguments"] if each["kind"] == "number"]
    words = [
        {
            **place,
            "number": plan.number(each["name"], each["dtype"], place["type"], given.get(each["name"], 1)),
        }
        if each["name"] in specs
        else {**place, "value": 0}
        for each, place in zip(numbers, _places(text), strict=False)
    ]
    arrays = list(range(len(plan.arrays)))
    plan.launch(plan.code(text, lowered.artifact.entry), _groups(lowered), arrays, words)
    return plan


def program_plan(
    lowered: Lowered, values: Mapping[str, Any], told: Mapping[str, Any], texts: Mapping[str, str]
) -> PagePlan:
    """The steps of a manifest; `texts` are the kernels' by their names."""
    source, plan = lowered.source, PagePlan()
    assert isinstance(source, ProgramSource)
    given = dict(_values(source, values))
    dtypes = {argument["name"]: argument["dtype"] for argument in told["arguments"]}
    for argument in told["arguments"]:
        if argument["kind"] == "memory":
            name = argument["name"]
            plan.array(name, argument["dtype"], argument["shape"], argument["written"], given.get(name))
    for result in told["results"]:
        if result["name"] not in plan.names():
            plan.array(result["name"], result["dtype"], result["shape"], True, None)
    places = {name: number for number, name in enumerate(plan.names())}
    for each in told["buffers"]:
        places[each["name"]] = plan.hidden(each["bytes"], each.get("base64"))
    codes: dict[str, int] = {}
    for step in told["steps"]:
        if "copy" in step:
            one, other = ((places[step[end]["buffer"]], step[end]["byte"]) for end in ("from", "to"))
            plan.copy(step["copy"], one, other)
            continue
        name = step["launch"]
        if name not in codes:
            codes[name] = plan.code(texts[name], name)
        rest = [each for each in step["arguments"] if "buffer" not in each]
        words = []
        for each, place in zip(rest, _places(texts[name]), strict=False):
            if "argument" in each:
                own = each["argument"]
                number = plan.number(own, dtypes[own], place["type"], given.get(own, 1))
                words.append({**place, "number": number})
            else:
                words.append({**place, "value": each["value"]})
        arrays = [places[each["buffer"]] for each in step["arguments"] if "buffer" in each]
        plan.launch(codes[name], step["groups"], arrays, words)
    return plan


def _values(source: KernelSource | ProgramSource, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What was given, by the names that a manifest has: parts of a structure are numbered."""
    for parameter in source.parameters:
        value, count = values[parameter.name], len(list(leaves(parameter.spec)))
        if count == 1 or isinstance(value, Spec | DType):
            yield parameter.name, value
        else:
            parts = [part for _, part in trees.leaves(value)]
            if len(parts) == count:
                yield from ((f"{parameter.name}_{number}", part) for number, part in enumerate(parts))


def _places(text: str) -> list[Json]:
    """The words of a text in order: their types, and their bytes in the struct."""
    block = text[text.index("struct Words {") :] if "struct Words {" in text else "}"
    found, end = [], 0
    for _, kind in _FIELD.findall(block[: block.index("}")]):
        size = 8 if kind.startswith("vec2") else 4
        place, end = -(-end // size) * size, -(-end // size) * size + size
        found.append({"type": kind, "place": place})
    return found


def _lengths(name: str, spec: ArraySpec) -> list[int]:
    lengths = [n for n in spec.shape if n is not None]
    if len(lengths) < spec.rank:
        raise LaunchError(
            f"a page needs every length of `{name}`", hint="give arrays, or pk.spec with all lengths"
        )
    return lengths


def _groups(lowered: Lowered) -> list[int]:
    source, sizes = lowered.source, lowered.artifact.workgroup
    assert isinstance(source, KernelSource)
    if source.launch.ndrange is None:
        raise LaunchError("a page needs a known ndrange", hint="give ndrange= the lengths of the index space")
    counts = [-(-n // size) for n, size in zip(source.launch.ndrange, sizes, strict=True)]
    if len(counts) > 3:
        raise LaunchError(
            "WebGPU launches groups along three axes", hint="give an ndrange of three dimensions"
        )
    return [*reversed(counts), 1, 1][:3]


def _bytes(value: Any) -> bytes:
    import numpy as np  # here: `import pykern` alone loads no NumPy

    return np.ascontiguousarray(value.numpy() if hasattr(value, "numpy") else value).tobytes()


def _text(contents: bytes) -> str:
    return base64.b64encode(contents).decode()


def _plain(value: Any) -> int | float:
    """A number of Python's; 1 where only its type is known."""
    if isinstance(value, int | float):
        return value
    return value.item() if hasattr(value, "item") else 1
