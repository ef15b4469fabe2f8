"""Every public name of pykern, in groups; the text is that of its docstring.

`GROUPS` says where a name stands; `tests/docs/test_reference.py` holds that each is there once, and has a docstring.
"""

from __future__ import annotations

import inspect

from extensions.markdown import table
from extensions.search_words import WORDS, entries

GROUPS: dict[str, tuple[str, ...]] = {
    "Kernels": ("kernel", "Kernel", "func", "cuda_func", "static", "In", "Out", "InOut"),
    "Functions of numbers elsewhere": ("ufunc", "cfunc", "CFunction"),
    "Array programs": ("jit", "Program", "range"),
    "Derivatives": (
        "grad", "value_and_grad", "vjp", "jvp", "hvp", "autodiff", "Dup", "custom_vjp", "stop_gradient",
        "checkpoint", "every", "binomial", "check_grads", "GradientCheck",
    ),
    "Looking inside": (
        "explore", "spec", "Lowered", "Compiled", "memory_accesses", "MemoryAccesses", "LineAccesses",
    ),
    "Without Python": ("export", "Exported", "LivePage"),
    "Devices": ("devices", "device", "synchronize", "set_num_threads", "get_num_threads"),
    "Streams, events, graphs": ("Stream", "Event", "wait", "graph"),
    "Arrays on devices": (
        "Array", "array", "asarray", "from_dlpack", "from_pointer", "from_opencl", "opencl_context", "copyto",
        "pinned", "memory_stats", "empty_cache",
    ),
    "In kernels: where a work-item stands": (
        "index", "local_index", "group_index", "group_size", "num_groups", "ndrange", "subgroup_size",
        "subgroup_index", "lane_index",
    ),
    "In kernels: tiles": ("tile", "tiles", "positions"),
    "In kernels: memory and barriers": ("shared", "private", "barrier"),
    "In kernels: collectives": (
        "group_reduce", "subgroup_reduce", "subgroup_scan", "subgroup_shuffle", "subgroup_broadcast",
    ),
    "In kernels: atomics": (
        "atomic_add", "atomic_sub", "atomic_min", "atomic_max", "atomic_and_", "atomic_or_", "atomic_xor",
        "atomic_exchange", "atomic_compare_exchange",
    ),
    "In kernels: values": (
        "cast", "bitcast", "where", "minimum", "maximum", "clamp", "cdiv", "popcount", "clz", "random", "random_normal",
        "random_bits", "unroll", "print",
    ),
    "Whole arrays: reductions": ("sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin",
                               "cumsum", "cumprod"),
    "Whole arrays: products": ("dot", "matmul", "outer"),
    "Whole arrays: shapes": (
        "transpose", "swapaxes", "reshape", "ravel", "expand_dims", "squeeze", "broadcast_to", "flip",
        "concatenate", "stack", "pad", "copy",
    ),
    "Whole arrays: new ones": (
        "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "arange", "eye",
    ),
    "Complex numbers": ("real", "imag", "conj", "angle"),
    "Whole arrays: NumPy's functions that rearrange": (
        "roll", "take", "take_along_axis", "repeat", "diff", "moveaxis", "rot90", "fliplr", "flipud", "atleast_1d",
        "atleast_2d", "append", "meshgrid", "hstack", "vstack", "dstack", "column_stack", "split",
        "array_split", "hsplit", "vsplit", "block", "diagonal", "diag", "trace", "triu", "tril",
    ),
    "Whole arrays: NumPy's sums and tests": (
        "count_nonzero", "ptp", "average", "nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nan_to_num",
        "isclose", "allclose", "array_equal", "isin",
    ),
    "Whole arrays: NumPy's products": (
        "einsum", "tensordot", "inner", "vdot", "kron", "cross",
    ),
    "Whole arrays: NumPy's numerical functions": (
        "linspace", "gradient", "trapezoid", "searchsorted", "interp", "logaddexp", "fmax", "fmin", "heaviside",
        "sinc", "signbit", "select", "polyval", "sliding_window_view", "convolve", "correlate",
    ),
    "Whole arrays: NumPy's order and statistics": (
        "sort", "argsort", "partition", "argpartition", "median", "quantile", "percentile", "histogram", "bincount",
        "digitize", "cov", "corrcoef",
    ),
    "Benchmarks and tuning": ("benchmark", "BenchmarkResult", "Disagreement", "tune", "Tuned"),
    "Errors": (
        "KernelError", "KernelSyntaxError", "KernelTypeError", "VerifyError", "PassError", "NotRaisable",
        "NotDifferentiable", "TargetError", "CompilerCrash", "LaunchError", "DeviceError", "OutOfBounds",
        "AssertionFailed", "OutOfMemory", "UsedAfterFree", "NotANumber", "DataRace", "TimedOut",
    ),
}  # fmt: skip
MEMBERS = {
    "Kernel": "   :members: __call__, lower, raised\n   :inherited-members:",
    "Array": "   :members:\n   :inherited-members:",
}
"""Classes of which only some methods are for users."""
MADE_BY_USERS = {"Stream", "Event", "Dup", "device", "graph", "static"}
"""Classes whose constructors are shown; others are what functions return."""
DTYPES = (
    "bool_", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2",
)  # fmt: skip
CONSTANTS = ("e", "pi", "tau", "inf", "nan")
MODULES = ("errors", "language", "mpi", "testing", "types")
TESTING, MPI = "pykern.testing", "pykern.mpi"


