"""pykern: one Python function, compiled with MLIR, for every device.

Everything public is here; each name is imported when it is first used, so that ``import pykern``
stays light. Start with `pykern.api.kernel`; the way of the data is `capture` -> `frontend` -> `passes` ->
`lowering` -> `runtime`.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from pykern.data.provided import provide

__version__ = "0.1.0"

_HOME = {
    "kernel": "pykern.api.kernel",
    "Kernel": "pykern.api.kernel",
    "func": "pykern.api.function",
    "cuda_func": "pykern.api.cuda_function",
    "cfunc": "pykern.api.c_function",
    "CFunction": "pykern.api.c_function",
    "ufunc": "pykern.api.ufunc",
    "Dup": "pykern.derivatives.autodiff",
    "autodiff": "pykern.derivatives.autodiff",
    "custom_vjp": "pykern.derivatives.custom_vjp",
    "check_grads": "pykern.derivatives.check_grads",
    "GradientCheck": "pykern.derivatives.check_grads",
    "jit": "pykern.api.jit",
    "tune": "pykern.tuning.tune",
    "Tuned": "pykern.tuning.search",
    "Program": "pykern.api.jit",
    **dict.fromkeys(("grad", "value_and_grad", "vjp", "jvp", "hvp"), "pykern.derivatives.gradients"),
    **dict.fromkeys(("checkpoint", "every", "binomial"), "pykern.derivatives.checkpointing"),
    "spec": "pykern.launching.specs",
    "Lowered": "pykern.api.lowered",
    "Compiled": "pykern.api.lowered",
    "explore": "pykern.explorer.explore",
    "export": "pykern.exporter.export",
    "Exported": "pykern.exporter.export",
    "LivePage": "pykern.exporter.live_page",
    "benchmark": "pykern.benchmarking.benchmark",
    "BenchmarkResult": "pykern.benchmarking.result",
    "Disagreement": "pykern.benchmarking.agreement",
    "device": "pykern.runtime.devices",
    "devices": "pykern.runtime.devices",
    "Event": "pykern.runtime.stream",
    "wait": "pykern.runtime.event",
    **dict.fromkeys(("Stream", "synchronize"), "pykern.runtime.stream"),
    "graph": "pykern.runtime.graph",
    "Array": "pykern.arrays.array",
    "copyto": "pykern.arrays.copying",
    **dict.fromkeys(("memory_accesses", "MemoryAccesses", "LineAccesses"), "pykern.runtime.memory_accesses"),
    **dict.fromkeys(
        ("array", "asarray", "from_dlpack", "from_pointer", "pinned", "memory_stats", "empty_cache"),
        "pykern.arrays.creation",
    ),
    **dict.fromkeys(("from_opencl", "opencl_context"), "pykern.arrays.opencl"),
    **dict.fromkeys(("set_num_threads", "get_num_threads"), "pykern.runtime.cpu_table"),
    **dict.fromkeys(
        (
            "bool_", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64",
            "f8e4m3", "f8e5m2",
            "In", "Out", "InOut", "static",
        ),
        "pykern.types",
    ),
    **dict.fromkeys(
        (
            "KernelError", "KernelSyntaxError", "KernelTypeError", "VerifyError", "PassError", "NotRaisable",
            "NotDifferentiable", "TargetError", "CompilerCrash", "LaunchError", "DeviceError", "OutOfBounds",
            "AssertionFailed", "OutOfMemory", "UsedAfterFree", "NotANumber", "DataRace", "TimedOut",
        ),
        "pykern.errors",
    ),
}  # fmt: skip
_LANGUAGE = (
    "pykern.language", "pykern.language.array_functions", "pykern.language.numpy_functions",
    "pykern.language.random_numbers",
)  # fmt: skip
_SUBMODULES = ("errors", "language", "mpi", "testing", "types")


provide(
    {
        "cast": "pykern.language",
        "client_command": "pykern.tools.warm_server",
        "copied_by_kernel": "pykern.api.element_copies",
        "empty_from_allocator": "pykern.obtain.memory_code",
        "launch_tiles": "pykern.api.tile_launches",
        "op": "pykern.torch.op",
        **dict.fromkeys(
            ("failed_page", "kernel_html", "lowered_html", "page_of"), "pykern.explorer.notebook"
        ),
    }
)  # what lower folders ask of upper ones
if os.path.exists(
    os.path.join(os.path.dirname(__file__), "pkcli")
):  # another project that has this name on the index
    from pykern.environment.installation import warn_of_other_project

    warn_of_other_project()


if not TYPE_CHECKING:  # else every name would be there, misspelt ones too

    def __getattr__(name: str) -> Any:
        """Import a public name from its module at its first use (PEP 562)."""
        if name.startswith("_"):
            raise AttributeError(f"module 'pykern' has no attribute {name!r}")
        if name in _HOME:
            value = getattr(importlib.import_module(_HOME[name]), name)
        elif name in _SUBMODULES:
            return importlib.import_module(f"pykern.{name}")
        else:
            home = next((m for m in map(importlib.import_module, _LANGUAGE) if name in m.__all__), None)
            if home is None:
                raise AttributeError(f"module 'pykern' has no attribute {name!r}{_instead(name)}")
            value = getattr(home, name)
        globals()[name] = value
        return value


def _instead(name: str) -> str:
    """What to write for a name that is not here: a type's in NumPy, one of another language, one like it."""
    from difflib import get_close_matches

    from pykern.data.elsewhere import instead_of_public
    from pykern.types import by_numpy_name

    if (dtype := by_numpy_name(name)) is not None:
        return f": write pk.{dtype.name}"
    if (instead := instead_of_public(name)) is not None:
        return f": {instead}"
    near = get_close_matches(name, __dir__(), 1, 0.75)
    return f": did you mean pk.{near[0]}?" if near else ""


