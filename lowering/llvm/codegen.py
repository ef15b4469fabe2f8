"""From the llvm dialect to machine code: translation, LLVM's optimiser, object and assembly.

Comes in: a module in the llvm dialect. Goes out: `MachineCode`. The LLVM that MLIR's bindings bring does it, called
through its C API (`libllvm`); where there is none, llvmlite, with all of O3. Neither is MLIR's ExecutionEngine, which
gives no assembly. Code for GPUs is llvmlite's: it has every target.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import llvmlite.binding as llvm
from mlir import ir
from mlir.dialects import llvm as llvm_dialect

from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.llvm import libllvm
from pykern.lowering.llvm.optimisation import O3, Passes
from pykern.lowering.llvm.parts import second_part
from pykern.lowering.llvm.short_floats import MoveBf16AsWords
from pykern.lowering.llvm_library import reduce_loops
from pykern.passes.kernels import named

TRANSLATABLE = ("llvm.", "builtin.module")


@dataclass(frozen=True)
class Host:
    """A machine to make code for; empty fields are the machine this runs on."""

    triple: str = ""
    cpu: str = ""
    features: str = ""


ELSEWHERE = {
    "aarch64": (Host("aarch64-unknown-linux-gnu", "generic", "+neon"), "neon"),
    "x86-64-v2": (Host("x86_64-unknown-linux-gnu", "x86-64-v2", "+sse4.2"), "sse2"),
    "x86-64-v3": (Host("x86_64-unknown-linux-gnu", "x86-64-v3", "+avx2"), "avx2"),
    "x86-64-v4": (Host("x86_64-unknown-linux-gnu", "x86-64-v4", "+avx512f"), "avx512"),
    "neoverse-v1": (
        Host("aarch64-unknown-linux-gnu", "neoverse-v1", "+neon"),
        "neon+i8-dot+mixed-dot+bf16-dot",
    ),
    "sapphirerapids": (
        Host("x86_64-unknown-linux-gnu", "sapphirerapids", "+avx512bf16"),
        "avx512+bf16-dot+i16-dot",
    ),
}
"""Processors that code is made for, to be looked at, as ``llvm:aarch64``; and their names in `pykern.machine`."""


def host_of(target: str) -> tuple[Host, str]:
    """The machine of a target, and its name for schedules: both empty for this one, ``llvm``."""
    _, _, name = target.partition(":")
    if not name:
        return Host(), ""
    if name not in ELSEWHERE:
        raise TargetError(f"no target `{target}`", hint=f"after `llvm:` there are {', '.join(ELSEWHERE)}")
    return ELSEWHERE[name]


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
    host: Host = Host(),
    texts: bool = False,
    passes: Passes = O3,
    shared: tuple[str, ...] = (),
) -> MachineCode:
    """Optimise and emit an object. `extra` are LLVM IR texts linked in before optimisation, `passes` LLVM's own.

    Functions in `exports` can be found in the shared object, and those in `shared` from other objects of it.
    """
    machine = machine_of(host, CAREFUL if passes.careful else 0)
    if machine is None:
        return _with_llvmlite(text, extra, exports, host, texts, shared)
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
            code.assembly = module.emit(libllvm.ASSEMBLY, copy=True).decode()
        started = time.perf_counter()
        code.objects = (module.emit(libllvm.OBJECT), *(each.result() for each in other))
        times["llvm-emit"] = _since(started)
    return code


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
        assert machine is not None
        with machine.module(text) as module:
            module.keep_only(names)
            module.run(passes.named)
            return module.emit(libllvm.OBJECT)

    with ThreadPoolExecutor(1, "pykern-llvm") as pool:
        yield [pool.submit(made)]


@functools.lru_cache(maxsize=256)
def assemble(text: str, host: Host = Host(), quickly: bool = False) -> bytes:
    """An object of LLVM IR that is as it should run: nothing optimises it. Made once for a text.

    `quickly`: with the code generator that is for programs being debugged, which takes a quarter of the time.
    """
    machine = machine_of(host, QUICK if quickly else 0)
    if machine is None:
        return target_machine(host).emit_object(_as_written(text, host))
    with machine.module(text) as module:
        return module.emit(libllvm.OBJECT)


def assembly_of(text: str, host: Host = Host()) -> str:
    """The same as assembly, to look at."""
    machine = machine_of(host)
    if machine is None:
        return target_machine(host).emit_assembly(_as_written(text, host))
    with machine.module(text) as module:
        return module.emit(libllvm.ASSEMBLY).decode()


QUICK, CAREFUL, CAREFUL_ELSEWHERE = -1, -2, -3
"""Machines that make code quickly, and with few optimisations in this thread and in another."""


@functools.cache
def machine_of(host: Host, thread: int = 0) -> libllvm.Machine | None:
    """The machine to LLVM's C API, one for each thread; None where there is no such library."""
    library = libllvm.library()
    if library is None:
        return None
    levels = {QUICK: libllvm.LEVEL_NONE, CAREFUL: libllvm.LEVEL_LESS, CAREFUL_ELSEWHERE: libllvm.LEVEL_LESS}
    level = levels.get(thread, libllvm.LEVEL_AGGRESSIVE)
    return libllvm.Machine(library, host.triple, host.cpu, host.features, level)


# -- llvmlite ------------------------------------------------------------------------------------


def _with_llvmlite(
    text: str,
    extra: tuple[str, ...],
    exports: tuple[str, ...],
    host: Host,
    texts: bool,
    shared: tuple[str, ...],
) -> MachineCode:
    machine = target_machine(host)
    times: dict[str, float] = {}
    started = time.perf_counter()
    module = llvm.parse_assembly(text)
    for added in extra:
        module.link_in(llvm.parse_assembly(added))
    _hide_all_but(module, exports, shared)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    times["llvm-parse"] = _since(started)
    started = time.perf_counter()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    times["llvm-optimise"] = _since(started)
    started = time.perf_counter()
    code = MachineCode((machine.emit_object(module),), times=times)
    times["llvm-emit"] = _since(started)
    if texts:
        code.llvm_ir, code.optimised_ir, code.assembly = text, str(module), machine.emit_assembly(module)
    return code


def _as_written(text: str, host: Host) -> llvm.ModuleRef:
    machine, module = target_machine(host), llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    return module


@functools.cache
def target_machine(host: Host) -> llvm.TargetMachine:
    """LLVM's description of the machine; position-independent, so that the object can be shared."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = host.triple or llvm.get_process_triple()
    native = not host.triple
    cpu = host.cpu or (llvm.get_host_cpu_name() if native else "")
    features = host.features or (llvm.get_host_cpu_features().flatten() if native else "")
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=cpu, features=features, opt=3, reloc="pic", codemodel="default")


def _hide_all_but(module: llvm.ModuleRef, exports: tuple[str, ...], shared: tuple[str, ...]) -> None:
    """What nobody outside calls can be inlined and dropped."""
    for function in module.functions:
        if function.is_declaration or function.name in exports:
            continue
        if function.name in shared:
            function.visibility = "hidden"
        else:
            function.linkage = "internal"


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1e3
