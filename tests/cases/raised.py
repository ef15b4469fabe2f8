"""Kernels raised to linalg, compiled in place and called with NumPy arrays, beside their direct launch.

Between `kern-raise-to-linalg` and the numbers stand `raised_pipeline`, upstream passes and LLVM.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

import numpy as np
from mlir import ir

from pykern.api.lowered import _launch_spec
from pykern.compiler.driver import kern_module
from pykern.data.index_space import index_space
from pykern.data.source import KernelSource
from pykern.dialect.context import new_context
from pykern.launching.specs import parameter
from pykern.lowering.record import Recorder
from pykern.passes.framework import Upstream
from pykern.passes.raise_to_linalg.raise_to_linalg import RaiseToLinalg
from tests.cases.jit import Compiled, _cells
from tests.cases.raised_buffers import raised_pipeline

LOWERING = (
    Upstream("func.func(math-extend-to-supported-types{target-type=f32 extra-types=f64})"),
    Upstream("func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32})"),
    Upstream("arith-expand{include-bf16=true},convert-math-to-funcs,convert-scf-to-cf"),
    Upstream("expand-strided-metadata,lower-affine,convert-math-to-llvm,convert-math-to-libm"),
)


def kern_text(kernel: Any, args: tuple, ndrange: Any, noalias: bool = True) -> str:
    """The kernel on the kern stage, as the raising pass gets it."""
    parameters = tuple(parameter(n, v, kernel.annotations.get(n)) for n, v in kernel.bind(args, {}))
    launch = _launch_spec(kernel, {"ndrange": ndrange}, False)
    source = KernelSource(kernel.captured()[0], parameters, launch, kernel.options)
    with new_context(), ir.Location.unknown():
        return str(kern_module(replace(source, noalias=noalias), Recorder(False))[0])


def kern_text_with_locations(kernel: Any, args: tuple, ndrange: Any, noalias: bool = True) -> str:
    """The same with the Python lines."""
    parameters = tuple(parameter(n, v, kernel.annotations.get(n)) for n, v in kernel.bind(args, {}))
    launch = _launch_spec(kernel, {"ndrange": ndrange}, False)
    source = KernelSource(kernel.captured()[0], parameters, launch, kernel.options)
    with new_context(), ir.Location.unknown():
        module, _ = kern_module(replace(source, noalias=noalias), Recorder(False))
        return module.operation.get_asm(enable_debug_info=True)


def raised_text(kernel: Any, args: tuple, ndrange: Any, noalias: bool = True) -> str:
    """The raised module, canonical. Raises `NotRaisable`."""
    text = kern_text_with_locations(kernel, args, ndrange, noalias)
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        RaiseToLinalg().run(module)
        module.operation.verify()
        Upstream("canonicalize,cse").run(module)
        return str(module)


class Raised(Compiled):
    """A raised kernel as machine code."""

    def __init__(self, kernel: Any, args: tuple, ndrange: Any) -> None:
        self.name = kernel.__name__
        self.text = raised_text(kernel, args, ndrange)
        super().__init__(self.text, (*raised_pipeline(), *LOWERING), speed_level=1)

    def run(self, args: tuple, ndrange: Any) -> None:
        """Change the arrays in place, as a launch does."""
        entries = index_space(ndrange)
        plain = all(e.start == 0 and e.step == 1 for e in entries)
        launch = [n for e in entries for n in ((e.count,) if plain else (e.count, e.start, e.step))]
        cells = [cell for argument in args for cell in _argument(argument)]
        cells += [ctypes.c_int64(n) for n in launch]
        address = self._engine.get_function_address(self.name)
        ctypes.CFUNCTYPE(None, *(type(c) for c in cells))(address)(*cells)


def _argument(value: Any) -> list:
    if isinstance(value, np.ndarray):
        return _cells(value)
    if isinstance(value, np.generic):
        return [np.ctypeslib.as_ctypes_type(value.dtype)(value.item())]
    return [ctypes.c_double(value)] if isinstance(value, float) else [ctypes.c_int64(value)]


_compiled: dict[tuple, Raised] = {}


def compiled(kernel: Any, args: tuple, ndrange: Any) -> Raised:
    """A kernel is raised once for all arrays of the same types."""
    entries = index_space(ndrange)
    plain = all(e.start == 0 and e.step == 1 for e in entries)
    kinds = tuple((a.dtype, a.ndim) if isinstance(a, np.ndarray) else type(a) for a in args)
    key = (kernel, kinds, plain, len(entries))
    if key not in _compiled:
        _compiled[key] = Raised(kernel, args, ndrange)
    return _compiled[key]


def check(kernel: Any, args: tuple, ndrange: Any, expected: tuple | None = None, exact: bool = False) -> str:
    """Run raised and direct, compare all arrays with each other and with `expected`; the raised text."""
    raised = compiled(kernel, args, ndrange)
    mine, direct = (tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args) for _ in range(2))
    kernel(*direct, ndrange=ndrange, device="cpu").wait()
    raised.run(mine, ndrange)
    for number, (one, other) in enumerate(zip(mine, direct, strict=True)):
        if isinstance(one, np.ndarray):
            _same(one, other, exact)
            if expected is not None and expected[number] is not None:
                _same(one, expected[number], exact)
    return raised.text


def _same(one: np.ndarray, other: np.ndarray, exact: bool) -> None:
    if exact or one.dtype.kind not in "f":
        np.testing.assert_array_equal(one, other)
    else:
        tolerance = {2: 1e-2, 4: 2e-5, 8: 1e-12}[one.itemsize]
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
