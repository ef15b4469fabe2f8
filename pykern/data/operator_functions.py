"""NumPy's functions that Python writes as operators between two values."""

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
