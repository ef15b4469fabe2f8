"""What an adapter of WebGPU can do, as `DeviceInfo`, or why pykern has no use for it."""

from __future__ import annotations

import re
from typing import Any

from pykern.environment.settings import settings
from pykern.runtime.driver import DeviceInfo

BACKENDS = ("Vulkan", "Metal", "D3D12")
"""What wgpu computes by; over OpenGL its devices are there a second time, with less."""
KINDS = ("DiscreteGPU", "IntegratedGPU", "unknown", "CPU")
"""Types of adapters, in the order of choice."""
WIDE, WIDE_ATOMICS = "shader-int64", "shader-int64-atomic-all-ops"
STAMPS = ("timestamp-query", "timestamp-query-inside-encoders")
SUBGROUPS = "subgroup"
WANTED = (WIDE, "shader-f64", "shader-f16", WIDE_ATOMICS, SUBGROUPS, *STAMPS)
"""Features that are asked for where the adapter has them; without `WIDE` integers of 64 bits are pairs."""
LIMITS = (
    "max-storage-buffers-per-shader-stage", "max-storage-buffer-binding-size", "max-buffer-size",
    "max-uniform-buffer-binding-size", "max-compute-workgroup-storage-size", "max-compute-invocations-per-workgroup",
    "max-compute-workgroup-size-x", "max-compute-workgroup-size-y", "max-compute-workgroup-size-z",
    "max-compute-workgroups-per-dimension",
)  # fmt: skip
"""Limits that are asked for as high as the adapter has them."""
LAVAPIPE = "llvmpipe"
"""What Mesa's driver for processors says of itself: code for it reports what it leaves out silently."""


LANES = (4, 8, 16, 32)
"""Sizes of subgroups that code can be made for."""


def refusal(adapter: Any) -> str:
    """Why no kernel runs here; "" where they do."""
    if adapter.info["backend_type"] not in BACKENDS:
        return f"is reached by {adapter.info['backend_type']} alone"
    return "" if adapter.info["adapter_type"] in KINDS else "is no device that computes"


def features(adapter: Any) -> list[str]:
    """The features of `WANTED` that the adapter has; those of time alone where settings ask for standard WebGPU."""
    wanted = STAMPS if settings().webgpu_standard else WANTED
    return [name for name in wanted if name in adapter.features]


def limits(adapter: Any) -> dict[str, int]:
    """The adapter's `LIMITS`."""
    return {name: adapter.limits[name] for name in LIMITS}


def subgroup_lanes(adapter: Any) -> int:
    """How many work-items exchange values in every kernel; 0 where none do, or where that differs.

    Mesa's driver for processors tells a wide range, and has a lane for each 32 bits of the vectors in its name.
    """
    if SUBGROUPS not in features(adapter):
        return 0
    about = adapter.info
    # wgpu 0.32 writes these names so
    least, most = (
        about.get(f"stackgroup_{end}_size", about.get(f"subgroup_{end}_size")) for end in ("min", "max")
    )
    vectors = re.search(r"(\d+) bits", about["device"]) if LAVAPIPE in about["vendor"] else None
    if vectors:
        least = most = int(vectors[1]) // 32
    return least if least == most and least in LANES else 0


def describe(adapter: Any, ordinal: int) -> DeviceInfo:
    """The device's limits and abilities."""
    there, most, about = features(adapter), adapter.limits, adapter.info
    has_wide, lanes = WIDE in there, subgroup_lanes(adapter)
    floats = [name for name in ("f16", *(["f64"] if has_wide else [])) if f"shader-{name}" in there]
    wide = {"i64", "u64", *(["f64"] if "f64" in floats else [])} if WIDE_ATOMICS in there else set()
    options = [
        *(["i64"] if has_wide else []),
        *floats,
        *([f"subgroups{lanes}"] if lanes else []),
        *(["lavapipe"] if LAVAPIPE in about["vendor"] else []),
    ]
    groups = most["max-compute-workgroups-per-dimension"]
    x, y, z = (most[f"max-compute-workgroup-size-{axis}"] for axis in "xyz")
    return DeviceInfo(
        runtime="webgpu",
        ordinal=ordinal,
        name=about["device"],
        target="+".join(["source:wgsl", "words", *options]),
        memory_bytes=0,
        shared_bytes=most["max-compute-workgroup-storage-size"],
        max_group=most["max-compute-invocations-per-workgroup"],
        subgroup_size=lanes,
        max_group_sizes=(x, y, z),
        max_grid=(groups, groups, groups),
        # one piece of memory is seen by kernels as a whole
        max_allocation=min(most["max-buffer-size"], most["max-storage-buffer-binding-size"]) // 4 * 4,
        dtypes=frozenset(
            ("bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", *floats)
        ),
        atomics=frozenset({"i32", "u32", "f32", *wide}),
        unified=about["adapter_type"] in ("CPU", "IntegratedGPU"),
        driver=f"{about['backend_type']}, {about['description']}",
        facts={"features": frozenset(adapter.features), "kind": about["adapter_type"]},
    )
