"""Text in Metal's language to machine code of the host, by a compiler of C++.

Comes in: the text of a kernel. Goes out: `Library`, whose functions can be run. What stands for Metal's standard
library is `metal_stdlib.h`; the text itself is compiled as it is, but that memory of a group becomes one of the
thread that runs the group. Code is kept on disk (`pykern.storage`), told apart by text, compiler and options. Read
next: `framework`.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pykern.data.digests import digest_of
from pykern.runtime.dynamic_library import open_dynamic
from pykern.storage.store import METAL, shared_store

OPTIONS = (
    "-x", "c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-ffp-contract=off", "-fwrapv", "-fsigned-char",
    "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti", "-fno-math-errno",
    "-Wframe-larger-than=524288", "-Werror=frame-larger-than=524288",
)  # fmt: skip
"""Rounding as Metal's compiler does it with fast math off. The last two: a work-item's stack holds one MiB."""
SUPPORTED = sys.platform.startswith("linux") and platform.machine() in ("x86_64", "aarch64")
_KERNEL = re.compile(r"^kernel void (\w+)\((.*?)\)\s*\{", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"([*&]?) ?(\w+) \[\[(\w+)(?:\((\d+)\))?\]\]")
_GROUP_MEMORY = re.compile(r"^(\s+)threadgroup (\w+ \w+(?:\[\d+\])?;)$", re.MULTILINE)
_PLACES = {
    "thread_position_in_threadgroup": "pk::place(n)",
    "threadgroup_position_in_grid": "pk::launch->at",
}


class CompileError(Exception):
    """What the compiler says of a text."""


@dataclass(frozen=True)
class Parameters:
    """What a kernel takes: how many buffers, and how many pieces of a group's memory."""

    buffers: int
    shared: int
    meets: bool
    """Whether its work-items wait for each other."""


@dataclass
class Library:
    """A text that was compiled."""

    code: ctypes.CDLL
    kernels: dict[str, Parameters]

    def run(
        self,
        name: str,
        buffers: list[int],
        shared: list[int],
        grid: tuple[int, ...],
        group: tuple[int, ...],
    ) -> int:
        """Run a launch, without Python's lock; 0 where all went well, else one of `pk::Result`."""
        addresses = (ctypes.c_void_p * max(1, len(buffers)))(*buffers)
        blocks = [ctypes.create_string_buffer(size + 16) for size in shared]
        aligned = [ctypes.addressof(block) + -ctypes.addressof(block) % 16 for block in blocks]
        places = (ctypes.c_void_p * max(1, len(blocks)))(*aligned)
        sizes = ((ctypes.c_uint * 3)(*each) for each in (grid, group))
        return getattr(self.code, f"pk_run_{name}")(addresses, places, *sizes)


@functools.cache
def compiler() -> tuple[str, ...] | None:
    """The command of a compiler of C++, or None where there is none."""
    if not SUPPORTED:
        return None
    for name in ("c++", "g++", "clang++"):
        path = shutil.which(name)
        if path:
            return (path,)
    if importlib.util.find_spec("ziglang") is not None:  # a wheel with Clang in it
        return (
            sys.executable,
            "-m",
            "ziglang",
            "cc",
        )  # as `c++` it would bring, and first make, a library of C++
    return None


def compiled(text: str) -> Library:
    """The text as a library. Raises `CompileError`."""
    kernels = {match[1]: _parameters(match[2], text) for match in _KERNEL.finditer(text)}
    whole = _whole(text, kernels)
    command = compiler()
    assert command is not None, "devices() looked for one"
    key = digest_of("\n".join((_told(command), *OPTIONS, whole)))
    binary = shared_store().read(METAL, key)
    if binary is None:
        binary = _made(command, whole)
        shared_store().write(METAL, key, binary)
    return Library(open_dynamic(binary, wanted=False), kernels)


def _made(command: tuple[str, ...], text: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="pykern-") as folder:
        path = Path(folder) / "kernel.so"
        made = subprocess.run(
            [*command, *OPTIONS, "-o", str(path), "-", "-lm"],
            input=text.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if made.returncode:
            raise CompileError(made.stdout.decode(errors="replace").strip())
        return path.read_bytes()


@functools.cache
def _told(command: tuple[str, ...]) -> str:
    """The compiler's version."""
    ran = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return " ".join(command) + ran.stdout


@functools.cache
def _header() -> str:
    return Path(__file__).with_name("metal_stdlib.h").read_text()


def _parameters(listed: str, text: str) -> Parameters:
    kinds = [match[3] for match in _PARAMETER.finditer(listed)]
    meets = "threadgroup_barrier" in text or "simd" in text
    return Parameters(kinds.count("buffer"), kinds.count("threadgroup"), meets)


def _whole(text: str, kernels: dict[str, Parameters]) -> str:
    """The text between the library and a function for each kernel that runs a launch."""
    body = text.replace("#include <metal_stdlib>\n", "")
    body = _PARAMETER.sub(r"\1 \2", body)
    body = _GROUP_MEMORY.sub(r"\1static thread_local \2", body)
    lines = [_header(), '#line 2 "kernel.metal"', body]
    for match in _KERNEL.finditer(text):
        given = ", ".join(_argument(*each.groups()) for each in _PARAMETER.finditer(match[2]))
        meets = str(kernels[match[1]].meets).lower()
        lines += [
            f"static void pk_item_{match[1]}(int n) {{ {match[1]}({given}); }}",
            f'extern "C" int pk_run_{match[1]}(void **buffers, void **shared, const uint *grid, const uint *sizes) {{',
            f"    return pk::run(buffers, shared, grid, sizes, {meets}, pk_item_{match[1]});",
            "}",
        ]
    return "\n".join([*lines, ""])


def _argument(mark: str, name: str, kind: str, number: str | None) -> str:
    """What a parameter is given: pointers and references are places of memory."""
    if kind in _PLACES:
        return _PLACES[kind]
    if kind not in ("buffer", "threadgroup") or not mark:
        raise CompileError(f"`{name}`: [[{kind}]] is not emulated")
    memory = f"pk::launch->{'buffers' if kind == 'buffer' else 'shared'}[{number}]"
    return f"pk::{'Pointer' if mark == '*' else 'Reference'}{{{memory}}}"
