"""Code as OpenCL is given it: SPIR-V as bytes, OpenCL C as text."""

from __future__ import annotations

SPIRV = (0x07230203).to_bytes(4, "little")
"""What every SPIR-V binary begins with."""


def given(code: bytes) -> bytes | str:
    """The code for `pyopencl.Program`."""
    return code if code.startswith(SPIRV) else code.decode()
