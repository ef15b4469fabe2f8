"""Functions on memrefs, compiled from MLIR text after the passes under test, and called with NumPy arrays.

Only upstream passes and LLVM stand between the pass under test and the numbers.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Union

import llvmlite.binding as llvm
import numpy as np
from mlir import ir
from mlir.dialects import llvm as llvm_dialect

from pykern.dialect.context import new_context
from pykern.passes.framework import Pass, Upstream, run_pass

LOWERING = (
    "convert-scf-to-cf,expand-strided-metadata,lower-affine,arith-expand,convert-vector-to-llvm,"
    "convert-math-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-index-to-llvm,"
    "convert-cf-to-llvm,convert-arith-to-llvm,reconcile-unrealized-casts,canonicalize,cse"
)


Argument = Union[np.ndarray, tuple[np.ndarray, int], int, float]


def transform(text: str, passes: Sequence[Pass]) -> str:
    """The module's text after the passes."""
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for step in passes:
            run_pass(step, module)
        return str(module)


class Compiled:
    """The functions of a module. Arrays are passed as memref descriptors, int as index, float as f32.

    A pair (array, n) is the array without its first n elements, as a descriptor with offset n.
    """

    def __init__(self, text: str, passes: Sequence[Pass] = (), speed_level: int = 3) -> None:
        with new_context(), ir.Location.unknown():
            module = ir.Module.parse(text)
            for step in (*passes, Upstream(LOWERING)):
                run_pass(step, module)
            self.llvm_ir = llvm_dialect.translate_module_to_llvmir(module.operation)
        machine = _machine(3, **SHARED)
        optimised = llvm.parse_assembly(self.llvm_ir)
        optimised.triple, optimised.data_layout = machine.triple, str(machine.target_data)
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level))
        builder.getModulePassManager().run(optimised, builder)
        self._optimised = str(optimised)
        self._engine = llvm.create_mcjit_compiler(optimised, _machine(speed_level))
        self._engine.finalize_object()

    @functools.cached_property
    def assembly(self) -> str:
        """Made where a test looks at it: it takes as long as the machine code."""
        return _machine(3, **SHARED).emit_assembly(llvm.parse_assembly(self._optimised))

    def __call__(self, name: str, *arguments: Argument) -> None:
        values = [cell for argument in arguments for cell in _cells(argument)]
        address = self._engine.get_function_address(name)
        ctypes.CFUNCTYPE(None, *(type(v) for v in values))(address)(*values)


SHARED = {"reloc": "pic", "codemodel": "default"}
"""What code of a shared object is made with."""


def _machine(level: int, **kind: str) -> llvm.TargetMachine:
    """One for each engine, which takes it over. llvmlite's: what is tested does not make its own reference."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=level, **kind)


def _cells(argument: Argument) -> list:
    if isinstance(argument, tuple):
        array, offset = argument
        _, _, _, *rest = _cells(array[offset:])
        return [*_cells(array)[:2], ctypes.c_int64(offset), *rest]
    if isinstance(argument, np.ndarray):
        pointer = ctypes.c_void_p(argument.ctypes.data)
        cells = [0, *argument.shape, *(stride // argument.itemsize for stride in argument.strides)]
        return [pointer, pointer, *map(ctypes.c_int64, cells)]
    return [ctypes.c_float(argument)] if isinstance(argument, float) else [ctypes.c_int64(argument)]
