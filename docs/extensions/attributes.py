"""The attributes of the kern dialect: what each holds and says, and who sets and reads it, as the sources show.

Comes in: the declarations of `pykern.dialect.attributes`, and every module that uses them as `kern.NAME`. Goes out: a
table. Read next: `dialect` (the page on which it stands).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from extensions.inputs import ROOT
from extensions.markdown import table

FOLDERS = ("dialect", "passes", "lowering", "pykern")
ALIAS = "kern"


@dataclass
class Uses:
    """The modules that set an attribute, and those that read or remove it, as paths without a suffix."""

    set_by: set[str] = field(default_factory=set)
    read_by: set[str] = field(default_factory=set)


def attributes() -> str:
    """One row for each attribute."""
    from pykern.dialect.attributes import ATTRIBUTES

    used = uses()
    rows = [
        (
            f"`{a.name}`",
            a.form.says,
            a.places,
            a.says,
            _modules(used[a.name].set_by),
            _modules(used[a.name].read_by),
        )
        for a in ATTRIBUTES.values()
    ]
    return table(("attribute", "value", "stands on", "what it says", "set by", "read by"), rows)


def uses() -> dict[str, Uses]:
    """Who uses each attribute, by its name in the IR."""
    from pykern.dialect import attributes as declared

    found: dict[str, Uses] = defaultdict(Uses)
    for path in _sources():
        module = str(path.relative_to(ROOT).with_suffix(""))
        for constant, is_set in _used(ast.parse(path.read_text())):
            of = found[getattr(declared, constant)]
            (of.set_by if is_set else of.read_by).add(module)
    return found


def _sources() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT).parts
            if not (inside[0] == "pykern" and inside[1] in FOLDERS):  # links to the folders beside it
                yield path


def _used(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Constants that a module uses, and whether each use sets the attribute: `op.attributes[kern.X] = ...`, or a
    dictionary of attributes for a new op. One that a transform script matches ops by is read."""
    if not any(_imports(node) for node in tree.body):
        return
    setting = {id(node) for part in ast.walk(tree) for node in _set(part)}
    setting -= {id(node) for part in ast.walk(tree) for node in _matched(part)}
    for node in ast.walk(tree):
        if _is_constant(node):
            yield node.attr, id(node) in setting


def _is_constant(node: ast.AST) -> TypeGuard[ast.Attribute]:
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == ALIAS):
        return False
    return node.attr.isupper() and node.attr not in ("ATTRIBUTES", "PREFIX", "MAX_DIMENSIONS")


def _imports(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and any(
        (node.module, name.name, name.asname) == ("pykern.dialect", "attributes", ALIAS)
        for name in node.names
    )


def _set(part: ast.AST) -> Iterable[ast.AST | None]:
    if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
        return (part.slice,)
    return part.keys if isinstance(part, ast.Dict) else ()


def _matched(part: ast.AST) -> Iterable[ast.AST]:
    return ast.walk(part.value) if isinstance(part, ast.keyword) and part.arg == "op_attrs" else ()


def _modules(found: set[str]) -> str:
    """Modules by path; several of one folder are shown as the folder."""
    folders: dict[str, list[str]] = defaultdict(list)
    for module in sorted(found):
        folders[module.rpartition("/")[0]].append(module)
    return ", ".join(f"`{m[0]}`" if len(m) == 1 else f"`{folder}/*`" for folder, m in folders.items())
