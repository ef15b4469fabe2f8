"""`pk.cfunc`: a function of numbers as a function that C calls, for SciPy, Numba and ctypes.

Comes in: a function and a signature such as ``"f64(f64, f64)"``. Goes out: `CFunction`, with the address of its code.
Read next: `ufunc` (the same over arrays); the compiler's side is `pykern.lowering.llvm.c_functions`.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from typing import Any, overload

from pykern.api.cuda_function import parsed
from pykern.api.function import Function
from pykern.capture.function_text import FunctionText, function_text
from pykern.capture.functions import function_source
from pykern.capture.placing import placed
from pykern.data.records import record
from pykern.data.source import (
    ArgSpec,
    ArraySpec,
    Builtin,
    FunctionSource,
    KernelSource,
    LaunchSpec,
    Parameter,
    ScalarSpec,
)
from pykern.errors import KernelError, KernelTypeError
from pykern.obtain.code import loaded
from pykern.runtime.loader import Library

_C_TYPES: dict[str, Any] = {
    "bool": ctypes.c_bool, "f32": ctypes.c_float, "f64": ctypes.c_double,
    **{f"i{bits}": getattr(ctypes, f"c_int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(ctypes, f"c_uint{bits}") for bits in (8, 16, 32, 64)},
}  # fmt: skip
_WINDOW, _PACKED = "int (double *, npy_intp, double *, void *)", "double (int, double *)"
"""SciPy's names of the forms that its callbacks have."""


@record
class Signature:
    """A result and the parameters of a function: ``f32(f32, f64[:])``."""

    result: str
    parameters: tuple[str, ...]

    @property
    def specs(self) -> list[ArgSpec]:
        """The parameters as the compiler is told of them; arrays are dense."""
        return [
            ArraySpec(name.partition("[")[0], (None,) * name.count(":")) if "[" in name else ScalarSpec(name)
            for name in self.parameters
        ]

    def __str__(self) -> str:
        return f"{self.result}({', '.join(self.parameters)})"


def signature_of(text: str) -> Signature:
    """A signature as it is written. Raises `KernelTypeError`."""
    result, parameters = parsed(text)
    if result == "void":
        raise KernelTypeError(f"signature {text!r} has no result", hint='name its type, as in "f64(f64)"')
    if not parameters:
        raise KernelTypeError(f"signature {text!r} has no parameters", hint='write it as "f64(f64)"')
    return Signature(result, parameters)


@record
class Scalars:
    """A plain function of numbers, captured: its text and what its names mean now."""

    function: Callable
    text: FunctionText
    source: FunctionSource

    def check(self, signature: Signature) -> None:
        """Raises `KernelTypeError` where the signature has another number of parameters."""
        needed = inspect.signature(self.function).parameters.values()
        least = sum(p.default is p.empty for p in needed)
        if not least <= len(signature.parameters) <= len(needed):
            raise placed(
                KernelTypeError(
                    f"`{self.text.name}` has {len(needed)} parameters, and the signature {signature} "
                    f"{len(signature.parameters)}",
                    hint="give each parameter one type, in order",
                ),
                self.text,
            )

    def code(self, signature: Signature, called_from_c: str) -> Library:
        """Machine code of the function for a signature. Raises what the compiler raises, at the function's lines."""
        self.check(signature)
        try:
            _, code = loaded(self._kernel(signature, called_from_c))
        except KernelError as error:
            raise placed(error, self.text) from None
        return code.library

    def _kernel(self, signature: Signature, called_from_c: str) -> KernelSource:
        """A kernel that stores the result of one call, or of one for each element."""
        names = [f"x{n}" for n in range(len(signature.parameters))]
        each = called_from_c == "loop"
        at, given = ("index()", [f"{name}[i]" for name in names]) if each else ("0", names)
        head = f"def {self.text.name}({', '.join(['result', *names])}):\n"
        text = f"{head}    i = {at}\n    result[i] = function({', '.join(given)})\n"
        captures = (("function", self.source), *((("index", Builtin("index")),) if each else ()))
        function = FunctionSource(self.text.name, self.text.file, self.text.first_line, text, captures)
        specs = [
            ArraySpec(s.dtype, (None,)) if each and isinstance(s, ScalarSpec) else s for s in signature.specs
        ]
        result = Parameter("result", ArraySpec(signature.result, (None,)), reads=False)
        parameters = (result, *(Parameter(n, s, writes=False) for n, s in zip(names, specs, strict=True)))
        launch = LaunchSpec(1, ndrange=None if each else (1,))
        return KernelSource(function, parameters, launch, called_from_c=called_from_c)


