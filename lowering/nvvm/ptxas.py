"""PTX to machine code by NVIDIA's assembler, where it is installed; what it says about registers.

ptxas comes with the wheel `nvidia-cuda-nvcc-cu12` or a CUDA toolkit.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from pykern.environment.installation import install_extra
from pykern.environment.memory_file import MemoryFile
from pykern.errors import TargetError
from pykern.lowering.nvvm.tools import tool

_USED = re.compile(r"Used (\d+) registers")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


@dataclass(frozen=True)
class Cubin:
    """Machine code; `registers` of 32 bits a work-item, `stack` and spills in bytes."""

    binary: bytes
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int


def ptxas() -> str | None:
    """The path of the assembler, or None."""
    return tool("nvidia.cuda_nvcc", "ptxas")


def assemble(ptx: str, chip: str) -> Cubin:
    """Raises `TargetError` with what the assembler says."""
    program = ptxas()
    if program is None:
        raise TargetError("no ptxas was found", hint=install_extra("cuda", "nvidia-cuda-nvcc-cu12"))
    with MemoryFile(ptx.encode()) as source, MemoryFile() as result:
        lines = ["-lineinfo"] if "\t.loc\t" in ptx else []
        command = [program, "-v", "-O3", *lines, f"-arch={chip}", source.path, "-o", result.path]
        handles = (*source.handles, *result.handles)
        done = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=handles)
        if done.returncode:
            raise TargetError(f"ptxas failed: {(done.stderr + done.stdout).strip() or done.returncode}")
        binary = result.read()
    return measured(binary, done.stderr)


def measured(binary: bytes, said: str) -> Cubin:
    """Machine code with what the assembler said of it."""
    used, frame = _USED.search(said), _FRAME.search(said)
    stack, stores, loads = (int(n) for n in frame.groups()) if frame else (0, 0, 0)
    return Cubin(binary, int(used.group(1)) if used else 0, stack, stores, loads)
