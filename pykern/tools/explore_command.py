"""``pykern explore FILE.py::KERNEL``: the explorer's page, or with ``--text`` the same in the terminal."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable

from pykern.errors import LaunchError
from pykern.explorer import text
from pykern.explorer.data import Exploration
from pykern.explorer.explore import look
from pykern.explorer.page import page
from pykern.tools.compile_command import call_of, load_kernel


def run(chosen: argparse.Namespace) -> int:
    """Write the page, or print."""
    kernel = load_kernel(chosen.kernel)
    args, keywords = call_of(kernel, chosen)
    data = look(kernel, *args, **keywords)
    if chosen.json:
        print(json.dumps(data.as_json(), indent=1))
        return 0
    if chosen.text or chosen.stage or chosen.diff or chosen.line is not None:
        try:
            lines = list(_lines(data, chosen))
        except KeyError as error:
            raise LaunchError(str(error.args[0])) from None
        print("\n".join(lines))
        return 0
    path = chosen.output or f"{data.kernel}-{data.target.replace(':', '-')}.html"
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(data))
    print(path)
    return 0


def _lines(data: Exploration, chosen: argparse.Namespace) -> Iterable[str]:
    if chosen.diff:
        return data.diff(*chosen.diff)
    if chosen.line is not None:
        return text.lines_of(data, chosen.line, chosen.stage)
    if chosen.stage:
        return text.stage_with_lines(data, chosen.stage)
    return text.overview(data)
