"""Imports go down only, and the user's process stays free of the compiler.

    plain data < dialect < passes, frontend < lowering < compiler < the front door (kernel, language, ...)

`runtime` stands aside: it knows plain data alone.
"""

from __future__ import annotations

import ast
import graphlib

import pytest

from tests.project.tree import Import, imports, imports_of, is_in, modules

PLAIN_DATA = ("pykern.data", "pykern.environment", "pykern.storage", "pykern.errors", "pykern.types")
LAYERS = (
    PLAIN_DATA,
    ("pykern.dialect",),
    ("pykern.passes", "pykern.frontend"),
    ("pykern.lowering",),
    ("pykern.compiler",),
)
FRONT_DOOR = len(LAYERS)

# An import that looks up, inside a function, and why it is right all the same.
LAZY_UPWARD = {
    ("pykern.types", "pykern.language"): "pk.f16(x) in plain Python is pk.cast(x, pk.f16)",
}

COMPILER_SIDE = ("pykern.dialect", "pykern.passes", "pykern.frontend", "pykern.lowering")
HEAVY = ("mlir", "llvm", "llvmlite", "torch", "jax", "cupy", "cuda", "hip", "matplotlib", "numba")
MLIR = ("mlir", "llvmlite")


def layer(module: str) -> int:
    """Place of a module in `LAYERS`; the front door is above all."""
    for place, packages in enumerate(LAYERS):
        if any(is_in(module, package) for package in packages):
            return place
    return FRONT_DOOR


def looks_up(found: Import) -> bool:
    return is_in(found.imported, "pykern") and layer(found.imported) > layer(found.module)


def is_runtime(module: str) -> bool:
    return is_in(module, "pykern.runtime")


def told(found: list[Import]) -> str:
    return "\n".join(f"{i.module}:{i.line} imports {i.imported}" for i in found)


def test_imports_go_down():
    wrong = [i for i in imports() if looks_up(i) and not (i.lazy and (i.module, i.imported) in LAZY_UPWARD)]
    assert not wrong, told(wrong)


def test_exceptions_are_still_needed():
    there = {(i.module, i.imported) for i in imports() if i.lazy and looks_up(i)}
    assert there.issuperset(LAZY_UPWARD)


def test_runtime_knows_plain_data_only():
    allowed = (*PLAIN_DATA, "pykern.runtime")
    wrong = [
        i
        for i in imports()
        if is_runtime(i.module)
        and (is_in(i.imported, "mlir") or is_in(i.imported, "pykern"))
        and not any(is_in(i.imported, package) for package in allowed)
    ]
    assert not wrong, told(wrong)


def test_lowering_knows_no_devices():
    sides = (*COMPILER_SIDE, *PLAIN_DATA)
    wrong = [
        i for i in imports() if is_runtime(i.imported) and any(is_in(i.module, package) for package in sides)
    ]
    assert not wrong, told(wrong)


def test_no_import_cycles():
    graph: dict[str, set[str]] = {name: set() for name in modules()}
    for found in imports():
        if not found.lazy and found.imported in graph and found.imported != found.module:
            graph[found.module].add(found.imported)
    tuple(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError, which names the cycle


def loaded_with(package: str) -> list[Import]:
    """What importing every module of `package` imports, directly and through one another."""
    waiting = [name for name in modules() if is_in(name, package)]
    seen, found = set(waiting), []
    while waiting:
        name = waiting.pop()
        for one in (i for i in imports() if i.module == name and not i.lazy):
            found.append(one)
            if one.imported in modules() and one.imported not in seen:
                seen.add(one.imported)
                waiting.append(one.imported)
    return found


@pytest.mark.parametrize("package", ["pykern.api.kernel", "pykern.language", "pykern.runtime"])
def test_the_users_process_loads_no_compiler(package):
    loaded = loaded_with(package)
    assert loaded, f"{package} is gone: this test looks at nothing"
    wrong = [i for i in loaded if any(is_in(i.imported, heavy) for heavy in HEAVY)]
    assert not wrong, told(wrong)


def test_mlir_is_imported_by_the_compiler_side_only():
    sides = (*COMPILER_SIDE, "pykern.compiler", "pykern.interpreter", "pykern.tools")
    wrong = [
        i
        for i in imports()
        if any(is_in(i.imported, package) for package in MLIR)
        and not any(is_in(i.module, package) for package in sides)
        and not is_runtime(i.module)  # its own test allows it less
    ]
    assert not wrong, told(wrong)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import mlir.ir", [("mlir.ir", False)]),
        ("from pykern import errors", [("pykern.errors", False)]),
        ("from pykern.errors import KernelError", [("pykern.errors", False)]),
        ("def f():\n    import numpy", [("numpy", True)]),
        ("class C:\n    import numpy", [("numpy", False)]),
        ("if TYPE_CHECKING:\n    import numpy", []),
        ("try:\n    import numpy\nexcept ImportError:\n    pass", [("numpy", False)]),
    ],
)
def test_imports_are_read_right(text, expected):
    assert [(i.imported, i.lazy) for i in imports_of("pykern.example", text)] == expected


@pytest.mark.parametrize(
    ("module", "imported", "up"),
    [
        ("pykern.passes.cse", "pykern.dialect.kern", False),
        ("pykern.dialect.kern", "pykern.passes.cse", True),
        ("pykern.errors", "pykern.api.kernel", True),
        ("pykern.lowering.llvm.pipeline", "pykern.compiler.driver", True),
        ("pykern.api.kernel", "pykern.compiler.cache", False),
        ("pykern.passes.cse", "numpy", False),
    ],
)
def test_up_is_told_from_down(module, imported, up):
    assert looks_up(Import(module, imported, 1, lazy=False)) is up


def test_private_names_stay_in_their_module():
    wrong = [
        f"{module}:{node.lineno} imports {alias.name} of {node.module}"
        for module, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and is_in(node.module or "", "pykern")
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.endswith("__")
    ]
    assert not wrong, "\n".join(wrong)
