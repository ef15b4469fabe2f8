"""``pykern export FILE.py::KERNEL --as FORM -o FILE``: a kernel as files for programs without Python."""

from __future__ import annotations

import argparse

from pykern.api.user_file import UsageError
from pykern.exporter.export import export
from pykern.exporter.forms import FORMS
from pykern.exporter.live_page import LivePage
from pykern.tools.argument_types import arguments_of
from pykern.tools.compile_command import call_of, derivative_of, load_kernel
from pykern.tools.suggested_call import refuse_incomplete


def run(chosen: argparse.Namespace) -> int:
    """Write the files and print their names."""
    kernel = load_kernel(chosen.kernel, programs=True)
    refuse_incomplete(kernel, chosen)
    if hasattr(type(kernel), "__pykern_program__"):
        args, keywords = arguments_of(kernel, chosen.args), {}
    else:
        args, keywords = call_of(kernel, chosen)
        del keywords["target"]
    if chosen.grad:
        kernel, args = derivative_of(kernel, args)
    to = chosen.output or f"{chosen.kernel.partition('::')[2]}.{FORMS[chosen.form].ending}"
    made = export(
        kernel, *args, form=chosen.form, to=to, target=chosen.chip, comments=chosen.comments, page=_page(chosen),
        **keywords,
    )  # fmt: skip
    for path in made.paths:
        print(path)
    return 0


def _page(chosen: argparse.Namespace) -> LivePage:
    """What the options say of a page."""
    swap = tuple((one, other) for one, _, other in (text.partition(",") for text in chosen.swap))
    return LivePage(chosen.show, swap, dict(map(_slider, chosen.slider)), chosen.steps)


def _slider(text: str) -> tuple[str, tuple[float, float]]:
    name, _, ends = text.partition("=")
    low, _, high = ends.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError:
        raise UsageError(f"--slider {text} is no slider", hint="write --slider dt=0:0.5") from None
