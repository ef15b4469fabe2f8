"""``pykern repro FILE.py::KERNEL``: a script that stands alone, with the kernel and its arguments from a seed."""

from __future__ import annotations

import argparse

from pykern.testing.call_script import repro_of_texts
from pykern.tools.call_arguments import call_as_text
from pykern.tools.compile_command import load_kernel
from pykern.tools.output import write


def run(chosen: argparse.Namespace) -> int:
    """Write the script, or print it where no file is named."""
    kernel = load_kernel(chosen.kernel, programs=True)
    texts, launch = call_as_text(kernel, chosen)
    text = repro_of_texts(kernel, texts, launch, chosen.device, chosen.seed)
    if not chosen.output:
        print(text, end="")
        return 0
    write(chosen.output, text)
    print(chosen.output)
    return 0
