"""``pykern explore FILE.py::KERNEL``: the explorer's page, or with ``--text`` the same in the terminal."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from pykern.api.jit import Program
from pykern.api.user_file import UsageError
from pykern.derivatives.gradients import grad
from pykern.explorer import packing, text
from pykern.explorer.comparison import Comparison
from pykern.explorer.explore import file_name, look
from pykern.explorer.page import page
from pykern.tools.argument_types import arguments_of
from pykern.tools.compile_command import call_of, derivative_of, load_kernel
from pykern.tools.output import write
from pykern.tools.suggested_call import refuse_incomplete


def run(chosen: argparse.Namespace) -> int:
    """Write the page, or print. 1 where the kernel did not compile: then the stages before are shown."""
    data = _look(chosen)
    error = next((d.error for d in data.subjects if d.error), "")
    if chosen.json:
        print(json.dumps(packing.packed(data), indent=1))
    elif chosen.text or chosen.stage is not None or chosen.diff or chosen.line is not None:
        try:
            lines = list(_lines(data, chosen))
        except KeyError as wrong:
            raise UsageError(str(wrong.args[0])) from None
        print("\n".join(lines))
    else:
        path = chosen.output or file_name(data)
        write(path, page(data))
        print(path)
    if error:
        print(error, file=sys.stderr)
    return 1 if error else 0


def _look(chosen: argparse.Namespace) -> Comparison:
    kernels = [load_kernel(path, programs=True) for path in (chosen.kernel, *chosen.against)]
    subjects = []
    for kernel in kernels:
        for target in chosen.target.split(","):
            what, args, keywords = _call(kernel, chosen)
            subjects += look(what, *args, **keywords, target=target).subjects
    return Comparison(tuple(subjects))


def _call(kernel: Any, chosen: argparse.Namespace) -> tuple[Any, list[Any], dict[str, Any]]:
    """What is looked at, and how it is called: programs have no index space, arrays of derivatives have shadows."""
    refuse_incomplete(kernel, chosen)
    if isinstance(kernel, Program):
        return grad(kernel) if chosen.grad else kernel, arguments_of(kernel, chosen.args), {}
    args, keywords = call_of(kernel, chosen)
    del keywords["target"]
    return *(derivative_of(kernel, args) if chosen.grad else (kernel, args)), keywords


def _lines(data: Comparison, chosen: argparse.Namespace) -> Iterable[str]:
    if chosen.diff:
        return text.diff(data, *chosen.diff)
    if chosen.line is not None:
        return text.lines_of(data, chosen.line, chosen.stage)
    if chosen.stage is not None:
        return text.stage_with_lines(data, chosen.stage)
    return text.overview(data)
