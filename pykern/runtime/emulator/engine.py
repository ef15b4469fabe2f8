"""LLVM in this process: IR to machine code, by way of llvmlite.

Comes in: the IR of a kernel. Goes out: its address, and that of the scheduler, which is compiled once. llvmlite is
imported when the first kernel is loaded.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from pykern.runtime.emulator import (
    access_trace,
    copy_waits,
    float_support,
    memory_checks,
    races,
    scheduler,
    tensor_cores,
)
from pykern.runtime.emulator.amd import waves

numbers = itertools.count()
"""Each kernel has symbols of its own."""


class Engine:
    """What is compiled stays until the process ends, or `remove` is called."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._llvm: Any = llvm
        features = llvm.get_host_cpu_features().flatten()
        target = llvm.Target.from_default_triple()
        self._machine = target.create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=features, opt=2, jit=True
        )
        self._engine = llvm.create_mcjit_compiler(self._optimised(_support()), self._machine)
        self._engine.finalize_object()
        self._has_traced_checks = False
        self.grid: int = self._engine.get_function_address("pk_grid")
        self.wave_grids = {
            lanes: self._engine.get_function_address(f"pk_grid_of_waves_{lanes}") for lanes in waves.LANES
        }

    def _optimised(self, text: str) -> Any:
        llvm = self._llvm
        module = llvm.parse_assembly(text)
        module.triple = self._machine.triple
        module.data_layout = str(self._machine.target_data)
        builder = llvm.create_pass_builder(self._machine, llvm.create_pipeline_tuning_options(speed_level=2))
        builder.getModulePassManager().run(module, builder)
        return module

    def add(self, text: str, symbols: Sequence[str]) -> tuple[Any, list[int]]:
        """The module of some IR, to be removed later, and the addresses of some of its functions."""
        module = self._optimised(text)
        self._engine.add_module(module)
        self._engine.finalize_object()
        return module, [self._engine.get_function_address(symbol) for symbol in symbols]

    def add_traced_checks(self) -> None:
        """What kernels call whose accesses are counted: compiled when the first one is."""
        if not self._has_traced_checks:
            self._has_traced_checks = True
            self.add(access_trace.write_traced_checks(), [])

    def remove(self, module: Any) -> None:
        self._engine.remove_module(module)


@functools.cache
def engine() -> Engine:
    return Engine()


def _support() -> str:
    """What kernels call, and what calls them."""
    lines, declared = [], {}
    for write in (
        memory_checks.write_checks,
        races.write_races,
        copy_waits.write_copy_waits,
        scheduler.write_scheduler,
        waves.write_waves,
        tensor_cores.write_dot_products,
    ):
        more, called = write()
        lines += more
        declared |= called
    text = "\n".join((float_support.TEXT, *lines))
    missing = [line for name, line in declared.items() if f"@{name}(ptr %launch" not in text]
    return "\n".join((*missing, text))
