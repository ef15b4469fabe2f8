"""The text of a SPIR-V binary, by SPIRV-Tools where they are installed.

Comes in: a binary. Goes out: its instructions, one a line; "" where there is no ``spirv-dis``.
"""

from __future__ import annotations

import functools
import shutil
import subprocess


@functools.cache
def disassembler() -> str | None:
    """Where ``spirv-dis`` is (Debian: spirv-tools)."""
    return shutil.which("spirv-dis")


def disassembled(binary: bytes) -> str:
    """The instructions of a binary."""
    path = disassembler()
    if path is None:
        return ""
    command = [path, "--no-color", "--no-header", "-"]
    done = subprocess.run(command, input=binary, capture_output=True, check=False)
    return done.stdout.decode() if done.returncode == 0 else ""