def public() -> set[str]:
    """Names that `import pykern as pk` is meant to give."""
    import pykern

    homes = set(pykern._HOME)
    return homes | {name for home in pykern._LANGUAGE for name in __import__(home, fromlist=["x"]).__all__}


def mathematics() -> set[str]:
    """Names that have a table of their own: functions of numbers."""
    from pykern.runtime.reference_mathematics import MATHEMATICS

    return set(MATHEMATICS)


def page() -> str:
    import pykern

    placed = {name for names in GROUPS.values() for name in names}
    parts = []
    for group, names in GROUPS.items():
        parts += [f"## {group}", *(_entry("pykern", name, getattr(pykern, name)) for name in names)]
    left = sorted(public() - placed - set(DTYPES) - set(CONSTANTS) - mathematics())
    if left:
        parts += ["## More", *(_entry("pykern", name, getattr(pykern, name)) for name in left)]
    parts += ["## Types", _types(), "Constants: " + ", ".join(f"`pk.{name}`" for name in CONSTANTS) + "."]
    testing = __import__(TESTING, fromlist=["x"])
    parts += ["## Tests of your kernels: pykern.testing"]
    parts += [_entry(TESTING, name, getattr(testing, name)) for name in testing._HOME]
    mpi = __import__(MPI, fromlist=["x"])
    parts += ["## Grids over many ranks: pykern.mpi"]
    parts += [_entry(MPI, name, getattr(mpi, name)) for name in mpi.__all__]
    return "\n\n".join(parts)


def _entry(module: str, name: str, value: object) -> str:
    """A directive of autodoc."""
    if inspect.isclass(value) and issubclass(value, BaseException):
        lines = [
            f".. autoexception:: {module}.{name}()"
        ]  # brackets: nobody looks for the constructor's signature
    elif inspect.isclass(value):
        lines = [f".. autoclass:: {module}.{name}", MEMBERS.get(name, "   :members:")]
    else:
        lines = [f".. autofunction:: {module}.{name}"]
    if module == "pykern" and name in WORDS:
        lines = [*entries(name, WORDS[name]), *lines]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"


def _types() -> str:
    import pykern

    rows = []
    for name in DTYPES:
        dtype = getattr(pykern, name)
        remark = "in memory only: kernels compute in f32" if dtype.is_storage else ""
        rows.append((f"`pk.{name}`", f"`{dtype.numpy.name}`", str(dtype.bits), remark))
    return table(("type", "of NumPy or ml_dtypes", "bits", ""), rows)


def shown_signature(_app, what: str, name: str, _value, _options, signature, returns):
    """For Sphinx: constructors that users do not call are left out."""
    if what in ("class", "exception") and name.rpartition(".")[2] not in MADE_BY_USERS:
        return "", None
    return signature, returns
