"""mypy and pyright, both strict, over files of a user: right ones, types, mistakes."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pykern as pk
from tests.project.tree import ROOT

CASES = Path(__file__).with_name("cases")
FILES = ("user", "revealed", "wrong")
MYPY = "[mypy]\nstrict = true\nfollow_imports = silent\n"
PYRIGHT = f'{{"typeCheckingMode": "strict", "pythonVersion": "3.10", "extraPaths": ["{ROOT.as_posix()}"]}}'


def checked(checker: str, folder: Path) -> dict[str, dict[int, list[tuple[str, str]]]]:
    """What a checker says: by file and line, kinds and messages."""
    pytest.importorskip(checker)
    for name in FILES:
        shutil.copy(CASES / f"{name}.py", folder)
    (folder / "mypy.ini").write_text(MYPY)
    (folder / "pyrightconfig.json").write_text(PYRIGHT)
    options = [f"{name}.py" for name in FILES] if checker == "mypy" else ["--pythonpath", sys.executable]
    done = subprocess.run(
        [sys.executable, "-m", checker, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(ROOT)},
    )
    found: dict[str, dict[int, list[tuple[str, str]]]] = {name: {} for name in FILES}
    for line in done.stdout.splitlines():
        said = re.match(
            r"\s*(?:\S*/)?(\w+)\.py:(\d+):(?:\d+(?: -|:))? (error|note|information|warning):? ?-? ?(.*)", line
        )
        if said:
            found[said[1]].setdefault(int(said[2]), []).append((said[3], said[4]))
    assert found["revealed"], done.stdout + done.stderr
    return found


@pytest.fixture(scope="module", params=["mypy", "pyright"])
def said(request, tmp_path_factory):
    return request.param, checked(request.param, tmp_path_factory.mktemp(request.param))


def test_a_usual_file_is_right(said):
    _, found = said
    assert found["user"] == {}


def test_the_usual_file_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, str(CASES / "user.py")], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_types_are_as_expected(said):
    _, found = said
    wanted = {}
    for number, line in enumerate((CASES / "revealed.py").read_text().splitlines(), 1):
        if line.startswith("reveal_type("):
            wanted[number] = line.partition("  # ")[2].split(" | ")
    assert len(wanted) > 20
    for number, types in wanted.items():
        messages = found["revealed"].pop(number)
        assert [kind for kind, _ in messages] in (["note"], ["information"])
        found_type = simple(messages[0][1])
        assert found_type in types or types == [found_type.partition("[")[0] + "[...]"]
    assert found["revealed"] == {}


def simple(message: str) -> str:
    """The type in a message, without modules; NumPy's arrays by their elements."""
    kind = re.search(r' is "(.*)"$', message)
    assert kind is not None, message
    text = re.sub(r"\b(?:[a-z_]+\.)+(?=\w)", "", kind[1])
    return re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]", r"NDArray[\1]", text).replace(
        "b: int =]", "b: int = 1]"
    )


def test_mistakes_are_found(said):
    _, found = said
    text = (CASES / "wrong.py").read_text().splitlines()
    wanted = {number for number, line in enumerate(text, 1) if line.endswith("# error")}
    assert {
        n for n, messages in found["wrong"].items() if any(kind == "error" for kind, _ in messages)
    } == wanted


# -- what checkers see is what is there ------------------------------------------------------------


def seen_by_checkers() -> set[str]:
    """The names that ``pykern/__init__.py`` imports for them."""
    tree = ast.parse((ROOT / "pykern" / "__init__.py").read_text())
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    names = set()
    for node in ast.walk(block):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    names |= exported(node.module or "")
                else:
                    names.add(alias.asname or alias.name)
    return names


def exported(module: str) -> set[str]:
    if module == "pykern.errors":
        return set(importlib.import_module(module).__all__)
    tree = ast.parse((ROOT / Path(*module.split("."))).with_suffix(".py").read_text())
    imported = {a.asname for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname}
    return imported | {
        n.target.id for n in tree.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }


def test_every_public_name_is_known_to_checkers():
    hidden = {"errors", "language", "testing", "types"}  # modules: checkers find them
    public = {name for name in dir(pk) if not name.startswith("_")} - hidden
    assert public - seen_by_checkers() == set()
    assert {name for name in seen_by_checkers() if not hasattr(pk, name)} == set()


@pytest.mark.parametrize("name", ["dtypes", "anything"])
def test_element_types(name):
    from pykern import types

    tree = ast.parse((ROOT / "pykern" / "typed" / f"{name}.py").read_text())
    names = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    names |= {
        n.target.id for n in tree.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }
    known = {d.name if d.name != "bool" else "bool_" for d in (*types.STRONG, *types.STORAGE)}
    assert {n for n in names if not n.startswith("_")} == known | {"In", "Out", "InOut", "static"}


@pytest.mark.parametrize("name", ["kernel", "jit", "grad", "value_and_grad", "vjp", "jvp", "hvp"])
def test_parameters_are_those_of_the_functions(name):
    tree = ast.parse((ROOT / "pykern" / "typed" / "kernels.py").read_text())
    typed = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    arguments = typed.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    real = [
        n
        for n, p in inspect.signature(getattr(pk, name)).parameters.items()
        if p.kind is not p.VAR_POSITIONAL
    ]
    assert names == real


def test_launch_keywords_are_those_of_launches():
    from pykern.launching.launch import LAUNCH_KEYWORDS

    tree = ast.parse((ROOT / "pykern" / "typed" / "kernels.py").read_text())
    made = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Kernel")
    call = next(n for n in made.body if isinstance(n, ast.FunctionDef) and n.name == "__call__")
    assert {a.arg for a in call.args.kwonlyargs} == {*LAUNCH_KEYWORDS, "tile"}  # the last of tile kernels
