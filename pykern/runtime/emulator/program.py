"""Kernels that are loaded, and their launches.

Comes in: PTX. Goes out: `Program`, whose `launch` runs a grid and raises what was found wrong in it. One launch of the
process runs at a time.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from pykern.errors import DeviceError, KernelError
from pykern.runtime.emulator.access_counts import AccessCounter
from pykern.runtime.emulator.access_trace import traced
from pykern.runtime.emulator.async_unit import AsyncUnit
from pykern.runtime.emulator.copy_waits import CELL_BYTES as COPY_CELL_BYTES
from pykern.runtime.emulator.copy_waits import CELL_OF, COUNT_BYTES
from pykern.runtime.emulator.device_memory import DeviceMemory
from pykern.runtime.emulator.emit import splat
from pykern.runtime.emulator.engine import engine, numbers
from pykern.runtime.emulator.faults import DIVERGED, UNWRITTEN, Faulty, UnorderedRegisters
from pykern.runtime.emulator.launches import GRID, Sizes, launch_error, launch_lock
from pykern.runtime.emulator.memory_checks import ANY_STATE, BUT_PADDING, NOT_SHARED, READABLE, UNTOUCHED
from pykern.runtime.emulator.parse import parsed
from pykern.runtime.emulator.ptx import Module, UnknownPtx, rounded_up
from pykern.runtime.emulator.races import CELL_BYTES
from pykern.runtime.emulator.shared_accesses import LaunchWords, SharedAccesses
from pykern.runtime.emulator.slots import SLOTS
from pykern.runtime.emulator.tensor_cores import LANES
from pykern.runtime.emulator.translate import translated
from pykern.runtime.emulator.wait_kinds import BARRIERS, MOST_WORDS, OF_WARPGROUP, WARPS
from pykern.runtime.emulator.waits import kind_of_wait
from pykern.runtime.emulator.warpgroup_matrices import product_form
from pykern.runtime.emulator.warpgroup_registers import check_products
from pykern.runtime.memory_accesses import collected

_MOST_ALIGNED = 64
"""Bytes: parameters are aligned to no more."""
_ASYNCHRONOUS = ("mbarrier", "wgmma")
SECTOR = 32
"""Bytes that global memory moves at least."""
_NO_REQUESTS = ("mbarrier", "cp.async.bulk")
"""Beginnings of names of instructions whose accesses are not those of a warp's lanes."""


class LoadedText:
    """A text of PTX on a device: its constants lie in the device's memory."""

    def __init__(self, text: str, memory: DeviceMemory) -> None:
        try:
            self.module: Module = parsed(text)
        except UnknownPtx as error:
            raise _unknown(error) from None
        self.memory = memory
        self.constants = self._placed()
        self.programs: dict[str, Program] = {}

    def _placed(self) -> int:
        nbytes = self.module.sizes["global"]
        if nbytes == 0:
            return 0
        address = self.memory.allocate(nbytes, READABLE)
        for symbol in self.module.symbols.values():
            if symbol.space == "global":
                ctypes.memmove(address + symbol.offset, symbol.data, symbol.nbytes)
        return address

    def program(self, name: str) -> Program:
        if name not in self.programs:
            self.programs[name] = Program(self, name)
        return self.programs[name]

    def unload(self) -> None:
        with launch_lock:
            for program in self.programs.values():
                for code in program.modules:
                    engine().remove(code)
        if self.constants:
            self.memory.free(self.constants)


