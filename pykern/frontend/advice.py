"""What to write instead: the hints of errors about Python and values that kernels cannot use."""

from __future__ import annotations

from pykern.data.elsewhere import FORMULAS, RANDOM, instead_of_elsewhere
from pykern.frontend.values import (
    Array,
    ComplexValue,
    Extension,
    FunctionValue,
    LanguageName,
    NoneValue,
    Text,
    TupleValue,
    TypeValue,
    UnsupportedValue,
    Value,
)

SAY_HOW_LONG = "say how long rows are: x[i, :3], or annotate x: pk.f32[:, 3]"
"""Rows of known lengths are values, which may be kept, carried and updated."""
UNSUPPORTED_STATEMENTS: dict[str, tuple[str, str]] = {
    "With": ("with", "write the body without it; files are read before the launch"),
    "Try": ("try", "kernels raise no exceptions; test with `if`"),
    "Raise": ("raise", "use `assert condition, 'message'`"),
    "FunctionDef": ("def", "define the function outside, with @pk.func"),
    "AsyncFunctionDef": ("async def", "define the function outside, with @pk.func"),
    "ClassDef": ("class", "define it outside of the kernel"),
    "Import": ("import", "import at the top of the file"),
    "ImportFrom": ("import", "import at the top of the file"),
    "Global": ("global", "write the result into an array argument"),
    "Nonlocal": ("nonlocal", "write the result into an array argument"),
    "Delete": ("del", "leave the name alone"),
    "Match": ("match", "write if / elif / else"),
    "AsyncFor": ("async for", "write a plain `for`"),
    "AsyncWith": ("async with", "write the body without it"),
}
UNSUPPORTED_EXPRESSIONS: dict[str, tuple[str, str]] = {
    "Dict": ("a dict", "use a dataclass or a named tuple"),
    "Set": ("a set", "use a tuple for a few values"),
    "SetComp": ("a set comprehension", "write a loop"),
    "DictComp": ("a dict comprehension", "write a loop"),
    "Lambda": ("a lambda", "define a function outside, with @pk.func above it"),
    "Yield": ("`yield`", "write the values into an array argument"),
    "YieldFrom": ("`yield from`", "write the values into an array argument"),
    "Await": ("`await`", "call a @pk.func function"),
    "Slice": ("a slice", "a work-item reads and writes single elements"),
    "Starred": ("`*` here", "write the values one by one"),
    "TemplateStr": ("a template string", "pass the values to print one by one"),
}
_INSTEAD = (
    ("the plain Python function", "write @pk.func above its definition"),
    ("the module", "use one of the names of pk., math. or numpy. that kernels know"),
    ("a list", "make it a tuple, or pass it as an array"),
    ("a dict", "use a dataclass or a named tuple of numbers"),
    ("an array", "pass it as an argument"),
)
_INSTEAD_OF_OTHERS = (
    "kernels use numbers, tuples, strings, types, @pk.func functions and the names of pk., math. and numpy."
)
_SCALAR_FROM: dict[type, str] = {
    Array: "index it, as in x[i]",
    TupleValue: "take one of its items, as in t[0]",
    Text: "strings are for pk.print, asserts and options only",
    NoneValue: "give it a number",
    LanguageName: "call it",
    FunctionValue: "call it",
    TypeValue: "convert a value, as in pk.f32(x)",
}


LOOP = (
    "write a loop: total = 0.0, then for k in range(len(x)): total += x[k]; there are x[i].sum(), max, mean"
)
EXTREMUM = "write a loop: best = x[0], then for k in range(1, len(x)): best = max(best, x[k])"
METHODS = {
    "format": "pass the values to print one by one: print('x =', x)",
    "T": "swap the indices: x[j, i]",
    "copy": "say how long the row is: d = np.zeros(3), then d[:] = x[i]",
    **dict.fromkeys(("item", "astype"), "an element is a number already; cast it as in pk.f32(x[i])"),
    "view": "read the bits of a number as in pk.bitcast(x[i], pk.u32)",
    **dict.fromkeys(("fill", "reshape", "flatten", "ravel"), "do this outside of the kernel, on the array"),
    **dict.fromkeys(
        ("append", "extend", "pop"),
        "lengths are fixed: write t = np.zeros(8), then t[k] = value",
    ),
    "at": "write x[i] = value: arrays are changed in place",
    "strides": "there are shape, dtype, ndim, size",
}
"""What to write instead of attributes that arrays have elsewhere."""
_FUNCTIONS = {
    **dict.fromkeys(("sum", "average"), LOOP),
    **dict.fromkeys(("nanmax", "nanmin"), EXTREMUM),
    "norm": "write a loop that adds up x[k] * x[k], and take pk.sqrt of the sum",
    "interp": "write it out: find k with x[k] <= v < x[k + 1] in a loop, then "
    "y[k] + (v - x[k]) * (y[k + 1] - y[k]) / (x[k + 1] - x[k])",
    **FORMULAS,
    **dict.fromkeys(("sorted", "sort", "argsort", "unique"), "sort before the launch, and pass the result"),
    **dict.fromkeys(
        ("cumsum", "cumprod", "diff", "reversed", "map", "filter"), "write a loop over k, with x[k]"
    ),
    **dict.fromkeys(
        ("arange", "linspace"), "write a loop over range(n); each work-item has its own i = pk.index()"
    ),
    **dict.fromkeys(("isinstance", "type"), "types are known when compiling: compare x.dtype == pk.f32"),
    **dict.fromkeys(("time", "perf_counter", "sleep"), "measure around the launch: pk.benchmark(k, (x, y))"),
    **dict.fromkeys(("str", "repr", "format"), "pass the values to print one by one: print('x =', x)"),
    **dict.fromkeys(("list", "dict", "set"), "use a tuple for a few values, or pk.private(shape, dtype)"),
    **dict.fromkeys(
        ("zeros_like", "ones_like", "full_like", "empty_like", "copy"),
        "say how long the row is: d = np.zeros(3), then d[:] = x[i]",
    ),
    **dict.fromkeys(("enumerate", "zip"), "write `for k in range(len(x)):` and index"),
    **dict.fromkeys(("dot", "matmul", "einsum"), "write a loop that adds products"),
    **dict.fromkeys(("open", "input"), "read before the launch, and pass arrays"),
}


