"""Shared objects by dlopen: for debuggers (`PYKERN_LOADER=dlopen`), where the system lets no memory become executable
that was written, and on systems other than Linux.

Comes in: the bytes of a shared object. Goes out: `ctypes.CDLL`. dlopen wants a file: one in memory (memfd), or one in a
folder, which is gone again when it is loaded. It takes two files of one name for the same library, so each name is new.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator

from pykern.environment.settings import settings

_numbers = itertools.count()


def open_dynamic(binary: bytes, wanted: bool) -> ctypes.CDLL:
    """Load it. `wanted`: by a debugger, which looks for a file. Raises OSError that says what was tried."""
    failures = []
    for way in _ways(wanted):
        try:
            return way(binary)
        except OSError as error:
            failures.append(str(error))
    raise OSError(f"dlopen takes it from nowhere: {'; '.join(dict.fromkeys(failures))}")


def _ways(wanted: bool) -> Iterator[Callable[[bytes], ctypes.CDLL]]:
    if hasattr(os, "memfd_create") and not wanted:
        yield _from_memory
    yield _from_temporary_folder
    yield _from_cache_folder  # where the other one is mounted `noexec`, or is not there
    if hasattr(os, "memfd_create") and wanted:
        yield _from_memory


def _from_memory(binary: bytes) -> ctypes.CDLL:
    handle = os.memfd_create("pykern")
    try:
        _write(handle, binary)
        return ctypes.CDLL(_unused_name(handle))
    finally:
        os.close(handle)


def _unused_name(handle: int) -> str:
    """A path to the file that no other library came from: numbers of files come again, so `.` and `..` count."""
    number = next(_numbers)
    return "/proc/self/fd/" + "".join("./" if bit == "1" else ".//" for bit in f"{number:b}") + str(handle)


def _from_temporary_folder(binary: bytes) -> ctypes.CDLL:
    return _from_folder(binary, tempfile.gettempdir())


def _from_cache_folder(binary: bytes) -> ctypes.CDLL:
    folder = settings().cache_dir
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return _from_folder(binary, folder)


def _from_folder(binary: bytes, folder: str) -> ctypes.CDLL:
    handle, path = tempfile.mkstemp(prefix="pykern-", suffix=".so", dir=folder)
    try:
        try:
            _write(handle, binary)
        finally:
            os.close(handle)
        return ctypes.CDLL(path)
    finally:
        os.unlink(path)


def _write(handle: int, binary: bytes) -> None:
    left = memoryview(binary)
    while left:
        left = left[os.write(handle, left) :]
