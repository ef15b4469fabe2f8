"""Features of a device: which are there, which SPIR-V capabilities and dtypes they give.

Comes in: a physical device. Goes out: `Features`, whose `chain` enables exactly what was found when a
device is made of it. Read next: device.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pykern.runtime.drivers.vulkan.api import NULL, ffi, lib, struct, vk

# Where a feature stands -> its name -> the SPIR-V capabilities (by number and name) that it allows.
WANTED: dict[str, dict[str, tuple[tuple[int, str], ...]]] = {
    "VkPhysicalDeviceFeatures": {
        "shaderFloat64": ((10, "Float64"),),
        "shaderInt64": ((11, "Int64"),),
        "shaderInt16": ((22, "Int16"),),
    },
    "VkPhysicalDeviceVulkan11Features": {
        "storageBuffer16BitAccess": ((4433, "StorageBuffer16BitAccess"),),
        "uniformAndStorageBuffer16BitAccess": ((4434, "UniformAndStorageBuffer16BitAccess"),),
        "variablePointersStorageBuffer": ((4441, "VariablePointersStorageBuffer"),),
        "variablePointers": ((4442, "VariablePointers"),),
    },
    "VkPhysicalDeviceVulkan12Features": {
        "shaderFloat16": ((9, "Float16"),),
        "shaderInt8": ((39, "Int8"),),
        "storageBuffer8BitAccess": ((4448, "StorageBuffer8BitAccess"),),
        "uniformAndStorageBuffer8BitAccess": ((4449, "UniformAndStorageBuffer8BitAccess"),),
        "shaderBufferInt64Atomics": ((12, "Int64Atomics"),),
        "shaderSharedInt64Atomics": ((12, "Int64Atomics"),),
        "scalarBlockLayout": (),
        "shaderSubgroupExtendedTypes": (),
        "vulkanMemoryModel": ((5345, "VulkanMemoryModel"),),
        "vulkanMemoryModelDeviceScope": ((5346, "VulkanMemoryModelDeviceScope"),),
        "timelineSemaphore": (),
    },
    "VkPhysicalDeviceVulkan13Features": {
        "shaderIntegerDotProduct": (
            (6016, "DotProductInputAll"),
            (6017, "DotProductInput4x8Bit"),
            (6018, "DotProductInput4x8BitPacked"),
            (6019, "DotProduct"),
        ),
        "maintenance4": (),
    },
    "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT": {
        "shaderBufferFloat32Atomics": (),
        "shaderBufferFloat32AtomicAdd": ((6033, "AtomicFloat32AddEXT"),),
        "shaderBufferFloat64Atomics": (),
        "shaderBufferFloat64AtomicAdd": ((6034, "AtomicFloat64AddEXT"),),
        "shaderSharedFloat32Atomics": (),
        "shaderSharedFloat32AtomicAdd": ((6033, "AtomicFloat32AddEXT"),),
        "shaderSharedFloat64Atomics": (),
        "shaderSharedFloat64AtomicAdd": ((6034, "AtomicFloat64AddEXT"),),
    },
    "VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT": {
        "shaderBufferFloat16Atomics": (),
        "shaderBufferFloat16AtomicAdd": ((6095, "AtomicFloat16AddEXT"),),
        "shaderBufferFloat16AtomicMinMax": ((5616, "AtomicFloat16MinMaxEXT"),),
        "shaderBufferFloat32AtomicMinMax": ((5612, "AtomicFloat32MinMaxEXT"),),
        "shaderBufferFloat64AtomicMinMax": ((5613, "AtomicFloat64MinMaxEXT"),),
        "shaderSharedFloat16Atomics": (),
        "shaderSharedFloat16AtomicAdd": ((6095, "AtomicFloat16AddEXT"),),
        "shaderSharedFloat16AtomicMinMax": ((5616, "AtomicFloat16MinMaxEXT"),),
        "shaderSharedFloat32AtomicMinMax": ((5612, "AtomicFloat32MinMaxEXT"),),
        "shaderSharedFloat64AtomicMinMax": ((5613, "AtomicFloat64MinMaxEXT"),),
    },
}
EXTENSIONS = {
    "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT": "VK_EXT_shader_atomic_float",
    "VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT": "VK_EXT_shader_atomic_float2",
}
"""Structures of features that only come with an extension."""

ALWAYS = {0: "Matrix", 1: "Shader"}
SUBGROUPS = (  # bits of supportedOperations
    (1, 61, "GroupNonUniform"),
    (2, 62, "GroupNonUniformVote"),
    (4, 63, "GroupNonUniformArithmetic"),
    (8, 64, "GroupNonUniformBallot"),
    (16, 65, "GroupNonUniformShuffle"),
    (32, 66, "GroupNonUniformShuffleRelative"),
    (64, 67, "GroupNonUniformClustered"),
    (128, 68, "GroupNonUniformQuad"),
)
FLOAT_CONTROLS = (  # properties, by width, that allow a capability
    (4464, "DenormPreserve", "shaderDenormPreserveFloat"),
    (4465, "DenormFlushToZero", "shaderDenormFlushToZeroFloat"),
    (4466, "SignedZeroInfNanPreserve", "shaderSignedZeroInfNanPreserveFloat"),
    (4467, "RoundingModeRTE", "shaderRoundingModeRTEFloat"),
    (4468, "RoundingModeRTZ", "shaderRoundingModeRTZFloat"),
)


@dataclass(frozen=True)
class Features:
    """`found` are names of `WANTED`; `capabilities` SPIR-V's, by number."""

    found: frozenset[str]
    capabilities: dict[int, str]
    extensions: tuple[str, ...]
    structures: tuple[str, ...]

    def chain(self) -> Any:
        """A VkPhysicalDeviceFeatures2 that asks for all that was found."""
        head, parts = _chain(self.structures)
        for name, part in parts.items():
            for field in WANTED[name]:
                if field in self.found:
                    setattr(part, field, 1)
        return head

    def dtypes(self) -> frozenset[str]:
        """What the device both computes with and keeps in arrays."""
        names = {"bool", "i32", "u32", "f32"}
        if {"shaderInt8", "storageBuffer8BitAccess"} <= self.found:
            names |= {"i8", "u8"}
        if {"shaderInt16", "storageBuffer16BitAccess"} <= self.found:
            names |= {"i16", "u16"}
        if {"shaderFloat16", "storageBuffer16BitAccess"} <= self.found:
            names.add("f16")
        if "shaderInt64" in self.found:
            names |= {"i64", "u64"}
        if "shaderFloat64" in self.found:
            names.add("f64")
        return frozenset(names)

    def atomics(self) -> frozenset[str]:
        """What it adds to atomically, in arrays."""
        names = {"i32", "u32"}
        if "shaderBufferInt64Atomics" in self.found:
            names |= {"i64", "u64"}
        names |= {f"f{bits}" for bits in (16, 32, 64) if f"shaderBufferFloat{bits}AtomicAdd" in self.found}
        return frozenset(names)


