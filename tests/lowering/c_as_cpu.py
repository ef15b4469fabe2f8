"""A plugin of pytest: the device `cpu` runs kernels as C, compiled by a C compiler, in place of LLVM's code.

Run with ``PYKERN_LOADER=dlopen PYKERN_CACHE_DIR=... pytest -p tests.lowering.c_as_cpu``: the compiler's process runs
`main`. What C lacks is skipped, with the reason. The printed function gets what a launch gives to `pk_run`:
`pykern.data.abi`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pykern.data.source import ArraySpec, KernelSource
from pykern.data.target import Target
from pykern.errors import TargetError
from pykern.lowering.source.argument_names import known_values, named_leaves, names_for_c
from tests.project.tree import ROOT

FLAGS = ("-std=c11", "-O1", "-fopenmp", "-ffp-contract=off", "-shared", "-fPIC", "-w", "-D_GNU_SOURCE")
COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), "cc")
_PARAMETER = re.compile(r"^ {4}(?:const )?(\w+) (\*?)(?:restrict )?\w+,?$", re.MULTILINE)


def pytest_configure() -> None:
    from pykern.compiler import service

    real = service.worker_command
    service.worker_command = lambda _module, *options: [*real(__name__, *options), str(ROOT)]


def main() -> None:
    """The compiler's process, where C takes the place of LLVM's code."""
    from pykern.compiler import worker
    from pykern.lowering.llvm import target as cpu

    real = cpu.lower

    def lower(module: Any, source: KernelSource, uses: Any, reports: bool, record: Any, *rest: Any) -> Any:
        if source.called_from_c:
            return real(module, source, uses, reports, record, *rest)
        return cpu.CpuCode(*_compiled(module, source, record))

    cpu.lower = lower
    worker.main()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Any:
    """What C lacks is skipped."""
    try:
        return (yield)
    except TargetError as error:
        pytest.skip(f"C: {error.reason}")
    except AssertionError as error:  # of a test that wanted another error
        if isinstance(error.__context__, TargetError):
            pytest.skip(f"C: {error.__context__.reason}")
        raise


def _compiled(module: Any, source: KernelSource, record: Any) -> tuple[bytes, bool, tuple[int, ...], dict]:
    from pykern.lowering.source.target import lower  # here: it loads MLIR

    made = lower(module, replace(source, target=Target("source", "c")), record)
    text = made.binary.decode()
    text += _launcher(text, made.symbol, source)
    with tempfile.TemporaryDirectory() as folder:
        path, library = Path(folder) / "kernel.c", Path(folder) / "kernel.so"
        path.write_text(text)
        command = [COMPILER, *FLAGS, "-o", str(library), str(path), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stderr}\n{text}"
        return library.read_bytes(), False, made.workgroup, {}


def _launcher(text: str, symbol: str, source: KernelSource) -> str:
    """`pk_run`, which takes slots."""
    start = text.index(f"void {symbol}(")
    kinds = iter(_PARAMETER.findall(text[start : text.index(") {", start)]))
    specs, known = dict(named_leaves(source)), known_values(source)
    passed = []
    names = names_for_c(source)
    for slot, name in enumerate(names):
        if name in known:
            continue
        kind, star = next(kinds)
        spec = specs.get(name)
        if star:
            passed.append(f"({kind} *)slots[{slot}]")
        elif spec is None or isinstance(spec, ArraySpec):
            passed.append(f"({kind})slots[{slot}]")
        else:
            held = {"float": "double", "f64": "double", "f32": "float", "f16": "_Float16"}.get(spec.dtype)
            passed.append(f"({kind})*({held} *)&slots[{slot}]" if held else f"({kind})slots[{slot}]")
    arguments = ", ".join(passed)
    return f"\nvoid pk_init(void **table) {{}}\nvoid pk_run(int64_t *slots) {{ {symbol}({arguments}); }}\n"
