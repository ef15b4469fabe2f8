"""`pk.cuda_func`: device code that a user wrote in CUDA C++, called in kernels for NVIDIA GPUs.

Comes in: CUDA C++ and a signature such as ``"f32(f32, i32)"``. Goes out: `CudaFunction`, which capturing turns into
plain data (`pykern.data.source.CapturedCuda`). Checked calls: `pykern.frontend.cuda_calls`; NVRTC and the linker:
`pykern.lowering.nvvm.user_code`.
"""

from __future__ import annotations

import importlib.metadata
import linecache
import re
import sys
from typing import Any, NoReturn

from pykern.data.source import CUDA_ONLY, INSTEAD_OF_CUDA, CapturedCuda
from pykern.errors import KernelTypeError, TargetError
from pykern.types import BY_NAME

PACKAGES = ("nvidia-cuda-nvrtc-cu12", "nvidia-nvjitlink-cu12")
"""What compiles and links them; their versions are part of the key."""

_SIGNATURE = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
_PARAMETER = re.compile(r"(\w+)\s*(\[[:\s,]*\])?")
_DEFINED = re.compile(r"__device__[^;{}()]*?\b(\w+)\s*\(")
_SCALARS = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64")


class CudaFunction:
    """A function in CUDA C++. It is called in kernels, and by nothing else."""

    __pykern_cuda__ = True
    """What capturing looks for."""

    def __init__(self, captured: CapturedCuda) -> None:
        self.captured = captured
        self.__name__ = captured.name

    def __call__(self, *args: Any, **keywords: Any) -> NoReturn:
        raise TargetError(
            f"`{self.__name__}` is called outside of a kernel: {CUDA_ONLY}", hint=INSTEAD_OF_CUDA
        )

    def __repr__(self) -> str:
        return f"<pykern.cuda_func {self.captured}>"


def cuda_func(source: str, signature: str, *, name: str = "", options: tuple[str, ...] = ()) -> CudaFunction:
    """A ``__device__`` function of `source`, CUDA C++, for kernels: ``pk.cuda_func(text, "f32(f32, f32)")``.

    The `signature` is result and parameters: types of the language (but f16, bf16 and fp8), ``void`` for no result,
    ``f32[:]`` for a pointer to an array's first element. `name` says which function where there are several, also
    ``"space::f<float>"``; `options` go to NVRTC (``"-Iinclude"``).
    """
    result, parameters = parsed(signature)
    if not name:
        defined = list(dict.fromkeys(_DEFINED.findall(source)))
        if len(defined) != 1:
            found = f"{len(defined)}: {', '.join(defined)}" if defined else "none"
            raise KernelTypeError(
                f"cuda_func needs the name of its function; the source defines {found}",
                hint="write __device__ before it, and name='f'",
            )
        name = defined[0]
    frame = sys._getframe(1)
    file, line = frame.f_code.co_filename, frame.f_lineno
    return CudaFunction(
        CapturedCuda(
            name, source, result, parameters, tuple(options), file, *_place(file, line, source), _toolkit()
        )
    )


def parsed(signature: str) -> tuple[str, tuple[str, ...]]:
    """Result and parameters. Raises `KernelTypeError` that says what a signature is."""
    found = _SIGNATURE.fullmatch(signature)
    if found is None:
        raise KernelTypeError(f"signature {signature!r}", hint='write it as "f32(f32, i32)"')
    result, inside = found.groups()
    inside = re.sub(r"\[[^\]]*\]", lambda m: m.group().replace(",", "").replace(" ", ""), inside)
    parameters = tuple(p.strip() for p in inside.split(",")) if inside.strip() else ()
    if result not in (*_SCALARS, "void"):
        raise _not_a_type(signature, result)
    for parameter in parameters:
        matched = _PARAMETER.fullmatch(parameter)
        known = BY_NAME if matched is not None and matched.group(2) else _SCALARS
        if matched is None or matched.group(1) not in known or matched.group(1) in ("int", "float"):
            raise _not_a_type(signature, parameter)
    return result, parameters


def _not_a_type(signature: str, what: str) -> KernelTypeError:
    small = BY_NAME.get(what)
    if small is not None and small.is_float and not small.weak:
        return KernelTypeError(
            f"signature {signature!r}: a number of {what} is passed neither to C nor to CUDA C++",
            hint="pass f32",
        )
    return KernelTypeError(
        f"signature {signature!r} has no type {what!r}",
        hint=f"there are {', '.join(_SCALARS)}, arrays of them such as f32[:], and void as a result",
    )


def _place(file: str, line: int, source: str) -> tuple[int, int]:
    """The line of the definition, and the line of the file at which the text begins (0: not found)."""
    text = "".join(linecache.getlines(file))
    at = text.find(source) if source.strip() else -1
    return line, text.count("\n", 0, at) + 1 if at >= 0 else 0


def _toolkit() -> str:
    """Versions of what compiles it, as far as they are there."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)