def instead_of_function(name: str) -> str:
    """For a function that is known elsewhere, and not in kernels."""
    return _FUNCTIONS.get(name, "compute it before the launch and pass the result, or write it out")


_DERIVATIVES = ("grad", "value_and_grad", "vjp", "jvp", "hvp", "autodiff")
_IN_PROGRAMS = {
    **dict.fromkeys(
        ("unique", "nonzero", "argwhere", "flatnonzero"),
        "the shape of the result would depend on values: do this with NumPy, outside of the program",
    ),
    **dict.fromkeys(("vmap", "pmap"), "write the axis: operators and reductions take any number of them"),
    **dict.fromkeys(("fori_loop", "scan"), "write a loop: for i in pk.range(n)"),
    "at": "write x[i] = v: arrays are changed in place, as in NumPy",
    "detach": "write pk.stop_gradient(x)",
    "view": "write x.reshape(...) for another shape, pk.bitcast(x, dtype) for another type",
    "permute": "write x.transpose(...)",
    "mT": "write x.swapaxes(-1, -2)",
    **dict.fromkeys(("unsqueeze", "expand_dims"), "write x[:, None]"),
    **dict.fromkeys(("to", "cpu", "numpy", "cuda", "tolist"), "move arrays outside of the program"),
    **FORMULAS,
    "tree_map": "write {k: f(v) for k, v in p.items()}",
    **{
        name: f"write np.linalg.{name}(a)"
        for name in ("inv", "det", "slogdet", "cholesky", "pinv", "svd", "svdvals", "eigh", "eigvalsh", "qr", "cond",
                     "matrix_rank")
    },
    **{name: f"write np.fft.{name}(x)" for name in ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2")},
    **{name: f"write np.linalg.{name}(a, b)" for name in ("solve", "lstsq")},
    **dict.fromkeys(
        ("eig", "eigvals"),
        "of symmetric matrices write np.linalg.eigh(a); else do this with NumPy, outside of the program",
    ),
}  # fmt: skip


def instead_in_program(name: str) -> str | None:
    """For a function or an attribute that arrays have elsewhere, and not in array programs."""
    return _IN_PROGRAMS.get(name.rpartition(".")[2])


def instead_of(description: str, name: str = "") -> str:
    """For an object that kernels cannot use, by how it is described."""
    if description.endswith("a derivative"):
        return "call it outside of the program, and pass what it gives"
    if "of a library" in description and name.rpartition(".")[2] in _DERIVATIVES:
        return (
            "inside of array programs there are pk.grad, pk.value_and_grad, pk.vjp, pk.jvp and pk.hvp of functions; "
            "take derivatives of kernels outside, and pass what they give"
        )
    if "random" in name:
        return RANDOM
    if (known := instead_of_elsewhere(name)) is not None:
        return known
    if name.endswith((".append", ".extend", ".insert", ".add", ".update")):
        return "a kernel changes arrays only: pass one, and write x[i] = value"
    if "of a library" in description or description.startswith("the class"):
        return instead_of_function(name.rpartition(".")[2])
    if description.startswith("an array program"):
        return (
            "write @pk.func above a function of numbers, or call the program outside, and pass what it gives"
        )
    if description.startswith("a Kernel"):
        return "kernels do not launch kernels: make it a @pk.func, or launch both from a @pk.jit program"
    if "calls itself" in description:
        return "write a loop, or a stack in pk.private memory"
    if description.endswith("does not hold both"):
        return "give both a type that does: best = pk.i32(-1), and best = pk.i32(x[k])"
    if "None" in description.split():
        return "None is no number: begin with one, as in best = x[0], or best = 0.0, and a flag where none was found"
    if "computed row" in description:
        return f"begin with d = np.zeros(3), or {SAY_HOW_LONG}"
    if "on one path" in description:
        return "use another name on the other path"
    if description.count("a tuple of") > 1:
        return "a tuple has one length in all iterations: pk.unroll(range(...)) makes a copy of the body for each"
    if "round of the loop" in description or "the loop" in description:
        return "use another name in the loop"
    return next((advice for kind, advice in _INSTEAD if description.startswith(kind)), _INSTEAD_OF_OTHERS)


def scalar_from(value: Value) -> str | None:
    """How a scalar is had from a value that is none."""
    if isinstance(value, Array) and value.outer:
        further = [letter for letter in "ijklmnpq" if letter not in value.name][: len(value.shape)]
        return (
            f"give an index for every dimension, as in {value.name.removesuffix(']')}, {', '.join(further)}]"
        )
    if isinstance(value, Array) and value.name.isidentifier():
        return f"index it, as in {value.name}[{', '.join('ijklmnpq'[: len(value.shape)]) or '()'}]"
    if isinstance(value, ComplexValue):
        return "write z.real, z.imag or abs(z)"
    if isinstance(value, Extension):
        return value.instead_of_scalar
    if isinstance(value, UnsupportedValue):
        return instead_of(value.description)
    return next((advice for kind, advice in _SCALAR_FROM.items() if isinstance(value, kind)), None)
