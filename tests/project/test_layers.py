"""Imports go down only, lazy ones too, and the user's process stays free of the compiler.

`LEVELS` is the order of the folders. Type checkers alone read what stands under ``if TYPE_CHECKING``: such imports may
look up, and are counted apart.
"""

from __future__ import annotations

import ast
import graphlib

import pytest

from tests.project.tree import Import, imports, imports_of, is_in, modules, nodes, type_only_imports

PLAIN_DATA = ("pykern.data", "pykern.environment", "pykern.storage", "pykern.errors", "pykern.types")
LEVELS = (
    ("pykern.data", "pykern.errors", "pykern.types"),
    ("pykern.environment",),
    ("pykern.storage",),
    ("pykern.runtime",),  # knows plain data alone
    ("pykern.arrays",),
    ("pykern.language",),
    ("pykern.capture",),
    ("pykern.dialect",),
    ("pykern.passes",),
    ("pykern.frontend",),
    ("pykern.lowering",),
    ("pykern.compiler",),
    ("pykern.obtain",),
    ("pykern.launching",),
    ("pykern.program",),
    ("pykern.api",),
    ("pykern",),  # the package itself, what users write `import pykern as pk` for
    ("pykern.typed",),
    ("pykern.derivatives",),
    ("pykern.activations",),
    ("pykern.jax", "pykern.torch"),
    ("pykern.library",),
    ("pykern.tuning",),
    ("pykern.mpi",),
    ("pykern.benchmarking",),
    ("pykern.explorer",),
    ("pykern.exporter",),
    ("pykern.interpreter",),
    ("pykern.testing",),
    ("pykern.tools", "pykern.pytest_plugin"),
    ("pykern.__main__",),
)
"""The folders, each above those that it may import."""
UPWARD_BY_NAME = {
    "pykern": "its table of public names, each imported at its first use, and what `pykern.data.provided` gives",
    "pykern.benchmarking.page": "the style sheet of the explorer's page, a file",
    "pykern.capture.functions": "a captured `pk.grad` is known by its module: nothing is imported",
}
"""Modules that name others above them as text, and why."""
TYPE_ONLY = 1
"""Imports for type checkers that look up, at most: the class of programs, which their entries are given."""

COMPILER_SIDE = ("pykern.dialect", "pykern.passes", "pykern.frontend", "pykern.lowering")
HEAVY = ("mlir", "llvm", "llvmlite", "torch", "jax", "cupy", "cuda", "hip", "matplotlib", "numba")
MLIR = ("mlir", "llvmlite")


def level(module: str) -> int:
    """The place of a module in `LEVELS`."""
    here = (module, ".".join(module.split(".")[:2]))
    return next(place for place, packages in enumerate(LEVELS) for name in here if name in packages)


def looks_up(found: Import) -> bool:
    return is_in(found.imported, "pykern") and level(found.imported) > level(found.module)


def graph_of(found: tuple[Import, ...]) -> dict[str, set[str]]:
    """What each module imports of the others."""
    graph: dict[str, set[str]] = {name: set() for name in modules()}
    for one in found:
        if one.imported in graph and one.imported != one.module:
            graph[one.module].add(one.imported)
    return graph


def reached(graph: dict[str, set[str]], module: str) -> set[str]:
    """What is loaded with a module, by imports that run at once."""
    seen, waiting = {module}, [module]
    while waiting:
        for other in graph[waiting.pop()] - seen:
            seen.add(other)
            waiting.append(other)
    return seen


def is_runtime(module: str) -> bool:
    return is_in(module, "pykern.runtime")


def told(found: list[Import]) -> str:
    return "\n".join(f"{i.module}:{i.line} imports {i.imported}" for i in found)


def test_every_module_has_a_level():
    assert all(level(module) >= 0 for module in modules())


def test_imports_go_down():
    wrong = [i for i in imports() if looks_up(i)]
    assert not wrong, told(wrong)


def test_modules_named_as_text_are_below():
    """A module that is imported by its name would be a way around."""
    wrong = [
        f"{module}:{node.lineno} names {node.value}"
        for module, path in modules().items()
        if module not in UPWARD_BY_NAME
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if "." in node.value and node.value in modules() and level(node.value) > level(module)
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_imported_for_types_alone():
    assert len([i for i in type_only_imports() if looks_up(i) and i.module != "pykern"]) <= TYPE_ONLY


def test_lazy_imports_save_something():
    """An import inside a function is for what is not loaded anyway."""
    graph = graph_of(tuple(i for i in imports() if not i.lazy))
    wrong = [
        i for i in imports() if i.lazy and i.imported in graph and i.imported in reached(graph, i.module)
    ]
    assert not wrong, told(wrong)


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
    """Lazy imports counted. `CycleError` names the cycle."""
    tuple(graphlib.TopologicalSorter(graph_of(imports())).static_order())


def loaded_with(package: str) -> list[Import]:
    """What importing every module of `package` imports, directly and through one another."""
    graph = graph_of(tuple(i for i in imports() if not i.lazy))
    inside = [name for name in modules() if is_in(name, package)]
    loaded = {other for name in inside for other in reached(graph, name)}
    return [i for i in imports() if i.module in loaded and not i.lazy]


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
        ("pykern.benchmarking.facts", "pykern", False),
        ("pykern.api.kernel", "pykern", True),
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
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and is_in(node.module or "", "pykern")
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.endswith("__")
    ]
    assert not wrong, "\n".join(wrong)
