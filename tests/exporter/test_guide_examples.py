"""C in the guide on exporting: every example is compiled as C and as C++, with what the page exported, and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import blocks
from tests.project.tree import ROOT

PAGE = ROOT / "docs" / "guides" / "export.md"
EXAMPLES = [block for block in blocks(PAGE) if block.language == "c"]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the page's Python writes."""
    folder = tmp_path_factory.mktemp("guide")
    python = "\n\n".join(block.text for block in blocks(PAGE) if block.language == "python")
    (folder / "page.py").write_text(python)
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    subprocess.run(
        (sys.executable, "page.py"),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        check=True,
        timeout=300,
    )
    return folder


def test_there_are_examples() -> None:
    text = "".join(each.text for each in EXAMPLES)
    assert sum("int main(" in each.text for each in EXAMPLES) >= 2
    for shown in ("_parallel(", "_OK", "_NEGATIVE", "_WORKSPACE"):
        assert shown in text


@pytest.mark.parametrize(
    ("compiler", "flags"), [("gcc", ("-std=c11",)), ("g++", ("-x", "c++", "-std=c++17"))]
)
@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example(exported: Path, number: int, compiler: str, flags: tuple[str, ...]) -> None:
    if not shutil.which(compiler) or not shutil.which("gcc"):
        pytest.skip(f"no compiler of C or C++: {compiler}")
    example = EXAMPLES[number]
    name = f"example{number}"
    (exported / f"{name}.c").write_text(example.text)
    common = ("-O2", "-fopenmp", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-I.")
    subprocess.run(
        (compiler, *flags, *common, "-c", "-o", f"{name}.o", f"{name}.c"), cwd=exported, check=True
    )
    if "int main(" not in example.text:
        return
    (header,) = re.findall(r'#include "(\w+)\.h"', example.text)
    linked = (compiler, "-fopenmp", "-o", name, f"{name}.o", f"{header}.o", "-lm")
    subprocess.run(linked, cwd=exported, check=True)
    subprocess.run((f"./{name}",), cwd=exported, check=True)
