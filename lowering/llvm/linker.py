"""Object files become a shared object.

lld of the `ziglang` wheel does it in about 10 ms, most of which is its start and its end. So it can be started ahead
(`linker`), while the code is still being made, and is not waited for when its output is there: 2 ms. Where it is not
installed, the system's compiler driver links. Undefined symbols (Python's C API, libm) are found in the process that
loads the result.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pykern.errors import TargetError

Linker = Callable[..., bytes]
"""Takes objects, gives a shared object."""


@contextmanager
def linker() -> Iterator[Linker]:
    """A linker that has been started: for one link in the block. Raises `TargetError` where there is none.

    lld reads what it is to do from its standard input, which it finds there when the objects are made, and writes to
    its standard output. If there are none, it is stopped with the block.
    """
    command = _linker()
    if "ld.lld" not in command:
        yield link_shared
        return
    _forget()
    waiting = subprocess.Popen(
        [*command, "@/dev/stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        yield lambda *object_files: _told(waiting, object_files)
    finally:
        waiting.kill()
        _ending.append(waiting)


def _told(waiting: subprocess.Popen[bytes], object_files: tuple[bytes, ...]) -> bytes:
    assert waiting.stdin is not None and waiting.stdout is not None and waiting.stderr is not None
    with _in_files(object_files) as sources:
        try:
            waiting.stdin.write(shlex.join(["-o", "-", *sources]).encode())
            waiting.stdin.close()
        except BrokenPipeError:  # it ended before it was told anything
            raise TargetError("linking failed: the linker did not wait for its objects") from None
        made = b""
        while not _is_whole(made):
            more = os.read(waiting.stdout.fileno(), 1 << 20)
            if not more:
                errors = waiting.stderr.read().decode(errors="replace").strip()
                raise TargetError(f"linking failed: {errors or waiting.wait()}")
            made += more
        return made


def _is_whole(made: bytes) -> bool:
    """Whether all of an ELF file is there, which ends with its section headers: it is not waited for lld's own end."""
    if len(made) < _HEADER.size:
        return False
    sections, size, count = _HEADER.unpack_from(made)
    return len(made) >= sections + size * count


_HEADER = struct.Struct("<40xQ10xHH2x")
"""Of a 64-bit ELF file: where its section headers are, the size of one, and how many there are."""

_ending: list[subprocess.Popen[bytes]] = []


@atexit.register
def _forget() -> None:
    """Let go of linkers that have done their work."""
    while _ending:
        with _ending.pop():
            pass


def link_shared(*object_files: bytes) -> bytes:
    """Link objects. Raises `TargetError` where there is no linker, or it fails."""
    return _link(object_files, lambda words: _run((*_linker(), *words)))


def link_device(object_file: bytes) -> bytes:
    """Link the object of a device, complete in itself; only lld does that."""
    zig = _zig()
    if zig is None:
        raise TargetError("no lld was found", hint="pip install ziglang")
    return _link((object_file,), lambda words: _run((zig, "ld.lld", "-shared", "--no-undefined", *words)))


def _run(command: tuple[str, ...]) -> tuple[int, str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def _link(object_files: tuple[bytes, ...], run: Callable[[list[str]], tuple[int, str]]) -> bytes:
    with _in_files(object_files) as sources:
        result = os.path.join(os.path.dirname(sources[0]), "kernel.so")
        status, errors = run(["-o", result, *sources])
        if status:
            raise TargetError(f"linking failed: {errors.strip() or status}")
        with open(result, "rb") as file:
            return file.read()


@contextmanager
def _in_files(object_files: tuple[bytes, ...]) -> Iterator[list[str]]:
    """Paths of files with these contents, in a folder of their own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="pykern-link-") as folder:
        sources = [os.path.join(folder, f"{n}.o") for n in range(len(object_files))]
        for source, content in zip(sources, object_files, strict=True):
            with open(source, "wb") as file:
                file.write(content)
        yield sources


@functools.cache
def _linker() -> tuple[str, ...]:
    if sys.platform.startswith("linux"):
        zig = _zig()
        if zig is not None:
            return (zig, "ld.lld", "-shared", "--strip-debug", "--threads=1")
    for name in ("cc", "clang", "gcc"):
        driver = shutil.which(name)
        if driver is not None:
            macos = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
            return (driver, "-shared", *macos)
    raise TargetError("no linker was found", hint="pip install ziglang")


def _zig() -> str | None:
    """The binary of the ziglang wheel, looked up without importing it."""
    found = importlib.util.find_spec("ziglang")
    if found is None or not found.submodule_search_locations:
        return None
    binary = os.path.join(found.submodule_search_locations[0], "zig")
    return binary if os.access(binary, os.X_OK) else None
