"""Where OpenCL's loader looks for drivers, and the one of PyPI that it would not find.

``pip install intel-opencl-rt intel-cmplr-lib-rt`` puts a driver beside Python (the second package holds
libraries that the first loads and does not declare), and an entry for the loader that names the folder
it was built in. While the loader starts, it is shown a folder with the entries of the system and a right one.
A user who has set ``OCL_ICD_VENDORS`` knows better: then nothing is done.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

SYSTEM = "/etc/OpenCL/vendors"
VARIABLES = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
PACKAGE, LIBRARY = "intel-opencl-rt", "libintelocl.so"


@contextmanager
def vendors() -> Iterator[str]:
    """Let the loader, which reads its folder once, find every driver; gives what it looks through, in words."""
    for variable in VARIABLES:
        if os.environ.get(variable):
            yield f"{variable}={os.environ[variable]}"
            return
    library = packaged_library()
    entries = system_entries()
    if not sys.platform.startswith("linux") or library is None or _is_named(LIBRARY, entries):
        yield SYSTEM
        return
    with tempfile.TemporaryDirectory(prefix="pykern-opencl-") as folder:  # made for this user alone
        for number, entry in enumerate(entries):
            os.symlink(entry, os.path.join(folder, f"{number:02}-{os.path.basename(entry)}"))
        with open(os.path.join(folder, "pykern-intel.icd"), "w") as file:
            file.write(library + "\n")
        os.environ[VARIABLES[0]] = folder
        try:
            yield f"{SYSTEM} and {library}"
        finally:
            del os.environ[VARIABLES[0]]


def packaged_library() -> str | None:
    """The driver library that pip installed, None where it did not."""
    try:
        files = importlib.metadata.files(PACKAGE) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == LIBRARY:
            path = os.path.realpath(os.fspath(file.locate()))
            return path if os.path.exists(path) else None
    return None


def system_entries() -> list[str]:
    """The loader's own entries: the system's, and those that came with pyopencl."""
    home = os.environ.get("PYOPENCL_HOME", "")  # set by pyopencl itself
    found = []
    for folder in (SYSTEM, os.path.join(home, ".libs") if home else ""):
        if folder and os.path.isdir(folder):
            found += [
                os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".icd")
            ]
    return found


def _is_named(library: str, entries: list[str]) -> bool:
    for entry in entries:
        try:
            with open(entry) as file:
                named = file.readline().strip()
        except OSError:
            continue
        if os.path.basename(named).startswith(library) and os.path.exists(named):
            return True
    return False
