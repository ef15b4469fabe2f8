"""A page that runs a kernel or a program in a browser, with WebGPU: one file, which asks for nothing but itself.

Comes in: what the page does, as a `PagePlan`, and what to show. Goes out: HTML text. Read next: `page_plan`, and
`web/page.js`, which runs it.
"""

from __future__ import annotations

import html
import json
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources

from pykern.data.source import FunctionSource
from pykern.errors import LaunchError
from pykern.exporter.page_plan import PagePlan


@dataclass(frozen=True)
class LivePage:
    """What a live page does with its kernel or program.

    `show` is the array that is drawn: two lengths are an image, a third of 3 or 4 its colours from 0 to 1; with
    `points` the rows ``(x, y)`` are points between -1 and 1. A program's results are called ``result``, or ``result0``,
    ``result1``, and so on. `swap` are pairs of arrays that change places after each run. `sliders` are the ends of
    numbers' sliders; those without have 0 to twice their value. `steps` are the runs between two pictures, `frame` is
    the number that counts runs, `range` are the values of the darkest and the brightest colour.
    """

    show: str = ""
    swap: tuple[tuple[str, str], ...] = ()
    sliders: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    steps: int = 1
    frame: str = ""
    range: tuple[float, float] | None = None
    points: bool = False


def live_page(function: FunctionSource, plan: PagePlan, page: LivePage) -> str:
    """The page. Raises `LaunchError` for names that there are not."""
    names = [name for name in plan.names() if name]
    numbers = [each["name"] for each in plan.numbers]
    for name in (*page.sliders, *([page.frame] if page.frame else [])):
        _number(name, numbers)
    show = page.show or next(each["name"] for each in plan.arrays if each["written"] and each["name"])
    swap = [[_number(name, names) for name in pair] for pair in page.swap]
    for one, other in swap:
        _alike(plan, one, other)
    shown = _number(show, names)
    data = {
        "arrays": plan.arrays, "codes": plan.codes, "steps": plan.steps, "numbers": _sliders(plan, page),
        # an array that was swapped after a run is where the other was
        "shown": next((b if a == shown else a for a, b in swap if shown in (a, b)), shown),
        "swap": swap, "runs": page.steps, "frame": page.frame, "anew": plan.begins_anew, "range": page.range,
        "kind": "points" if page.points else "colours" if len(plan.arrays[shown]["shape"]) == 3 else "image",
    }  # fmt: skip
    return string.Template(_part("page.html")).substitute(
        title=html.escape(function.name),
        style=_part("page.css"),
        script=_part("page.js"),
        python=html.escape(function.text),
        data=json.dumps(data).replace("<", "\\u003c"),
    )


def _sliders(plan: PagePlan, page: LivePage) -> list[dict[str, object]]:
    """The numbers, with the ends of their sliders; the one that counts has none."""
    found = []
    for each in plan.numbers:
        value = each["value"]
        slider = page.sliders.get(each["name"]) or ((0, 2 * value) if value > 0 else (2 * value - 1, 1))
        found.append({**each, "slider": None if each["name"] == page.frame else slider})
    return found


def _alike(plan: PagePlan, one: int, other: int) -> None:
    a, b = plan.arrays[one], plan.arrays[other]
    if (a["dtype"], a["shape"]) != (b["dtype"], b["shape"]):
        raise LaunchError(
            f"`{a['name']}` and `{b['name']}` cannot change places: they differ in type or shape"
        )


def _number(name: str, names: list[str]) -> int:
    if name not in names:
        raise LaunchError(f"the page names `{name}`, and there are {', '.join(names) or 'none'}")
    return names.index(name)


def _part(name: str) -> str:
    return resources.files("pykern.exporter.web").joinpath(name).read_text(encoding="utf-8")
