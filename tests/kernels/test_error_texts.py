"""What the frontend says: snippets of `error_texts.txt`, each with the whole text of its error.

``PYKERN_WRITE_TEXTS=1`` writes the file anew: read the difference before you keep it.
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import imported

TEXTS = Path(__file__).with_name("error_texts.txt")
BETWEEN, BEFORE = "\n======\n", "\n------\n"
PRELUDE = """import dataclasses

import numpy as np
import pykern as pk

table = [1, 2]
big = np.ones(3)


def plain(a):
    return a


@pk.func
def one(a):
    return a


@pk.func
def some_paths(a):
    if a > 0:
        return 1


@pk.func
def again(a):
    return again(a - 1)


@pk.func
def faulty(a):
    return a @ a


@pk.kernel
def k(out, x, y, flag, n, s):
    i = pk.index()
"""


def cases() -> list[tuple[str, str]]:
    parts = TEXTS.read_text().strip("\n").split(BETWEEN)
    return [(body, text) for body, _, text in (p.partition(BEFORE) for p in parts)]


def error_of(body: str, folder: Path, device: str = "cpu") -> pk.KernelError:
    """The error of a kernel with this body; its file is called kernel.py."""
    path = folder / "kernel.py"
    module = imported(path, PRELUDE + "".join(f"    {line}\n" for line in body.splitlines()))
    arrays = np.zeros(4), np.zeros((3, 3)), np.zeros(4, np.int32), np.zeros(4, bool)
    with pytest.raises(pk.KernelError) as caught:
        module.k(*arrays, 3, 1.5, ndrange=4, device=device)
    return caught.value


def shown(error: pk.KernelError, folder: Path) -> str:
    return f"{type(error).__name__}: {error}".replace(f"{folder}{os.sep}", "")


@pytest.mark.parametrize(("body", "text"), cases(), ids=lambda v: v.partition("\n")[0][:30])
def test_text(body, text, tmp_path):
    error = error_of(body, tmp_path)
    assert shown(error, tmp_path) == text
    assert error.hint, "every error says what to write instead"
    assert error.span is not None
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name) == (error.span.file, error.span.line, error.span.function)


def test_texts_are_of_different_errors():
    bodies = [body for body, _ in cases()]
    assert len(set(bodies)) == len(bodies) > 100


@pytest.mark.skipif("PYKERN_WRITE_TEXTS" not in os.environ, reason="writes the file of texts")
def test_write(tmp_path):
    written = []
    for k, (body, _) in enumerate(cases()):
        folder = tmp_path / str(k)  # of its own: Python keeps the lines of a file
        folder.mkdir()
        written.append(body + BEFORE + shown(error_of(body, folder), folder))
    TEXTS.write_text(BETWEEN.join(written) + "\n")


# -- both devices -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    ["out[i] = flag[i] - flag[i]", "out[i] = -flag[i]", "out[i, i] = 1", "pk.atomic_or_(out, 0, 1)",
     "out[1.5] = 1", "out[i] = pk.index(1)", "out[i] = pk.gcd(s, 2)"],
)  # fmt: skip
def test_the_same_kind_at_the_same_line_on_both_devices(body, tmp_path):
    cpu, python = error_of(body, tmp_path), error_of(body, tmp_path, "python")
    assert type(cpu) is type(python)
    assert cpu.span is not None and python.span is not None
    assert (cpu.span.line, cpu.span.function) == (python.span.line, python.span.function)
