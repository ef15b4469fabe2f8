"""Kernels of AMD's assembly that are loaded, and their launches.

Comes in: assembly. Goes out: `WaveProgram`, whose `launch` runs a grid and raises what was found wrong in it.
"""

from __future__ import annotations

import ctypes
import functools
import struct

import numpy as np

from pykern.errors import DeviceError
from pykern.runtime.emulator.access_counts import AccessCounter
from pykern.runtime.emulator.amd.assembly import Kernel, Module, UnknownAssembly
from pykern.runtime.emulator.amd.code import Assembler, Code
from pykern.runtime.emulator.amd.outstanding import check_waits
from pykern.runtime.emulator.amd.parse import parsed
from pykern.runtime.emulator.amd.state import NOWHERE, PRIVATE_BUFFER, WORD
from pykern.runtime.emulator.device_memory import DeviceMemory
from pykern.runtime.emulator.emit import splat
from pykern.runtime.emulator.engine import engine
from pykern.runtime.emulator.faults import UnorderedRegisters
from pykern.runtime.emulator.launches import GRID, Sizes, launch_error, launch_lock
from pykern.runtime.emulator.memory_checks import BEHIND_SHARED, BUT_PADDING, NOT_SHARED, READABLE, UNTOUCHED
from pykern.runtime.emulator.ptx import rounded_up
from pykern.runtime.emulator.races import CELL_BYTES
from pykern.runtime.emulator.slots import SLOTS
from pykern.runtime.memory_accesses import collected

_MODES = {
    "float_round_mode_32": 0, "float_round_mode_16_64": 0, "float_denorm_mode_32": 3, "float_denorm_mode_16_64": 3,
}  # fmt: skip
"""What kernels must begin with: rounding to the nearest, and subnormals."""
_USER_REGISTERS = (
    ("private_segment_buffer", 4), ("dispatch_ptr", 2), ("queue_ptr", 2), ("kernarg_segment_ptr", 2),
    ("dispatch_id", 2), ("flat_scratch_init", 2), ("private_segment_size", 1),
)  # fmt: skip
"""What scalar registers a kernel begins with, in this order, if it asks for it; and how many each takes."""
_COUNT = 8
"""Bytes of a number that the scheduler keeps of each wave."""
_GIVEN = ("private_segment_buffer", "kernarg_segment_ptr", "flat_scratch_init", "private_segment_size")
"""Those that are given here."""

SEGMENT = 64
"""Bytes that global memory moves at least."""


class LoadedAssembly:
    """A text of assembly on a device: its constants lie in the device's memory."""

    def __init__(self, text: str, memory: DeviceMemory) -> None:
        try:
            self.module: Module = parsed(text)
        except UnknownAssembly as error:
            raise _unknown(error) from None
        self.memory = memory
        self.constants = 0
        if self.module.constants:
            self.constants = memory.allocate(len(self.module.constants), READABLE)
            ctypes.memmove(self.constants, self.module.constants, len(self.module.constants))
        self.programs: dict[str, WaveProgram] = {}

    def program(self, name: str) -> WaveProgram:
        if name not in self.programs:
            self.programs[name] = WaveProgram(self, name)
        return self.programs[name]

    def unload(self) -> None:
        for program in self.programs.values():
            self.memory.free(program.arguments)
        if self.constants:
            self.memory.free(self.constants)


