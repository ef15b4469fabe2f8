"""What a SPIR-V module says of itself: what a driver has to check, as drivers need not.

Comes in: a binary. Goes out: `Module`, plain data. Code that asks for what the device lacks, or whose
bindings or group size are others than the launch's, is undefined behaviour to Vulkan; here it is an error.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pykern.errors import DeviceError

MAGIC = 0x07230203

_CAPABILITY, _ENTRY_POINT, _EXECUTION_MODE, _DECORATE, _FUNCTION_END = 17, 15, 16, 71, 56
_LOCAL_SIZE, _DESCRIPTOR_SET, _BINDING = 17, 34, 33


@dataclass(frozen=True)
class Module:
    """`bindings` are those of set 0; `local_size` is () where an entry has none of its own."""

    version: tuple[int, int]
    capabilities: frozenset[int]
    entries: tuple[str, ...]
    local_sizes: dict[str, tuple[int, ...]]
    bindings: frozenset[int]
    sets: frozenset[int]


def read(binary: bytes) -> Module:
    """Raises `DeviceError` where `binary` is no SPIR-V module."""
    if len(binary) < 20 or len(binary) % 4:
        raise DeviceError(f"this is no SPIR-V: {len(binary)} bytes")
    words = struct.unpack(f"<{len(binary) // 4}I", binary)
    if words[0] != MAGIC:
        raise DeviceError(f"this is no SPIR-V: it begins with {words[0]:#010x}")
    capabilities: set[int] = set()
    entries: dict[int, str] = {}
    sizes: dict[int, tuple[int, ...]] = {}
    binding: dict[int, int] = {}
    sets: dict[int, int] = {}
    position, opcode = 5, 0
    while position < len(words):
        length, opcode = words[position] >> 16, words[position] & 0xFFFF
        if length == 0 or position + length > len(words):
            raise DeviceError(f"this SPIR-V is cut off at word {position}")
        operands = words[position + 1 : position + length]
        if opcode == _CAPABILITY:
            capabilities.add(operands[0])
        elif opcode == _ENTRY_POINT:
            entries[operands[1]] = _string(operands[2:])
        elif opcode == _EXECUTION_MODE and operands[1] == _LOCAL_SIZE:
            sizes[operands[0]] = operands[2:5]
        elif opcode == _DECORATE and operands[1] == _BINDING:
            binding[operands[0]] = operands[2]
        elif opcode == _DECORATE and operands[1] == _DESCRIPTOR_SET:
            sets[operands[0]] = operands[2]
        position += length
    if opcode != _FUNCTION_END:
        raise DeviceError("this SPIR-V is cut off: it does not end with a function")
    return Module(
        ((words[1] >> 16) & 0xFF, (words[1] >> 8) & 0xFF),
        frozenset(capabilities),
        tuple(entries.values()),
        {name: sizes[function] for function, name in entries.items() if function in sizes},
        frozenset(number for variable, number in binding.items() if sets.get(variable, 0) == 0),
        frozenset(sets.values()),
    )


def _string(words: tuple[int, ...]) -> str:
    data = struct.pack(f"<{len(words)}I", *words)
    return data[: data.index(0)].decode("utf-8", "replace")


def capability_name(number: int) -> str:
    return f"the capability {_NAMES[number]}" if number in _NAMES else f"capability {number}"


_NAMES = {
    4: "Addresses (this is code for OpenCL)",
    5: "Linkage (this is code for OpenCL)",
    6: "Kernel (this is code for OpenCL)",
    9: "Float16",
    10: "Float64",
    11: "Int64",
    12: "Int64Atomics",
    22: "Int16",
    39: "Int8",
    61: "GroupNonUniform",
    63: "GroupNonUniformArithmetic",
    65: "GroupNonUniformShuffle",
    67: "GroupNonUniformClustered",
    4433: "StorageBuffer16BitAccess",
    4448: "StorageBuffer8BitAccess",
    5345: "VulkanMemoryModel",
    6033: "AtomicFloat32AddEXT",
    6034: "AtomicFloat64AddEXT",
    6095: "AtomicFloat16AddEXT",
}
"""Capabilities that kernels ask for and some devices lack."""
