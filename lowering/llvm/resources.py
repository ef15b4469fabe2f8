"""What machine code takes: read from the assembly and the object, not estimated."""

from __future__ import annotations

import re

from pykern.lowering.llvm.codegen import MachineCode

_WIDTHS = ((r"%zmm\d", 512), (r"%ymm\d", 256), (r"%xmm\d", 128), (r"\bv\d+\.(?:4s|2d|8h|16b)", 128))


def resources(code: MachineCode) -> dict[str, object]:
    """Bytes of the objects, and, where the assembly was made, its instructions and widest vectors (bits)."""
    found: dict[str, object] = {"object_bytes": sum(map(len, code.objects))}
    if code.assembly:
        body = [line for line in code.assembly.splitlines() if re.match(r"\s+[a-z]", line)]
        found["instructions"] = len(body)
        widths = [bits for pattern, bits in _WIDTHS if re.search(pattern, code.assembly)]
        found["vector_bits"] = max(widths, default=0)
    return found
