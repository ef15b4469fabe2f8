"""From LLVM IR to a code object: llvmlite's AMDGPU backend, then a linker of our own.

MLIR's own build has no AMDGPU backend, and nobody else needs llvmlite: it is asked for when code is made. That backend
may emit a module once only (the second time aborts), so the assembly text is made of a copy.
"""

from __future__ import annotations

import functools
import importlib.util
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pykern.environment.installation import no_amd_backend
from pykern.lowering.elf import code_object
from pykern.lowering.rocdl.chips import Chip
from pykern.lowering.rocdl.options import RocdlOptions
from pykern.passes.framework import is_careful

if TYPE_CHECKING:
    import llvmlite.binding as llvm

TRIPLE = "amdgcn-amd-amdhsa"
CODE_OBJECT = 500
"""Version of the code object: what ROCm takes from 5.0 on."""


@dataclass
class DeviceObject:
    """A code object, and on demand the texts on the way to it."""

    binary: bytes
    llvm_ir: str = ""
    optimised_ir: str = ""
    assembly: str = ""
    times: dict[str, float] = field(default_factory=dict)


def can_generate() -> bool:
    """Whether the backend is installed."""
    return importlib.util.find_spec("llvmlite") is not None


@functools.cache
def machine_of(chip: str, features: str = "") -> llvm.TargetMachine:
    """A chip as LLVM knows it. Raises `TargetError` where the backend is not installed."""
    if not can_generate():
        raise no_amd_backend(chip)
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=chip, features=features, opt=3, reloc="pic", codemodel="default")


def generate(text: str, chip: Chip, options: RocdlOptions, texts: bool) -> DeviceObject:
    """Optimise, at O3 where LLVM did not die of that, emit, link where a code object is wanted.

    Raises `TargetError` without the backend.
    """
    machine = machine_of(chip.name, _features(chip, options))
    import llvmlite.binding as llvm

    times: dict[str, float] = {}
    started = time.perf_counter()
    module = llvm.parse_assembly(text + _flags(text))
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    module.verify()
    times["llvm-parse"] = _since(started)
    started = time.perf_counter()
    level = 1 if is_careful() else 3
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=level))
    builder.getModulePassManager().run(module, builder)
    times["llvm-optimise"] = _since(started)
    code = DeviceObject(b"", times=times)
    if texts:
        code.llvm_ir, code.optimised_ir = text, str(module)
        if not options.assembly:
            code.assembly = machine.emit_assembly(llvm.parse_bitcode(module.as_bitcode()))
    started = time.perf_counter()
    if options.assembly:
        machine.set_asm_verbosity(True)  # a barrier of a group that is one wave is told in a comment alone
        code.assembly = machine.emit_assembly(module)
        machine.set_asm_verbosity(False)
        times["llvm-emit"] = _since(started)
        code.binary = code.assembly.encode()
        return code
    emitted = machine.emit_object(module)
    times["llvm-emit"] = _since(started)
    started = time.perf_counter()
    code.binary = code_object.link(emitted)
    times["link"] = _since(started)
    return code


def _features(chip: Chip, options: RocdlOptions) -> str:
    size = f"+wavefrontsize{chip.subgroup_size}"
    return size + (",+cumode" if options.cumode else "")


def _flags(text: str) -> str:
    """The version of the code object, as a flag of the module."""
    flag = f'!{{i32 1, !"amdhsa_code_object_version", i32 {CODE_OBJECT}}}'
    listed = [line for line in text.splitlines() if line.startswith("!llvm.module.flags")]
    assert not listed or CODE_OBJECT, "named metadata adds up"
    return f"\n!llvm.module.flags = !{{!9000}}\n!9000 = {flag}\n"


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1e3