def __dir__() -> list[str]:
    """The public names; what this file imports for itself is none of them."""
    names = {name for module in _LANGUAGE for name in importlib.import_module(module).__all__}
    own = {name for name in globals() if name.startswith("__")}
    return sorted({*own, *_HOME, *_SUBMODULES, *names})


if TYPE_CHECKING:  # `x as x` tells type checkers that the name is public
    from pykern import mpi as mpi
    from pykern.api.c_function import CFunction as CFunction
    from pykern.api.c_function import cfunc as cfunc
    from pykern.api.cuda_function import cuda_func as cuda_func
    from pykern.api.function import func as func
    from pykern.api.lowered import Compiled as Compiled
    from pykern.api.lowered import Lowered as Lowered
    from pykern.api.ufunc import ufunc as ufunc
    from pykern.arrays.array import Array as Array
    from pykern.arrays.copying import copyto as copyto
    from pykern.arrays.creation import array as array
    from pykern.arrays.creation import asarray as asarray
    from pykern.arrays.creation import empty_cache as empty_cache
    from pykern.arrays.creation import from_dlpack as from_dlpack
    from pykern.arrays.creation import from_pointer as from_pointer
    from pykern.arrays.creation import memory_stats as memory_stats
    from pykern.arrays.creation import pinned as pinned
    from pykern.arrays.opencl import from_opencl as from_opencl
    from pykern.arrays.opencl import opencl_context as opencl_context
    from pykern.benchmarking.agreement import Disagreement as Disagreement
    from pykern.benchmarking.benchmark import benchmark as benchmark
    from pykern.benchmarking.result import BenchmarkResult as BenchmarkResult
    from pykern.derivatives.autodiff import Dup as Dup
    from pykern.derivatives.autodiff import autodiff as autodiff
    from pykern.derivatives.check_grads import GradientCheck as GradientCheck
    from pykern.derivatives.check_grads import check_grads as check_grads
    from pykern.derivatives.checkpointing import binomial as binomial
    from pykern.derivatives.checkpointing import checkpoint as checkpoint
    from pykern.derivatives.checkpointing import every as every
    from pykern.derivatives.custom_vjp import custom_vjp as custom_vjp
    from pykern.errors import *  # noqa: F403
    from pykern.explorer.explore import explore as explore
    from pykern.exporter.export import Exported as Exported
    from pykern.exporter.export import export as export
    from pykern.exporter.live_page import LivePage as LivePage
    from pykern.launching.specs import spec as spec
    from pykern.runtime.cpu_table import get_num_threads as get_num_threads
    from pykern.runtime.cpu_table import set_num_threads as set_num_threads
    from pykern.runtime.devices import device as device
    from pykern.runtime.devices import devices as devices
    from pykern.runtime.event import Event as Event
    from pykern.runtime.event import wait as wait
    from pykern.runtime.graph import graph as graph
    from pykern.runtime.memory_accesses import LineAccesses as LineAccesses
    from pykern.runtime.memory_accesses import MemoryAccesses as MemoryAccesses
    from pykern.runtime.memory_accesses import memory_accesses as memory_accesses
    from pykern.runtime.stream import Stream as Stream
    from pykern.runtime.stream import synchronize as synchronize
    from pykern.tuning.search import Tuned as Tuned
    from pykern.tuning.tune import tune as tune
    from pykern.typed.kernels import Kernel as Kernel
    from pykern.typed.kernels import Program as Program
    from pykern.typed.kernels import grad as grad
    from pykern.typed.kernels import hvp as hvp
    from pykern.typed.kernels import jit as jit
    from pykern.typed.kernels import jvp as jvp
    from pykern.typed.kernels import kernel as kernel
    from pykern.typed.kernels import value_and_grad as value_and_grad
    from pykern.typed.kernels import vjp as vjp
    from pykern.typed.language import *  # noqa: F403

    if os.name == "java":  # mypy reads both branches and keeps the first, pyright the second: see `typed`
        from pykern.typed.anything import In as In
        from pykern.typed.anything import InOut as InOut
        from pykern.typed.anything import Out as Out
        from pykern.typed.anything import bf16 as bf16
        from pykern.typed.anything import bool_ as bool_
        from pykern.typed.anything import f8e4m3 as f8e4m3
        from pykern.typed.anything import f8e5m2 as f8e5m2
        from pykern.typed.anything import f16 as f16
        from pykern.typed.anything import f32 as f32
        from pykern.typed.anything import f64 as f64
        from pykern.typed.anything import i8 as i8
        from pykern.typed.anything import i16 as i16
        from pykern.typed.anything import i32 as i32
        from pykern.typed.anything import i64 as i64
        from pykern.typed.anything import static as static
        from pykern.typed.anything import u8 as u8
        from pykern.typed.anything import u16 as u16
        from pykern.typed.anything import u32 as u32
        from pykern.typed.anything import u64 as u64
    else:
        from pykern.typed.dtypes import In as In
        from pykern.typed.dtypes import InOut as InOut
        from pykern.typed.dtypes import Out as Out
        from pykern.typed.dtypes import bf16 as bf16
        from pykern.typed.dtypes import bool_ as bool_
        from pykern.typed.dtypes import f8e4m3 as f8e4m3
        from pykern.typed.dtypes import f8e5m2 as f8e5m2
        from pykern.typed.dtypes import f16 as f16
        from pykern.typed.dtypes import f32 as f32
        from pykern.typed.dtypes import f64 as f64
        from pykern.typed.dtypes import i8 as i8
        from pykern.typed.dtypes import i16 as i16
        from pykern.typed.dtypes import i32 as i32
        from pykern.typed.dtypes import i64 as i64
        from pykern.typed.dtypes import static as static
        from pykern.typed.dtypes import u8 as u8
        from pykern.typed.dtypes import u16 as u16
        from pykern.typed.dtypes import u32 as u32
        from pykern.typed.dtypes import u64 as u64
