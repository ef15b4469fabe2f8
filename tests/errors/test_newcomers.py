"""What a newcomer is told: wrong kernels, programs, launches, each with the whole text of its error (`newcomers.txt`).

``PYKERN_WRITE_TEXTS=1`` writes the file anew: read the difference before you keep it.
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from pykern import errors

TEXTS = Path(__file__).with_name("newcomers.txt")
BETWEEN, BEFORE = "\n======\n", "\n------\n"
PRELUDE = "import math\nimport random\n\nimport numpy as np\n\nimport pykern as pk\n\n"


def cases() -> list[tuple[str, str]]:
    parts = TEXTS.read_text().strip("\n").split(BETWEEN)
    return [(program, text) for program, _, text in (part.partition(BEFORE) for part in parts)]


def error_of(program: str, folder: Path) -> tuple[pk.KernelError, str]:
    """The error of a program, which is called heat.py, and its text."""
    path = folder / "heat.py"
    path.write_text(PRELUDE + program + "\n")
    names: dict = {
        "__name__": "heat",
        "x": np.ones(8, np.float32),
        "y": np.zeros(8, np.float32),
        "m": np.ones((4, 4), np.float32),
    }
    with pytest.raises(pk.KernelError) as caught:
        exec(compile(path.read_text(), str(path), "exec"), names)
    error = caught.value
    return error, f"{type(error).__name__}: {error}".replace(f"{folder}{os.sep}", "")


@pytest.mark.parametrize(("program", "text"), cases(), ids=lambda v: v.splitlines()[-1][:40])
def test_text(program, text, tmp_path):
    error, shown = error_of(program, tmp_path)
    assert shown == text
    assert error.hint or isinstance(error, pk.AssertionFailed), "every error says what to do"
    assert errors.CODES[error.code][0] == type(error).__name__
    last = traceback.extract_tb(error.__traceback__)[-1]
    if error.span is not None and error.span.function:
        assert (Path(last.filename).name, last.lineno, last.name) == (
            "heat.py",
            error.span.line,
            error.span.function,
        )


def test_there_are_many():
    programs = [program for program, _ in cases()]
    assert len(set(programs)) == len(programs) > 50


@pytest.mark.skipif("PYKERN_WRITE_TEXTS" not in os.environ, reason="writes the file of texts")
def test_write(tmp_path):
    written = []
    for n, (program, _) in enumerate(cases()):
        folder = tmp_path / str(n)  # of its own: Python keeps the lines of a file
        folder.mkdir()
        written.append(program + BEFORE + error_of(program, folder)[1])
    TEXTS.write_text(BETWEEN.join(written) + "\n")
