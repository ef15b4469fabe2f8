"""From the llvm dialect to machine code: translation, LLVM's optimiser, object and assembly.

Comes in: a module in the llvm dialect. Goes out: `MachineCode`. The LLVM that MLIR's bindings bring does it, called
through its C API (`libllvm`): MLIR's ExecutionEngine gives no assembly.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import llvm as llvm_dialect

from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.llvm import libllvm
from pykern.lowering.llvm.machines import HERE, Host
from pykern.lowering.llvm.optimisation import O3, Passes
from pykern.lowering.llvm.short_floats import MoveBf16AsWords
from pykern.lowering.llvm.split_module import second_part
from pykern.lowering.llvm_library import hoisting, reduce_loops
from pykern.passes.analysis.cost_model.code_size import MOST_HOISTED_NUMBERS
from pykern.passes.kernels import named

TRANSLATABLE = ("llvm.", "builtin.module")


@dataclass
class MachineCode:
    """Object files that belong together, and on demand the texts on the way to them."""

    objects: tuple[bytes, ...]
    llvm_ir: str = ""
    optimised_ir: str = ""
    assembly: str = ""
    times: dict[str, float] = field(default_factory=dict)


def translate(module: ir.Module, names: frozenset[str]) -> str:
    """LLVM IR of a module with ops of these names; one that has no translation is a located error, not a crash."""
    unknown = {name for name in names if not name.startswith(TRANSLATABLE)}
    for op in named(module.operation, *unknown) if unknown else []:
        raise TargetError(f"`{op.name}` has no form on the CPU", span_of(op.location))
    text = llvm_dialect.translate_module_to_llvmir(module.operation)
    if "bfloat" not in text:
        return text
    MoveBf16AsWords().run(module)  # few modules have any: the others need not be looked through
    return llvm_dialect.translate_module_to_llvmir(module.operation)


def generate(
    text: str,
    extra: tuple[str, ...] = (),
    exports: tuple[str, ...] = (),
    host: Host = HERE,
    texts: bool = False,
    passes: Passes = O3,
    shared: tuple[str, ...] = (),
) -> MachineCode:
    """Optimise and emit an object. `extra` are LLVM IR texts linked in before optimisation, `passes` LLVM's own.

    Functions in `exports` can be found in the shared object, and those in `shared` from other objects of it.
    """
    machine = machine_of(host, CAREFUL if passes.careful else 0)
    apart = () if texts else second_part(text, extra)
    times: dict[str, float] = {}
    started = time.perf_counter()
    reduce_loops(passes.reduces_loops)
    with _elsewhere(text, apart, host, passes) as other, machine.module(text, *extra) as module:
        module.hide_all_but(exports)
        module.share(shared)
        module.give_away(apart)
        times["llvm-parse"] = _since(started)
        started = time.perf_counter()
        module.run(passes.named)
        times["llvm-optimise"] = _since(started)
        code = MachineCode((), times=times)
        if texts:
            code.llvm_ir, code.optimised_ir = text, str(module)
            with hoisting(not _has_many_constants(text)):
                code.assembly = module.emit(libllvm.ASSEMBLY, copy=True).decode()
        started = time.perf_counter()
        with hoisting(not _has_many_constants(text)):
            code.objects = (module.emit(libllvm.OBJECT), *(each.result() for each in other))
        times["llvm-emit"] = _since(started)
    return code


def _has_many_constants(text: str) -> bool:
    return len(set(_NUMBER.findall(text))) > MOST_HOISTED_NUMBERS


_NUMBER = re.compile(r", (?:-?\d\.\d+e[+-]\d+|0x[0-9A-F]+)$", re.MULTILINE)
"""A floating-point number, the last operand of an instruction."""


@contextmanager
def _elsewhere(
    text: str, names: tuple[str, ...], host: Host, passes: Passes
) -> Iterator[list[Future[bytes]]]:
    """The object of these functions, which another thread makes meanwhile; none where there are none."""
    if not names:
        yield []
        return

    def made() -> bytes:
        machine = machine_of(host, CAREFUL_ELSEWHERE if passes.careful else 1)
        with machine.module(text) as module:
            module.keep_only(names)
            module.run(passes.named)
            return module.emit(libllvm.OBJECT)

    with ThreadPoolExecutor(1, "pykern-llvm") as pool:
        yield [pool.submit(made)]


@functools.lru_cache(maxsize=256)
def assemble(text: str, host: Host = HERE, quickly: bool = False) -> bytes:
    """An object of LLVM IR that is as it should run: variables become values, nothing else is optimised. Made once for
    a text.

    `quickly`: with the code generator that is for programs being debugged, which takes far less time.
    """
    with machine_of(host, QUICK if quickly else 0).module(text) as module:
        module.run(ONLY_VARIABLES)
        return module.emit(libllvm.OBJECT)


def assembly_of(text: str, host: Host = HERE) -> str:
    """The same as assembly, to look at."""
    with machine_of(host).module(text) as module:
        module.run(ONLY_VARIABLES)
        return module.emit(libllvm.ASSEMBLY).decode()


ONLY_VARIABLES = "mem2reg"
"""LLVM's pass that makes values of what `text_ir` keeps in variables."""
QUICK, CAREFUL, CAREFUL_ELSEWHERE = -1, -2, -3
"""Machines that make code quickly, and with few optimisations in this thread and in another."""


@functools.cache
def machine_of(host: Host, thread: int = 0) -> libllvm.Machine:
    """The machine to LLVM's C API, one for each thread. Raises `TargetError` where there is no such library."""
    levels = {QUICK: libllvm.LEVEL_NONE, CAREFUL: libllvm.LEVEL_LESS, CAREFUL_ELSEWHERE: libllvm.LEVEL_LESS}
    level = levels.get(thread, libllvm.LEVEL_AGGRESSIVE)
    return libllvm.Machine(libllvm.library(), host.triple, host.cpu, host.features, level)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1e3
