"""What a device of Metal can do, as `DeviceInfo`."""

from __future__ import annotations

import platform
from typing import Any

from pykern.runtime.driver import DeviceInfo

DTYPES = frozenset(("bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32"))
ATOMICS = frozenset(("i32", "u32", "f32"))
"""Floats are changed through their bits."""
LANES = 32
"""Work-items of a subgroup of Apple's GPUs."""
BFLOAT_SYSTEM = 14
"""The first macOS whose Metal has matrices of bf16."""
MOST_GROUPS = ((1 << 32) - 1) // 1024
"""Groups along one axis: Metal counts the work-items of a grid in 32 bits."""


def describe(framework: Any, native: Any, runtime: str, ordinal: int) -> DeviceInfo:
    """The device's limits and abilities."""
    metal = framework.metal
    # the family of the M1 and all later ones, by "Metal feature set tables": permutations within subgroups
    lanes = bool(native.supportsFamily_(metal.MTLGPUFamilyApple7))
    sizes = native.maxThreadsPerThreadgroup()
    system = platform.mac_ver()[0]
    # Metal 3.1, whose language has bfloat, came with it
    bfloat = not system or int(system.split(".")[0]) >= BFLOAT_SYSTEM
    options = ["simd", *(["bfloat"] if bfloat else [])] if lanes else []
    return DeviceInfo(
        runtime=runtime,
        ordinal=ordinal,
        name=str(native.name()),
        target="+".join(["source:msl", "words", *options]),
        memory_bytes=int(native.recommendedMaxWorkingSetSize()),
        shared_bytes=int(native.maxThreadgroupMemoryLength()),
        max_group=int(sizes.width),
        max_group_sizes=(int(sizes.width), int(sizes.height), int(sizes.depth)),
        max_grid=(MOST_GROUPS, MOST_GROUPS, MOST_GROUPS),
        max_allocation=int(native.maxBufferLength()),
        subgroup_size=LANES if lanes else 0,
        dtypes=DTYPES,
        atomics=ATOMICS,
        unified=bool(native.hasUnifiedMemory()),
        driver=f"Metal, macOS {system}" if system else "Metal, compiled as C++ for the host",
        facts={"registry": int(native.registryID())},
    )
