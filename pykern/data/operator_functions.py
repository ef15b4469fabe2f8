"""NumPy's functions that Python writes as operators, and which methods of ufuncs programs take."""

from __future__ import annotations

ARITHMETIC = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "mod": "%",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>",
}  # fmt: skip
COMPARISONS = {
    "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip
LOGICAL = {"logical_and": "&", "logical_or": "|", "logical_xor": "^"}
"""Of truths: each operand is compared with zero first."""
BINARY = (*ARITHMETIC, *COMPARISONS, *LOGICAL)
OF_ROWS = ("sum", "prod", "any", "all", "max", "min", "argmax", "argmin", "mean", "var", "std")
"""Reductions of a row in kernels, to one number."""
UNARY = ("negative", "positive", "invert", "logical_not", "reciprocal")
UFUNC_METHODS = {
    "reduce": ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or"),
    "accumulate": ("add", "multiply", "maximum", "minimum"),
    "outer": (
        "add", "subtract", "multiply", "divide", "floor_divide", "mod", "power", "maximum", "minimum", *COMPARISONS,
    ),
    "at": ("add", "subtract", "multiply", "divide", "maximum", "minimum"),
}  # fmt: skip
"""The ufuncs of which programs take a method, as ``np.add.reduce``."""
