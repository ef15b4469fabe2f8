"""What the libraries differ in: names of types and functions, and the few things that each says in its own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pykern.errors import TargetError

_TYPES = {
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
    "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "bool_",
    "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
}  # fmt: skip


@dataclass(frozen=True)
class Library:
    """`prefix` is what its functions begin with; `types` and `functions` are those that it calls otherwise; formats
    have operands as {0}, {1}, a type as {type}."""

    name: str
    prefix: str
    imports: tuple[str, ...]
    cast: str
    full: str
    update: str
    reduction: str
    einsum: str
    permuted: str
    types: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    takes_numbers: bool = True
    """Whether functions take numbers of Python for arrays."""
    fold: str = ""
    """The text of `fold(count, step, carry)`."""

    def type(self, dtype: str) -> str:
        """A dtype by its name here."""
        if dtype in self.types:
            return self.types[dtype]
        return f"{self.prefix}.{_TYPES[dtype]}"

    def call(self, function: str, arguments: Sequence[str]) -> str:
        """A function that NumPy calls so, of these arguments. Raises `TargetError` where the library has none."""
        known = self.functions.get(function, f"{self.prefix}.{function}")
        if not known:
            raise TargetError(f"{self.name} has no `{function}`")
        if "{" in known:
            return known.format(*arguments)
        return f"{known}({', '.join(arguments)})"


_LOOP = """def fold(count, step, carry):
    for k in range(count):
        carry = step(k, carry)
    return carry
"""
_JAX_LOOP = """def fold(count, step, carry):
    return lax.fori_loop(0, count, step, carry)
"""

JNP = Library(
    "jnp", "jnp", ("import jax.numpy as jnp", "from jax import lax"), "jnp.asarray({0}, {type})",
    "jnp.full({0}, {1}, {type})", "{0}.at[{1}].set({2})", "jnp.{0}({1}, axis={2})",
    'jnp.einsum("{0}", {1}, precision="highest")', "jnp.transpose({0}, {1})",
    types={"i64": "int", "f64": "float"},  # those of 32 bits where JAX has no others
    functions={
        "rsqrt": "lax.rsqrt", "erf": "lax.erf", "bitcast": "lax.bitcast_convert_type", "erfc": "lax.erfc",
    },
    fold=_JAX_LOOP,
)  # fmt: skip
NUMPY = Library(
    "numpy", "np", ("import numpy as np",), "np.asarray({0}, {type})", "np.full({0}, {1}, {type})",
    "updated({0}, ({1},), {2})", "np.{0}({1}, axis={2})", 'np.einsum("{0}", {1})', "np.transpose({0}, {1})",
    functions={"rsqrt": "(1 / np.sqrt({0}))", "erf": "", "erfc": "", "bitcast": "{0}.view({1})"},
    types={"bf16": "ml_dtypes.bfloat16", "f8e4m3": "ml_dtypes.float8_e4m3fn", "f8e5m2": "ml_dtypes.float8_e5m2"},
    fold=_LOOP,
)  # fmt: skip
TORCH = Library(
    "torch", "torch", ("import torch",), "torch.as_tensor({0}, dtype={type})", "torch.full({0}, {1}, dtype={type})",
    "updated({0}, ({1},), {2})", "torch.{0}({1}, {2})", 'torch.einsum("{0}", {1})', "torch.permute({0}, {1})",
    types={"bool": "torch.bool"},
    functions={
        "max": "torch.amax({0}, {1})", "power": "torch.pow", "arcsin": "torch.asin", "arccos": "torch.acos",
        "arctan": "torch.atan", "arctan2": "torch.atan2", "arcsinh": "torch.asinh", "arccosh": "torch.acosh",
        "arctanh": "torch.atanh", "cbrt": "(torch.sign({0}) * torch.abs({0}) ** (1 / 3))", "bitcast": "{0}.view({1})",
        "where": "torch.where", "stack": "torch.stack(({0}))",
    },
    takes_numbers=False, fold=_LOOP,
)  # fmt: skip
LIBRARIES = {"jnp": JNP, "numpy": NUMPY, "torch": TORCH}

HELPERS = {
    "updated": {
        "numpy": "def updated(x, place, value):\n    x = x.copy()\n    x[place] = value\n    return x\n",
        "torch": "def updated(x, place, value):\n    x = x.clone()\n    x[place] = value\n    return x\n",
    },
    "quotient": dict.fromkeys(
        LIBRARIES, "def quotient(a, b):\n    q = a // b\n    return q + ((q < 0) & (q * b != a))\n"
    ),
    "fold": {name: library.fold for name, library in LIBRARIES.items()},
}
"""Functions that a text may need: their own texts, by library."""
