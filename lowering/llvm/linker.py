"""Object files become a shared object.

lld of the `ziglang` wheel does it in about 10 ms; where that is not installed, the system's compiler
driver. Undefined symbols (Python's C API, libm) are found in the process that loads the result.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

from pykern.errors import TargetError


def link_shared(*object_files: bytes) -> bytes:
    """Link objects. Raises `TargetError` where there is no linker, or it fails."""
    return _link(object_files, _linker())


def link_device(object_file: bytes) -> bytes:
    """Link the object of a device, complete in itself; only lld does that."""
    zig = _zig()
    if zig is None:
        raise TargetError("no lld was found", hint="pip install ziglang")
    return _link((object_file,), (zig, "ld.lld", "-shared", "--no-undefined"))


def _link(object_files: tuple[bytes, ...], linker: tuple[str, ...]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="pykern-link-") as folder:
        sources = [os.path.join(folder, f"{n}.o") for n in range(len(object_files))]
        result = os.path.join(folder, "kernel.so")
        for source, content in zip(sources, object_files, strict=True):
            with open(source, "wb") as file:
                file.write(content)
        done = subprocess.run([*linker, "-o", result, *sources], capture_output=True, text=True, check=False)
        if done.returncode:
            raise TargetError(f"linking failed: {done.stderr.strip() or done.returncode}")
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
