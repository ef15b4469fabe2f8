"""Users' own device code: CUDA C++ to PTX by NVRTC, and linked with a kernel's PTX by nvJitLink.

Comes in: `CapturedCuda`s and the PTX of a kernel that calls them. Goes out: a cubin. Both libraries come from PyPI
(the extra `cuda`) and need no GPU. Each function is reached through one of pykern's, in C++ too, that takes
what `pykern.frontend.cuda_calls` passes: so it may be a template, overloaded or in a namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.data.source import CapturedCuda
from pykern.dialect.diagnostics import span_of
from pykern.environment.installation import install_extra
from pykern.errors import TargetError
from pykern.lowering.nvvm.chips import Chip
from pykern.lowering.nvvm.ptxas import Cubin, measured
from pykern.passes.kernels import named

NEEDED = ("cuda-bindings", "nvidia-cuda-nvrtc-cu12", "nvidia-nvjitlink-cu12")
FILE = "cuda_func"
"""What NVRTC calls the user's text in what it says."""
_C_TYPES = {
    "bool": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long",
    "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int", "u64": "unsigned long long",
    "f32": "float", "f64": "double", "void": "void",
}  # fmt: skip
_CARRIERS = dict.fromkeys(("i8", "i16"), "int") | dict.fromkeys(("bool", "u8", "u16"), "unsigned int")
_ANY_POINTER = """
struct pykern_pointer {
  unsigned long long address;
  template <class T> __device__ operator T*() const { return reinterpret_cast<T*>(address); }
};
"""
_SAID = re.compile(rf"^{FILE}\((\d+)\): (?:catastrophic )?error: (.*)$", re.MULTILINE)


def calls(module: ir.Module, functions: dict[str, CapturedCuda]) -> dict[str, SourceSpan | None]:
    """The functions a kernel calls, each with the place of its first call."""
    found: dict[str, SourceSpan | None] = {}
    for call in named(module.operation, "func.call"):
        symbol = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        if symbol in functions:
            found.setdefault(symbol, span_of(call.location))
    return found


def compiled(function: CapturedCuda, chip: Chip, call: SourceSpan | None) -> str:
    """The function as PTX to be linked. Raises `TargetError` at `call` with what NVRTC says."""
    nvrtc = _library("nvrtc", call)
    made = function.source + _bridge(function)
    error, program = nvrtc.nvrtcCreateProgram(made.encode(), FILE.encode(), 0, [], [])
    _checked(nvrtc, error, "create a program", call)
    architecture = f"--gpu-architecture={chip.name.replace('sm_', 'compute_')}"
    options = [architecture, "--relocatable-device-code=true", "--std=c++17", *function.options]
    try:
        (error,) = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
        if error == nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION:
            log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            raise _refused(function, log, call)
        _checked(nvrtc, error, f"compile `{function.name}`", call)
        return _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def linked(kernel: str, users: Iterable[str], chip: Chip, call: SourceSpan | None) -> Cubin:
    """Machine code of a kernel's PTX and that of the functions it calls."""
    nvjitlink = _library("nvjitlink", call)
    handle = None
    try:
        handle = nvjitlink.create(3, [f"-arch={chip.name}", "-O3", "-verbose"])
        for number, ptx in enumerate((kernel, *users)):
            data = ptx.encode()
            nvjitlink.add_data(handle, int(nvjitlink.InputType.PTX), data, len(data), f"{FILE}.{number}")
        nvjitlink.complete(handle)
        binary = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, binary)
        told = _log(nvjitlink, "info", handle)
        return measured(bytes(binary), told)
    except nvjitlink.nvJitLinkError as error:
        log = _log(nvjitlink, "error", handle) if handle is not None else ""
        raise TargetError(f"nvJitLink failed: {log.strip() or error}", call) from None
    finally:
        if handle is not None:
            nvjitlink.destroy(handle)


def _library(name: str, call: SourceSpan | None) -> Any:
    """A module of `cuda-bindings` whose library can be loaded."""
    try:
        if name == "nvrtc":
            from cuda.bindings import nvrtc as found

            error, *_ = found.nvrtcVersion()
            if error != found.nvrtcResult.NVRTC_SUCCESS:
                raise TargetError(f"NVRTC does not start: {error.name}", call, install_extra("cuda", *NEEDED))
        else:
            from cuda.bindings import nvjitlink as found

            found.version()
    except (ImportError, RuntimeError, OSError) as error:
        package = {"nvrtc": "nvidia-cuda-nvrtc-cu12", "nvjitlink": "nvidia-nvjitlink-cu12"}[name]
        missing = "cuda-bindings" if isinstance(error, ImportError) else package
        raise TargetError(
            f"CUDA C++ in a kernel needs the package {missing}: {str(error).splitlines()[0]}",
            call,
            install_extra("cuda", *NEEDED),
        ) from None
    return found


def _bridge(function: CapturedCuda) -> str:
    """The function that kernels call: numbers narrowed, addresses as pointers of the type that is asked for."""
    taken, given = [], []
    for number, parameter in enumerate(function.parameters):
        if "[" in parameter:
            taken.append(f"unsigned long long a{number}")
            given.append(f"pykern_pointer{{a{number}}}")
        else:
            taken.append(f"{_carrier(parameter)} a{number}")
            given.append(f"({_C_TYPES[parameter]})a{number}")
    call = f"{function.name}({', '.join(given)})"
    result = "void" if function.result == "void" else _carrier(function.result)
    value = call if result == "void" else f"return ({result})({_C_TYPES[function.result]}){call}"
    return (
        f'\n#line 1 "the signature of {function.name}"\n{_ANY_POINTER.strip()}\n'
        f'extern "C" __device__ {result} {function.symbol}({", ".join(taken)}) {{ {value}; }}\n'
    )


def _carrier(name: str) -> str:
    """See `pykern.frontend.cuda_calls`."""
    return _CARRIERS.get(name, _C_TYPES[name])


def _refused(function: CapturedCuda, log: str, call: SourceSpan | None) -> TargetError:
    """What NVRTC says: at the call, with the line of the user's text and the whole log."""
    first = _SAID.search(log)
    defined: tuple[str, SourceSpan | None]
    if first is None:  # said of the bridge: the signature does not fit
        said = next((line for line in log.splitlines() if "error:" in line), log.strip())
        reason = f"the signature {function} does not fit the CUDA C++: {said.partition('error:')[2].strip() or said}"
        defined = ("the signature", SourceSpan(function.file, function.line, 0, 0))
    else:
        reason = f"`{function.name}`: the CUDA C++ does not compile: {first.group(2).strip()}"
        line = int(first.group(1))
        if function.text_line:
            place = SourceSpan(function.file, function.text_line + line - 1, 0, 0)
        else:
            place = SourceSpan(function.file, function.line, 0, 0)
        defined = (f"line {line} of the text", place)
    return TargetError(reason, call, None, (defined, (f"NVRTC says:\n{log.strip()}", None)))


def _text(size: Any, get: Any, program: Any) -> str:
    _, length = size(program)
    room = bytes(length + 1)  # is written into, and Python shares bytes of length 1
    get(program, room)
    return room.decode(errors="replace").rstrip("\0")


def _log(nvjitlink: Any, kind: str, handle: int) -> str:
    room = bytearray(getattr(nvjitlink, f"get_{kind}_log_size")(handle))
    if room:
        getattr(nvjitlink, f"get_{kind}_log")(handle, room)
    return room.decode(errors="replace").rstrip("\0")


def _checked(nvrtc: Any, error: Any, what: str, call: SourceSpan | None) -> None:
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise TargetError(f"NVRTC: {what}: {error.name}", call)
