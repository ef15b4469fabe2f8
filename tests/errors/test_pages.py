"""The page of every error code: its example raises that code with that very text, and what it advises runs.

``PYKERN_WRITE_TEXTS=1`` writes the texts anew: read the difference before you keep it.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from pykern import errors
from tests.docs.pages import blocks
from tests.project.tree import ROOT, source_files

FOLDER = ROOT / "docs" / "errors"
PAGES = sorted(FOLDER.glob("PK*.md"))
ALONE = """
import runpy, sys, traceback
from pykern.errors import KernelError
try:
    runpy.run_path(sys.argv[1], run_name="__main__")
except KernelError as error:
    sys.exit("".join(traceback.format_exception_only(error)).rstrip())
"""
OUTPUT = re.compile(r"(<!-- output -->\n```text\n)(.*?)(```)", re.DOTALL)


def run(text: str, path: Path) -> str:
    """What the program prints when it raises, or "": the error as Python shows it, with its file's name alone."""
    path.write_text(text)
    try:
        exec(compile(text, str(path), "exec"), {"__name__": "example", "__file__": str(path)})
    except errors.KernelError as error:
        return normal("".join(traceback.format_exception_only(error)), path)
    return ""


def run_alone(text: str, path: Path) -> str:
    """The same, in a process of its own."""
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(path)], capture_output=True, text=True, cwd=path.parent
    )
    found = re.search(r"^pykern\.errors\..*", done.stderr, re.DOTALL | re.MULTILINE)
    assert (found is not None) == (done.returncode != 0), done.stderr
    return normal(found[0], path) if found else ""


def normal(text: str, path: Path) -> str:
    """Without what differs from machine to machine."""
    text = text.replace(str(path), path.name)
    text = re.sub(
        r"to see it again, and to report it:  .*", "to see it again, and to report it:  python …", text
    )
    return re.sub(r"gives to one array \(\d+ bytes\)", "gives to one array (… bytes)", text)


def parts(page: Path) -> tuple[str, str, str]:
    """The example, what it prints, the program that was mended."""
    example, output, mended = [b.text for b in blocks(page)]
    return example, output, mended


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, tmp_path, need_device):
    text = page.read_text()
    needs = re.search(r"<!-- needs: (.*) -->", text)
    if needs and ":" in needs[1]:
        need_device(needs[1])
    go = run_alone if needs and needs[1] == "process" else run
    example, output, mended = parts(page)
    printed = go(example, tmp_path / "example.py")
    if "PYKERN_WRITE_TEXTS" in os.environ:
        page.write_text(OUTPUT.sub(lambda found: found[1] + printed + found[3], text))
        output = printed
    assert printed == output
    name, meaning = errors.CODES[page.stem]
    first = output.splitlines()[0]
    assert first.startswith(f"pykern.errors.{name}: ")
    assert first.endswith(f"[{page.stem}]")
    assert output.splitlines()[-1] == f"  more: pykern explain {page.stem}"
    assert text.startswith(f"# {page.stem}: {meaning}\n")
    assert f"Class: `pykern.{name}`." in text
    assert go(mended, tmp_path / "mended.py") == ""


def test_every_code_has_a_page_and_every_page_a_code():
    assert [page.stem for page in PAGES] == sorted(errors.CODES)


def test_every_class_has_a_code():
    classes = {
        c.__name__: c.code
        for c in vars(errors).values()
        if inspect.isclass(c) and issubclass(c, errors.KernelError) and c is not errors.KernelError
    }
    assert {name: errors.CODES[code][0] for name, code in classes.items()} == {name: name for name in classes}


def test_every_code_is_raised_somewhere():
    """A finer code is a constant that a module uses."""
    names = {
        value: name
        for name, value in vars(errors).items()
        if isinstance(value, str) and value in errors.CODES
    }
    sources = "\n".join(path.read_text() for path in source_files() if path.name != "errors.py")
    own = {c.code for c in vars(errors).values() if inspect.isclass(c) and issubclass(c, errors.KernelError)}
    unused = [
        code for code in errors.CODES if code not in own and not re.search(rf"\b{names[code]}\b", sources)
    ]
    assert not unused
