"""``pykern bisect FILE.py::KERNEL``: the pass that makes a kernel's result differ from plain Python's.

Exit status: 0 where there is no difference, 1 where a pass was found, else as for every command.
"""

from __future__ import annotations

import argparse
import json

from pykern.api.user_file import raised_by_user
from pykern.errors import KernelError
from pykern.testing.bisection import Fault, bisect
from pykern.testing.call_script import repro_of_texts
from pykern.tools.call_arguments import call_as_text, call_with_values
from pykern.tools.compile_command import load_kernel
from pykern.tools.output import write

SHOWN = 60
"""Lines of the pass's change that are printed; ``--full`` prints all."""


def run(chosen: argparse.Namespace) -> int:
    """Search, print, write the reproducer."""
    kernel = load_kernel(chosen.kernel)
    args, launch = call_with_values(kernel, chosen)
    options = {"device": chosen.device, "rtol": chosen.rtol, "atol": chosen.atol}
    try:
        fault = bisect(kernel, *args, passes=tuple(chosen.passes), **options, **launch)
    except KernelError:
        raise
    except Exception as error:  # the kernel runs as plain Python, too
        wrong = raised_by_user(error, kernel.__name__)
        if wrong is None:
            raise
        raise wrong from None
    if fault is None:
        where = chosen.device or "cpu"
        if chosen.json:
            print(json.dumps({"kernel": kernel.__name__, "device": where, "fault": None}))
        else:
            print(f"`{kernel.__name__}` on {where} gives what plain Python gives (seed {chosen.seed})")
        return 0
    path = chosen.output or f"bisect-{fault.kernel}.py"
    written = fault.write_reproducer(path)
    if not written:
        texts, launch = call_as_text(kernel, chosen)  # the kernel itself, where no pass can be shown alone
        write(path, repro_of_texts(kernel, texts, launch, fault.device, chosen.seed))
    if chosen.json:
        print(json.dumps(_as_json(fault, path), indent=1))
    else:
        _show(fault, path, chosen.full)
    return 1


def _show(fault: Fault, path: str, full: bool) -> None:
    print(fault)
    lines = fault.diff.splitlines()
    shown = lines if full else lines[:SHOWN]
    if lines:
        print(*shown, sep="\n")
    if len(shown) < len(lines):
        print(f"... {len(lines) - len(shown)} more lines; --full shows them")
    print(path)


def _as_json(fault: Fault, path: str) -> dict:
    return {
        "kernel": fault.kernel,
        "device": fault.device,
        "fault": fault.name,
        "suspects": list(fault.suspects),
        "stage": fault.stage,
        "before": fault.before,
        "difference": fault.difference,
        "diff": fault.diff,
        "reproducer": path,
    }
