"""Compiled CPU code into the process.

Comes in: a shared object as the compiler links it. Goes out: `LoadedKernel`, `LoadedEntry`, or any `Library`. Nothing
is ever unloaded: a call may be inside. Read next: `code_memory` (where it is mapped), `imports` (what it finds by
name), `dynamic_library` (dlopen, where that is wanted or nothing else is possible).
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from pykern.data.abi import REFUSED, TABLE_INDEX
from pykern.data.code_image import read
from pykern.data.records import record
from pykern.environment.settings import settings
from pykern.runtime.awaited_team import before_long_launch, is_awaited
from pykern.runtime.code_memory import CodeMemory, NotExecutable, pages
from pykern.runtime.cpu_table import table
from pykern.runtime.imports import address_of, load_libm
from pykern.runtime.launchable import SUPPORTED
from pykern.runtime.own_code import own_code

_MACHINES = {"x86_64": 62, "aarch64": 183}
"""Machines of Linux whose code is linked in the form that is mapped, and their numbers in ELF files."""


class Library:
    """Code that is there, by the names of its functions. `code`: where it begins and its bytes, where that is known."""

    def __init__(self, find: Callable[[str], int | None], code: tuple[int, int] = (0, 0)) -> None:
        self._find = find
        self.code = code

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def address(self, name: str) -> int:
        """Where a function begins. Raises OSError where there is none of the name."""
        address = self._find(name)
        if address is None:
            raise OSError(f"the code has no function `{name}`")
        return address

    def function(self, name: str, result: Any = None, *arguments: Any) -> Any:
        """A function to be called from Python, which lets other threads run meanwhile."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(name))


@record
class LoadedKernel:
    """Code that is there: `run_address` is that of `pk_run`, `entry_address` of the compiled CPython entry, or 0. What
    C calls has neither."""

    library: Library
    run_address: int
    entry_address: int

    def run(self, values: list[int]) -> None:
        """Run a launch from the values of its slots; the GIL is free meanwhile, unless it is short. Raises what a
        signal handler raises."""
        slots = (ctypes.c_int64 * len(values))(*values)
        if not (is_awaited() and self._ran_short(slots)):
            run_slots(self.run_address, slots)

    def _ran_short(self, slots: ctypes.Array) -> bool:
        """Run it if it is so short that it has no use for the team of threads."""
        return "pk_launch" in self.library and _LAUNCH(self.library.address("pk_launch"))(slots) != REFUSED


TAKES_SLOTS = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""`pk_run`, `pk_init` and `pk_bind`, as ctypes calls them."""


_LAUNCH = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
_LAUNCHES = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


@functools.cache
def _launch_by(address: int) -> Any:
    """`pk_call`, which is loaded once."""
    return _LAUNCHES(address)


def run_slots(run_address: int, slots: ctypes.Array, long: bool = True) -> None:
    """Call a `pk_run`, by way of `pk_call` where there is a team of threads, which `long` ones wait for. Raises what a
    signal handler raises."""
    if long:
        before_long_launch()
    call = table()[TABLE_INDEX["pk_call"]]
    if call:
        _launch_by(call)(run_address, slots)
    else:
        TAKES_SLOTS(run_address)(slots)


def load(binary: bytes, entry: str = "pk_entry") -> LoadedKernel:
    """Load the code of a kernel or program. Raises OSError where it does not load."""
    library = _told_of_table(binary)
    own_code.add(*library.code)
    entry_address = library.address(entry) if entry and SUPPORTED else 0
    run_address = library.address("pk_run") if "pk_run" in library else 0
    return LoadedKernel(library, run_address, entry_address)


@record
class LoadedEntry:
    """The compiled entry of launches on a device."""

    library: Library
    address: int

    def bind(self, cells: ctypes.Array) -> None:
        """Say whom it calls; `cells` stay where they are."""
        TAKES_SLOTS(self.library.address("pk_bind"))(cells)


def load_entry(binary: bytes) -> LoadedEntry:
    """Load what `pykern.lowering.gpu.host_entry` made. Raises OSError where it does not load."""
    library = _told_of_table(binary)
    return LoadedEntry(library, library.address("pk_entry"))


def _told_of_table(binary: bytes) -> Library:
    library = open_library(binary)
    TAKES_SLOTS(library.address("pk_init"))(table())
    return library


def open_library(binary: bytes) -> Library:
    """Load code. Raises OSError where that is not possible: it is for another machine, there is no memory."""
    load_libm()
    memory = _memory()
    if memory is not None and memory.usable:
        try:
            return _mapped(binary, memory)
        except NotExecutable:
            memory.usable = False  # it is not asked again
    from pykern.runtime.dynamic_library import open_dynamic  # here: temporary files take 4 ms to import

    library = open_dynamic(binary, wanted=settings().loader == "dlopen")

    def find(name: str) -> int | None:
        function = getattr(library, name, None)
        return None if function is None else ctypes.cast(function, ctypes.c_void_p).value

    return Library(find, _extent(binary, find))


def _extent(binary: bytes, find: Callable[[str], int | None]) -> tuple[int, int]:
    """Where the code begins that the system's loader has opened, and its bytes; zeros where another linker made it."""
    try:
        image = read(binary)
    except OSError:
        return 0, 0
    name, place = next(iter(image.exports.items()))
    address = find(name)
    return (0, 0) if address is None else (address - place, image.code_size)


def _mapped(binary: bytes, memory: CodeMemory) -> Library:
    image = read(binary)
    if image.machine != _MACHINES[os.uname().machine]:
        raise OSError(f"code for another machine (number {image.machine} in ELF files) does not load here")
    begin, places = memory.place(binary, image, address_of), image.exports

    def find(name: str) -> int | None:
        place = places.get(name)
        return None if place is None else begin + place

    return Library(find, (begin, pages(image.size)))


@functools.cache
def _memory() -> CodeMemory | None:
    """Where code is mapped; None where dlopen does it."""
    linux = sys.platform.startswith("linux") and os.uname().machine in _MACHINES
    return CodeMemory() if linux and settings().loader == "map" else None