class WaveProgram:
    """A kernel of a text."""

    def __init__(self, text: LoadedAssembly, name: str) -> None:
        self.text, self.name = text, name
        module = text.module
        if name not in module.kernels:
            raise _unknown(UnknownAssembly(f"a kernel {name}: the text has none"))
        kernel = module.kernels[name]
        self.described, self.parameters = kernel.described, kernel.arguments
        self.lanes = 32 if module.chip.startswith(("gfx10", "gfx11", "gfx12")) else 64
        try:
            _check_modes(kernel)
            self.code = self._assembled()
            check_waits(kernel, module.chip)
        except UnknownAssembly as error:
            raise _unknown(error) from None
        except UnorderedRegisters as error:
            raise error.error(name) from None
        self._grid = GRID(engine().wave_grids[self.lanes])
        self.argument_bytes = self.described["kernarg_size"]
        self.arguments = text.memory.allocate(max(self.argument_bytes, 8), READABLE)
        self._group_at = self._place_registers()

    def _assembled(self, is_traced: bool = False) -> Code:
        module = self.text.module
        symbols = {symbol: self.text.constants + at for symbol, at in module.symbols.items()}
        kernel = module.kernels[self.name]
        return Assembler(kernel, self.lanes, self.lanes == 64, symbols, is_traced).code

    @functools.cached_property
    def _traced_records(self) -> ctypes.Array:
        """Of the same code, which writes down its accesses."""
        with launch_lock:
            engine().add_traced_checks()
        return self._assembled(is_traced=True).records

    def _place_registers(self) -> list[int]:
        """Fill in the scalar registers that do not change; where the numbers of the group go, in bytes."""
        at, template = 0, self.code.template
        for name, count in _USER_REGISTERS:
            if not self.described.get(f"user_sgpr_{name}"):
                continue
            if name == "kernarg_segment_ptr":
                struct.pack_into("<Q", template, WORD * at, self.arguments)
            elif name == "private_segment_buffer":
                struct.pack_into("<Q", template, WORD * at, PRIVATE_BUFFER)
            elif name not in _GIVEN:
                raise _unknown(UnknownAssembly(f"a kernel that asks for {name}"))
            at += count
        if self.described.get("user_sgpr_kernarg_preload_length"):
            raise _unknown(UnknownAssembly("arguments that are loaded before the kernel begins"))
        at, found = self.described["user_sgpr_count"], []  # some chips are given more of them than are used
        for axis in "xyz":
            asked = self.described.get(f"system_sgpr_workgroup_id_{axis}", 0) and "ttmp9" not in _begins(self)
            found.append(WORD * (at if asked else NOWHERE))
            at += bool(asked)
        return found

    def launch(self, grid: Sizes, group: Sizes, dynamic_shared: int, parameters: bytes) -> None:
        """`parameters` are as the kernel finds them. Raises `KernelError` for what was wrong."""
        threads = int(np.prod(group))
        waves = -(-threads // self.lanes)
        held: list[np.ndarray] = []

        def room(nbytes: int, grain: int = 16) -> int:
            held.append(np.zeros((nbytes + grain) // 8 + 2, np.uint64))
            return rounded_up(held[-1].ctypes.data, grain)

        shared = self.described.get("group_segment_fixed_size", 0) + dynamic_shared
        local = rounded_up(self.described.get("private_segment_fixed_size", 0), 16)
        behind = rounded_up(shared, 16)
        states = np.full(behind + 64, NOT_SHARED, np.uint8)
        states[:shared], states[shared:behind] = UNTOUCHED, BEHIND_SHARED
        ctypes.memmove(self.arguments, parameters, min(len(parameters), self.argument_bytes))
        template = np.frombuffer(bytes(self.code.template), np.uint8)
        memory = self.text.memory
        words = np.zeros(len(SLOTS), np.uint64)
        values = {
            **{f"ntid.{axis}": n for axis, n in zip("xyz", group, strict=True)},
            **{f"nctaid.{axis}": n for axis, n in zip("xyz", grid, strict=True)},
            **{f"group_at.{axis}": at for axis, at in zip("xyz", self._group_at, strict=True)},
            "items": self.described.get("system_vgpr_workitem_id", 0),
            "template": template.ctypes.data,
            "template_bytes": len(self.code.template),
            "threads": threads,
            "shared": room(behind),
            "shared_bytes": behind,
            "shared_state": states.ctypes.data,
            "shared_cells": room(behind * CELL_BYTES),
            "arena": memory.address,
            "arena_bytes": memory.nbytes,
            "arena_state": memory.states,
            "read_mask": splat(BUT_PADDING, 8),
            "local_bytes": local,
            "locals": room(local * threads),
            "frames": room(self.code.wave_bytes * waves, 64),
            "frame_bytes": self.code.wave_bytes,
            "kinds": room(len(self.text.module.instructions) + 2),
            "places": room(_COUNT * waves),
            "barrier_numbers": room(_COUNT * waves),
            "barrier_counts": room(_COUNT * waves),
            "arrived": room(_COUNT),
            "barriers": 1,
            "fences": room(WORD * threads),
        }
        for name, value in values.items():
            words[SLOTS[name]] = value
        found_accesses = collected()
        counter = AccessCounter(words, self.lanes, SEGMENT) if found_accesses is not None else None
        records = self.code.records if counter is None else self._traced_records
        with launch_lock:
            self._grid(words.ctypes.data, ctypes.addressof(records))
        if words[SLOTS["fault"]]:
            found = {name: int(words[number]) for name, number in SLOTS.items()}
            raise launch_error(
                self.name,
                self.text.module.instructions,
                found | {"shared_bytes": shared},
                lambda kind, one: self._memory(one.name, found | {"shared_bytes": shared}),
            )
        if found_accesses is not None and counter is not None:
            counter.add_to(found_accesses, self.name, self.text.module.instructions)

    def _memory(self, name: str, words: dict[str, int]) -> str:
        """Where an access was, in words."""
        address = words["fault_address"]
        if name.startswith("ds_"):
            return f"at byte {address} of {words['shared_bytes']} of shared memory"
        if name.startswith(("scratch_", "buffer_")):
            return f"at byte {address - words['local']} of {words['local_bytes']} of private memory"
        return self.text.memory.described(address)


def _begins(program: WaveProgram) -> tuple[str, ...]:
    """Registers that hold the group's number in chips that have them for it."""
    return ("ttmp9", "ttmp7") if program.text.module.chip.startswith("gfx12") else ()


def _check_modes(kernel: Kernel) -> None:
    for name, wanted in _MODES.items():
        if kernel.described.get(name, wanted) != wanted:
            raise UnknownAssembly(f"a kernel that begins with {name} {kernel.described[name]}")


def _unknown(error: UnknownAssembly) -> DeviceError:
    return DeviceError(f"the emulator does not know {error}", hint="please report it: nothing is skipped")
