"""Object files become a shared object.

lld of the `ziglang` wheel does it in about 10 ms, most of which is its start: so it can be started ahead, while
the code is still being made (`linker`). Where it is not installed, the system's compiler driver links. Undefined
symbols (Python's C API, libm) are found in the process that loads the result.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import shutil
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

    lld reads what it is to do from its standard input, which it finds there when the objects are made. If none are,
    it is stopped with the block.
    """
    command = _linker()
    if "ld.lld" not in command:
        yield link_shared
        return
    with subprocess.Popen(
        [*command, "@/dev/stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as waiting:
        try:
            yield lambda *object_files: _link(object_files, lambda words: _told(waiting, words))
        finally:
            waiting.kill()


def _told(waiting: subprocess.Popen[str], words: list[str]) -> tuple[int, str]:
    try:
        _, errors = waiting.communicate(shlex.join(words))
    except BrokenPipeError:  # it ended before it was told anything
        waiting.wait()
        return waiting.returncode or 1, "the linker did not wait for its objects"
    return waiting.returncode, errors


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
    with tempfile.TemporaryDirectory(prefix="pykern-link-") as folder:
        sources = [os.path.join(folder, f"{n}.o") for n in range(len(object_files))]
        result = os.path.join(folder, "kernel.so")
        for source, content in zip(sources, object_files, strict=True):
            with open(source, "wb") as file:
                file.write(content)
        status, errors = run(["-o", result, *sources])
        if status:
            raise TargetError(f"linking failed: {errors.strip() or status}")
        with open(result, "rb") as file:
            return file.read()


@functools.cache
def _linker() -> tuple[str, ...]:
    if sys.platform.startswith("linux"):
        zig = _zig()
        if zig is not None:
            return (zig, "ld.lld", "-shared", "--strip-debug")
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