def captured(function: Any) -> Scalars:
    """A `@pk.func` or a plain function. Raises `KernelSyntaxError` for anything else."""
    plain = function.__pykern_function__ if isinstance(function, Function) else function
    text = function.text if isinstance(function, Function) else function_text(plain)
    try:
        return Scalars(plain, text, function_source(plain, text)[0])
    except KernelError as error:
        raise placed(error, text) from None


class CFunction:
    """Machine code that C calls; it is the Python function, too, when Python calls it.

    `address` is where it begins: numbers come by value, an array as its pointer and its lengths (64 bits each). The
    code stays as long as the process.
    """

    def __init__(self, function: Any, signature: Signature) -> None:
        scalars = captured(function)
        self.__wrapped__ = scalars.function
        self.__name__ = scalars.text.name
        self.signature = signature
        self._code = scalars.code(signature, "function")
        self.address = self._code.address("pk_function")

    @property
    def ctypes(self) -> Any:
        """The function as ctypes, `scipy.LowLevelCallable` and ``@numba.njit`` functions take it, without the GIL."""
        kinds: list[Any] = []
        for spec in self.signature.specs:
            if isinstance(spec, ArraySpec):
                kinds += [ctypes.POINTER(_C_TYPES[spec.dtype]), *[ctypes.c_int64] * spec.rank]
            elif isinstance(spec, ScalarSpec):
                kinds.append(_C_TYPES[spec.dtype])
        return ctypes.CFUNCTYPE(_C_TYPES[self.signature.result], *kinds)(self.address)

    def lowlevel(self) -> Any:
        """A `scipy.LowLevelCallable`: ``f64(f64)`` and ``f64(f64, f64, ...)`` for `scipy.integrate`, ``f64(f64[:])`` of
        the elements of a window for `scipy.ndimage.generic_filter`.

        Raises `ModuleNotFoundError` without SciPy, and `KernelTypeError` for a signature that SciPy has no callback of.
        """
        from scipy import LowLevelCallable  # here: a library that few programs have

        if str(self.signature) == "f64(f64)":
            return LowLevelCallable(self.ctypes)
        name, form = (
            ("pk_window", _WINDOW) if self.signature.parameters == ("f64[:]",) else ("pk_packed", _PACKED)
        )
        if name not in self._code:
            raise KernelTypeError(
                f"SciPy has no callback of the signature {self.signature}",
                hint="f64(f64), f64(f64, f64, ...) and f64(f64[:]) have one; ctypes functions of others take .ctypes",
            )
        kept = ctypes.c_char_p(form.encode())
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        capsule = new(("PyCapsule_New", ctypes.pythonapi))(self._code.address(name), kept, None)
        _kept.append(kept)  # a capsule does not copy its name
        return LowLevelCallable(capsule)

    def __call__(self, *args: Any) -> Any:
        return self.__wrapped__(*args)

    def __repr__(self) -> str:
        return f"<pykern.cfunc {self.__name__}: {self.signature}>"


_kept: list[ctypes.c_char_p] = []


@overload
def cfunc(function: str) -> Callable[[Any], CFunction]: ...
@overload
def cfunc(function: Any, signature: str) -> CFunction: ...
def cfunc(function: Any, signature: str | None = None) -> Any:
    """Machine code of a `@pk.func`, or of a plain function, for callers in C: ``pk.cfunc(f, "f64(f64)")``, or the
    decorator ``@pk.cfunc("f64(f64)")``.

    The `signature` is result and parameters: types of the language but f16, bf16 and fp8; ``f64[:]`` for a dense array,
    which comes as pointer and length. The function is compiled at once; what its names mean is taken then.
    """
    if isinstance(function, str) and signature is None:
        decorated = signature_of(function)
        return lambda given: CFunction(given, decorated)
    if not isinstance(signature, str):
        raise KernelTypeError(
            "`pk.cfunc` takes a function and its signature",
            hint='write pk.cfunc(f, "f64(f64)"), or @pk.cfunc("f64(f64)") above the function',
        )
    return CFunction(function, signature_of(signature))