def find(device: Any, version: tuple[int, int], extensions: frozenset[str]) -> Features:
    """What `device`, of that version of the API, can do of `WANTED`."""
    names = tuple(
        name
        for name in WANTED
        if EXTENSIONS.get(name, "") in (extensions | {""})
        and (name != "VkPhysicalDeviceVulkan13Features" or version >= (1, 3))
    )
    head, parts = _chain(names)
    lib.vkGetPhysicalDeviceFeatures2(device, head)
    found = frozenset(field for name, part in parts.items() for field in WANTED[name] if getattr(part, field))
    allowed = dict(ALWAYS)
    for name in names:
        for field, capabilities in WANTED[name].items():
            allowed.update(capabilities if field in found else ())
    allowed.update(_of_properties(device))
    return Features(found, allowed, tuple(EXTENSIONS[n] for n in names if n in EXTENSIONS), names)


def _of_properties(device: Any) -> dict[int, str]:
    """Capabilities that hang on properties: subgroup operations and control of floats."""
    controls = struct("VkPhysicalDeviceVulkan12Properties")
    subgroups = struct("VkPhysicalDeviceVulkan11Properties", pNext=controls)
    lib.vkGetPhysicalDeviceProperties2(device, struct("VkPhysicalDeviceProperties2", pNext=subgroups))
    allowed: dict[int, str] = {}
    if subgroups.subgroupSupportedStages & vk.VK_SHADER_STAGE_COMPUTE_BIT:
        operations = subgroups.subgroupSupportedOperations
        allowed.update({number: name for bit, number, name in SUBGROUPS if operations & bit})
    for number, name, prefix in FLOAT_CONTROLS:
        if any(getattr(controls, f"{prefix}{bits}") for bits in (16, 32, 64)):
            allowed[number] = name
    return allowed


def _chain(names: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Structures linked to one another, and where the fields of each are."""
    parts: dict[str, Any] = {}
    following = NULL
    for name in names:
        if name != "VkPhysicalDeviceFeatures":
            following = parts[name] = struct(name, pNext=following)
    head = struct("VkPhysicalDeviceFeatures2", pNext=following)
    parts["VkPhysicalDeviceFeatures"] = ffi.addressof(head, "features")
    return head, parts
