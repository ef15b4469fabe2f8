"""The sources of the project: where they are, and what they import.

`imports` reads a module without running it, so the tests of the layers need neither MLIR nor a device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE_FOLDERS = ("pykern", "dialect", "passes", "lowering")
LINKED = ("dialect", "passes", "lowering")


@dataclass(frozen=True)
class Import:
    """An import in `module`; `lazy` where it stands inside a function, so that loading does not run it."""

    module: str
    imported: str
    line: int
    lazy: bool


@cache
def source_files() -> tuple[Path, ...]:
    """Every Python file of the four source folders, once: the links inside pykern/ are not followed."""
    files = []
    for folder in SOURCE_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT).parts
            if not (inside[0] == "pykern" and inside[1] in LINKED):
                files.append(path)
    return tuple(files)


def module_name(path: Path) -> str:
    """``passes/kernel/work_groups/__init__.py`` -> ``pykern.passes.kernel.work_groups``."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] in LINKED:
        parts.insert(0, "pykern")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every module of the project and its file."""
    return {module_name(path): path for path in source_files()}


@cache
def trees() -> dict[Path, ast.Module]:
    """The syntax tree of every source. Parsing takes seconds, so all tests share them.

    `test_style` asks for them when the tests are collected, before `tests.conftest` sets aside what exists by then:
    millions of nodes, which every collection of garbage would visit.
    """
    return {path: ast.parse(path.read_text()) for path in source_files()}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the syntax tree of a source."""
    return tuple(ast.walk(trees()[path]))


@cache
def imports() -> tuple[Import, ...]:
    """Every import of every module, but for those under ``if TYPE_CHECKING:``, which never run."""
    return tuple(
        found for name, path in modules().items() for found in _walk(name, trees()[path], lazy=False)
    )


@cache
def type_only_imports() -> tuple[Import, ...]:
    """Those under ``if TYPE_CHECKING:``."""
    return tuple(
        found
        for name, path in modules().items()
        for node in nodes(path)
        if _is_type_only(node)
        for found in _walk(name, node, lazy=False)
    )


def imports_of(module: str, text: str) -> Iterator[Import]:
    """The imports of one module; ``from pykern.passes import framework`` names the module it loads."""
    yield from _walk(module, ast.parse(text), lazy=False)


def _is_type_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _walk(module: str, node: ast.AST, lazy: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if _is_type_only(child):
            continue
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(module, alias.name, child.lineno, lazy)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{module}:{child.lineno}: imports are absolute here"
            for alias in child.names:
                yield Import(module, _target(child.module or "", alias.name), child.lineno, lazy)
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _walk(module, child, lazy or is_function)


def _target(package: str, name: str) -> str:
    return f"{package}.{name}" if f"{package}.{name}" in modules() else package


def is_in(module: str, package: str) -> bool:
    """True for the package itself and for what is inside it."""
    return module == package or module.startswith(package + ".")
