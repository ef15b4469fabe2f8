"""One kernel through every stage: a table, and the explorer's page, which the site shows in a frame."""

from __future__ import annotations

from pathlib import Path

from extensions.markdown import docstring, table

STATIC = Path(__file__).resolve().parents[1] / "_generated" / "static"
TARGET = "nvvm:sm_90a"
FILES = {"llvm": "heat-cpu.html", TARGET: "heat-gpu.html"}


def files() -> list[Path]:
    """The explorer's pages as files of the site."""
    return [STATIC / name for name in FILES.values()]


def page() -> str:
    import pykern as pk
    from extensions.sample import heat
    from pykern.passes.registry import known

    array, number = pk.spec(("n", "m"), pk.f32), pk.f32
    STATIC.mkdir(parents=True, exist_ok=True)
    for target, file in FILES.items():
        pk.explore(heat, array, array, array, number, ndrange=("n", "m"), target=target, to=STATIC / file)
    lowered = heat.lower(array, array, array, number, ndrange=("n", "m"))
    rows = []
    for number, stage in enumerate(lowered.stages):
        if not stage.text:
            continue
        names = stage.name.split("{")[0]
        kind = known().get(names)
        what = docstring(kind).split("\n\n")[0] if kind is not None else OTHERS.get(names, "")
        rows.append((str(number), f"`{stage.name}`", str(len(stage.text.splitlines())), what))
    return table(("", "stage", "lines", "what it does"), rows)


OTHERS = {
    "kern": "The kernel as the frontend made it: an op or two for a line of Python.",
    "llvm-translate": "LLVM IR.",
    "llvm-optimise": "LLVM IR after LLVM's own passes.",
    "llvm-emit": "Assembly.",
}