class Program:
    """A kernel of a text, as machine code of the host."""

    def __init__(self, text: LoadedText, name: str) -> None:
        self.text, self.name = text, name
        try:
            made = translated(text.module, name, f"k{next(numbers)}_")
            check_products(text.module.functions[name])
        except UnknownPtx as error:
            raise _unknown(error) from None
        except UnorderedRegisters as error:
            raise error.error(name) from None
        with launch_lock:
            code, (self._address,) = engine().add(made.text, [made.kernel])
            self._grid = GRID(engine().grid)
        self.modules = [code]
        self.parameters = text.module.functions[name].parameters
        self._exchanges = any(
            one.stem == "atom" and one.types == ("b32",) for one in text.module.instructions
        )
        used = [one for block in text.module.functions[name].blocks for one in block.instructions]
        self._is_asynchronous = any(one.stem in _ASYNCHRONOUS or "bulk" in one.modifiers for one in used)
        self._names_barriers = any(
            one.stem in ("bar", "barrier") and one.operands[:1] != ("0",) for one in used
        )
        self._frame_bytes = made.frame_bytes
        self._waits = made.waits
        self._kinds = np.array([0, *map(kind_of_wait, made.waits)], np.uint8)
        self._exchanged = int(self._kinds[self._kinds <= MOST_WORDS].max())
        forms = [product_form(one) for one in made.waits if kind_of_wait(one) == OF_WARPGROUP]
        self._product_words = max((form.words for form in forms), default=0)

    def launch(self, grid: Sizes, group: Sizes, dynamic_shared: int, parameters: bytes) -> None:
        """`parameters` are 8 bytes each, or a multiple of them. Raises `KernelError` for what was wrong."""
        threads = int(np.prod(group))
        warps, own = -(-threads // LANES), self.text.module.sizes
        held: list[np.ndarray] = []

        def room(nbytes: int) -> int:
            held.append(np.zeros(nbytes // 8 + 2, np.uint64))
            return rounded_up(held[-1].ctypes.data, 16)

        shared = own["shared"] + dynamic_shared
        states = self._shared_states(shared, dynamic_shared)
        # parameters of 64 bytes are aligned, too
        held.append(np.zeros(len(parameters) + _MOST_ALIGNED + 8, np.uint8))
        given = rounded_up(held[-1].ctypes.data, _MOST_ALIGNED)
        ctypes.memmove(given, parameters, len(parameters))
        local = rounded_up(own["local"], 16)
        words = np.zeros(len(SLOTS), np.uint64)
        memory = self.text.memory
        values = {
            **{f"ntid.{axis}": n for axis, n in zip("xyz", group, strict=True)},
            **{f"nctaid.{axis}": n for axis, n in zip("xyz", grid, strict=True)},
            "threads": threads,
            "parameters": given,
            "parameter_bytes": len(parameters),
            "constants": self.text.constants,
            "shared": room(shared),
            "shared_bytes": shared,
            "shared_state": states.ctypes.data,
            "shared_cells": room(shared * CELL_BYTES),
            "arena": memory.address,
            "arena_bytes": memory.nbytes,
            "arena_state": memory.states,
            "read_mask": splat(BUT_PADDING if self._exchanges else ANY_STATE, 8),
            "local_bytes": local,
            "locals": room(local * threads),
            "frames": room(self._frame_bytes * threads),
            "frame_bytes": self._frame_bytes,
            "states": room(4 * threads),
            "all_given": room(8 * LANES * self._exchanged * warps),
            "all_taken": room(8 * LANES * self._exchanged * warps),
            "given_bytes": 8 * LANES * self._exchanged,
            "kinds": self._kinds.ctypes.data,
            "places": room(8 * warps),
            "barrier_numbers": room(8 * warps),
            "barrier_counts": room(8 * warps),
            "arrived": room(8 * BARRIERS),
            "barriers": BARRIERS if self._names_barriers else 1,
            "warpgroups": warps // WARPS if self._product_words else 0,
            "products": room(4 * self._product_words * threads),
            "product_bytes": 4 * self._product_words,
            "fences": room(4 * threads),
            "wait_counts": room(COUNT_BYTES * (threads + shared // 8 + 1)),
            "copy_cells": room(COPY_CELL_BYTES * (shared // CELL_OF + 1)),
        }
        for name, value in values.items():
            words[SLOTS[name]] = value
        unit = self._unit(words, threads) if self._is_asynchronous else None
        if unit is not None:
            words[SLOTS["unit"]] = ctypes.cast(unit.function, ctypes.c_void_p).value or 0
            words[SLOTS["request"]] = unit.request.ctypes.data
        found = collected()
        counter = AccessCounter(words, LANES, SECTOR) if found is not None else None
        address = self._address if counter is None else self._traced_address
        with launch_lock:
            self._grid(words.ctypes.data, address)
        if words[SLOTS["fault"]]:
            raise self._error({name: int(words[number]) for name, number in SLOTS.items()})
        if found is not None and counter is not None:
            counter.add_to(found, self.name, self.text.module.instructions, _NO_REQUESTS)

    @functools.cached_property
    def _traced_address(self) -> int:
        """Of the same kernel, which writes down its accesses."""
        made = translated(self.text.module, self.name, f"k{next(numbers)}_")
        with launch_lock:
            engine().add_traced_checks()
            code, (address,) = engine().add(traced(made.text), [made.kernel])
        self.modules.append(code)
        return address

    def _unit(self, words: np.ndarray, threads: int) -> AsyncUnit:
        named = LaunchWords(words)
        brought = (ctypes.c_uint32 * (threads * self._product_words)).from_address(named["products"])
        products = np.ctypeslib.as_array(brought).reshape(threads, self._product_words)
        return AsyncUnit(named, SharedAccesses(named), self.text.memory, self._waits, products)

    def _shared_states(self, nbytes: int, dynamic: int) -> np.ndarray:
        states = np.full(nbytes + 16, NOT_SHARED, np.uint8)
        for symbol in self.text.module.symbols.values():
            if symbol.space == "shared":
                states[symbol.offset : symbol.offset + (symbol.nbytes or dynamic)] = UNTOUCHED
        return states

    def _error(self, words: dict[str, int]) -> KernelError:
        places = self._waits if words["fault"] == DIVERGED else self.text.module.instructions
        return launch_error(self.name, places, words, lambda kind, one: self._memory(kind, one, words))

    def _memory(self, kind: int, one: Faulty, words: dict[str, int]) -> str:
        address, spaces = words["fault_address"], one.name.split(".")
        copied_from = "global" in spaces and address >= words["arena"]  # a copy has two addresses
        if (any(part.startswith("shared") for part in spaces) and not copied_from) or kind == UNWRITTEN:
            return f"at byte {address} of {words['shared_bytes']} of shared memory"
        return "" if "local" in spaces else self.text.memory.described(address)


def _unknown(error: UnknownPtx) -> DeviceError:
    return DeviceError(f"the emulator does not know {error}", hint="please report it: nothing is skipped")
