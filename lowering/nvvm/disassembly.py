"""The instructions of a cubin, by NVIDIA's disassembler where it is installed.

Comes in: machine code, with line information where it is followed. Goes out: assembly whose ``.loc`` lines say
where what follows comes from, as PTX does; "" where there is no ``nvdisasm``.
It comes with the wheel `nvidia-cuda-nvdisasm` or a CUDA toolkit.
"""

from __future__ import annotations

import re
import subprocess

from pykern.environment.memory_file import MemoryFile
from pykern.lowering.nvvm.tools import tool

_PLACE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)')
_ADDRESS = re.compile(r"^\s*/\*[0-9a-f]+\*/\s*")
_HEADER = re.compile(r"^\s*\.(headerflags|elftype|global|type|size|other|align)\b|^\s*//-")


def disassembler() -> str | None:
    """The path of nvdisasm, or None."""
    return tool("nvidia.cu13", "nvdisasm")


def disassembled(cubin: bytes) -> str:
    """The instructions of a cubin; "" where they cannot be told (a chip that this nvdisasm does not know)."""
    program = disassembler()
    if program is None:
        return ""
    with MemoryFile(cubin) as file:
        command = [program, "-c", "-g", file.path]
        done = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=file.handles)
    return _readable(done.stdout) if done.returncode == 0 else ""


def _readable(text: str) -> str:
    """Without addresses and headers; places as ``.loc``."""
    files: dict[str, int] = {}
    rows: list[str] = []
    for row in text.splitlines():
        if place := _PLACE.match(row):
            name, line = place.groups()
            if name not in files:
                files[name] = len(files) + 1
                rows.append(f'\t.file\t{files[name]} "{name}"')
            rows.append(f"\t.loc\t{files[name]} {line} 0")
        elif not _HEADER.match(row):
            rows.append(_ADDRESS.sub("\t", row))
    return "\n".join(rows).strip("\n")
