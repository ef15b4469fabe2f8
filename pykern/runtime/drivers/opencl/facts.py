"""What an OpenCL device can do, as `DeviceInfo`, or why pykern has no use for it."""

from __future__ import annotations

import re
from typing import Any

from pykern.environment.settings import settings
from pykern.runtime.driver import DeviceInfo

OPENCL_C = "source:opencl-c+words"
"""The target of drivers that take no SPIR-V."""
NEWEST = (3, 0)
"""What kernels are compiled for at most; later versions take it."""
INTEGERS = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def refusal(device: Any) -> str:
    """Why no kernel runs here; "" where they do."""
    if not device.available:
        return "is not available"
    if not takes_spirv(device) and not device.compiler_available:
        return "takes no SPIR-V, and has no compiler for OpenCL C"
    if device.address_bits != 64:
        return "has addresses of 32 bits"
    return ""


def takes_spirv(device: Any) -> bool:
    """Whether the driver takes programs as SPIR-V; else it gets OpenCL C."""
    extended = version(device) >= (2, 1) or "cl_khr_il_program" in device.extensions.split()
    return bool(extended and "SPIR-V" in device.il_version)


def version(device: Any) -> tuple[int, int]:
    """``OpenCL 3.0 ...`` -> (3, 0)."""
    found = re.match(r"OpenCL (\d+)\.(\d+)", device.version)
    return (int(found.group(1)), int(found.group(2))) if found else (1, 0)


def describe(cl: Any, device: Any, ordinal: int) -> DeviceInfo:
    """The device's limits and abilities."""
    extensions = frozenset(device.extensions.split())
    x, y, z = (*(int(n) for n in device.max_work_item_sizes), 1, 1)[:3]
    target_version = min(version(device), NEWEST)
    if target_version < (2, 1):
        target_version = (1, 2)
    by_source = settings().opencl_c or not takes_spirv(device)
    floats = {"f32", "bf16", "f8e4m3", "f8e5m2"}  # the small ones are computed in f32
    floats |= {"f16"} if "cl_khr_fp16" in extensions else set()
    floats |= {"f64"} if device.double_fp_config else set()
    wide = {"i64", "u64", "f64"} & (floats | {"i64", "u64"})
    atomics = {"i32", "u32", "f32"} | (wide if "cl_khr_int64_base_atomics" in extensions else set())
    return DeviceInfo(
        runtime="opencl",
        ordinal=ordinal,
        name=device.name.strip(),
        target=OPENCL_C if by_source else f"spirv:opencl{target_version[0]}.{target_version[1]}",
        memory_bytes=device.global_mem_size,
        shared_bytes=device.local_mem_size,
        max_group=device.max_work_group_size,
        max_group_sizes=(x, y, z),
        max_grid=(2**31 - 1, 2**31 - 1, 2**31 - 1),
        max_allocation=device.max_mem_alloc_size,
        subgroup_size=0,
        dtypes=frozenset((*INTEGERS, *floats)),
        atomics=frozenset(atomics),
        unified=bool(device.host_unified_memory),
        driver=f"{device.platform.name}, {device.version.strip()}, driver {device.driver_version}",
        facts={
            "extensions": extensions,
            "il": device.il_version if takes_spirv(device) else "",
            "kind": _kind(cl, device),
        },
    )


def _kind(cl: Any, device: Any) -> str:
    for name in ("GPU", "CPU", "ACCELERATOR"):
        if device.type & getattr(cl.device_type, name):
            return name.lower()
    return "custom"
