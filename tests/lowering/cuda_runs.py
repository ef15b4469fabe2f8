"""Runs printed CUDA C++: NVIDIA's compiler makes PTX of it, which the emulator runs.

Comes in: a text, arrays and numbers. Goes out: the arrays afterwards.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import re
import site
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

NUMBERS = {
    "bool": np.uint8, "signed char": np.int8, "short": np.int16, "int": np.int32, "long long": np.int64,
    "__half": np.float16, "float": np.float32, "double": np.float64,
}  # fmt: skip
_PARAMETER = re.compile(r"^ {4}(?:const )?([\w ]+?) (\*?)(?:__restrict__ )?\w+,?$", re.MULTILINE)


@functools.cache
def headers() -> str:
    """The folder of `cuda_fp16.h`, which NVRTC alone has not; "" where no toolkit is installed."""
    folders = [Path("/usr/local/cuda/include")]
    for packages in site.getsitepackages():
        folders += Path(packages).glob("nvidia/*/include")
    return next((str(folder) for folder in folders if (folder / "cuda_fp16.h").exists()), "")


def lacks_headers(text: str) -> bool:
    """Whether the text needs a header that is not there."""
    return "#include" in text and not headers()


def ptx_of(text: str) -> str:
    """The text compiled for sm_80. What NVRTC says of it is in the AssertionError."""
    nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")
    options = [b"--gpu-architecture=compute_80", b"--fmad=false"]
    options += [f"--include-path={headers()}".encode()] if headers() else []
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], [])
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytes(size + 1)  # is written into: Python shares bytes of length 1
    nvrtc.nvrtcGetProgramLog(program, log)
    assert int(status) == 0, f"{log.decode()}\n{text}"
    _, size = nvrtc.nvrtcGetPTXSize(program)
    made = bytes(size + 1)
    nvrtc.nvrtcGetPTX(program, made)
    return made.rstrip(b"\0").decode()


@functools.cache
def emulator() -> Any:
    """The functions of CUDA's driver."""
    from pykern.runtime.emulator.bindings import Bindings

    return Bindings()


def launched(
    text: str, entry: str, arrays: list[np.ndarray], words: Iterable[Any], groups: tuple[int, ...],
    size: tuple[int, ...],
) -> list[np.ndarray]:  # fmt: skip
    """The arrays after a launch; `words` are its numbers in order."""
    api = emulator()
    begin = text.index("__global__")
    kinds = _PARAMETER.findall(text[begin : text.index(") {", begin)])
    ptx = ctypes.create_string_buffer(ptx_of(text).encode())
    _, module = api.cuModuleLoadData(ctypes.addressof(ptx))
    _, function = api.cuModuleGetFunction(module, entry.encode())
    places = [api.cuMemAlloc(max(1, array.nbytes))[1] for array in arrays]
    for array, place in zip(arrays, places, strict=True):
        ctypes.memmove(place, np.ascontiguousarray(array).ctypes.data, array.nbytes)
    memory, numbers = iter(places), iter(words)
    passed = [
        np.array([np.uint64(next(memory)) if star else NUMBERS[kind](next(numbers))]) for kind, star in kinds
    ]
    pointers = (ctypes.c_void_p * len(passed))(*(each.ctypes.data for each in passed))
    api.cuLaunchKernel(function, *groups, *size, 0, 0, ctypes.addressof(pointers), 0)
    results = [np.empty(array.shape, array.dtype) for array in arrays]
    for result, place in zip(results, places, strict=True):
        ctypes.memmove(result.ctypes.data, place, result.nbytes)
        api.cuMemFree(place)
    api.cuModuleUnload(module)
    return results
