"""Object files become a shared object.

On Linux `pykern.lowering.elf` does it, in place and in less than a millisecond. Elsewhere the system's compiler driver
links. Undefined symbols (Python's C API, libm) are found in the process that loads the result; conversions of floats
that LLVM calls by name are linked in (`float_conversions`).
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile

from pykern.errors import TargetError
from pykern.lowering.elf import shared_object
from pykern.lowering.llvm import float_conversions
from pykern.lowering.llvm.codegen import assemble
from pykern.lowering.llvm.machines import HERE, Host


def link_shared(*object_files: bytes, host: Host = HERE) -> bytes:
    """Link objects for a machine. Raises `TargetError` for what cannot be linked, or where there is no linker."""
    if not shared_object.links(object_files[0]):
        return _with_driver(object_files)
    return shared_object.link(*object_files, supply=lambda names: _supplied(names, host))


def _supplied(names: frozenset[str], host: Host) -> tuple[bytes, ...]:
    """Objects that have some of what is missing."""
    return (assemble(float_conversions.TEXT, host),) if names & float_conversions.NAMES else ()


def _with_driver(object_files: tuple[bytes, ...]) -> bytes:
    """The system's compiler driver wants files: they are in a folder of their own, which is gone afterwards."""
    command = _driver()
    with tempfile.TemporaryDirectory(prefix="pykern-link-") as folder:
        sources = [os.path.join(folder, f"{n}.o") for n in range(len(object_files))]
        for source, content in zip(sources, object_files, strict=True):
            with open(source, "wb") as file:
                file.write(content)
        result = os.path.join(folder, "kernel.so")
        done = subprocess.run((*command, "-o", result, *sources), capture_output=True, text=True, check=False)
        if done.returncode:
            raise TargetError(f"linking failed: {done.stderr.strip() or done.returncode}")
        with open(result, "rb") as file:
            return file.read()


@functools.cache
def _driver() -> tuple[str, ...]:
    for name in ("cc", "clang", "gcc"):
        driver = shutil.which(name)
        if driver is not None:
            macos = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
            return (driver, "-shared", *macos)
    raise TargetError("no linker was found", hint="install a C compiler")
