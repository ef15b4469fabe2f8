"""Partial derivatives of the math dialect: op -> one expression per operand.

The formulas are those of Abramowitz and Stegun, chapters 4 and 7; at kinks the choice is JAX's.
"""

from __future__ import annotations

RULES: dict[str, tuple[str | None, ...]] = {
    "math.sqrt": ("0.5 / r",),
    "math.rsqrt": ("-0.5 * (r / x)",),
    "math.cbrt": ("1 / (3 * (r * r))",),
    "math.exp": ("r",),
    "math.exp2": ("LN2 * r",),
    "math.expm1": ("r + 1",),
    "math.log": ("1 / x",),
    "math.log2": ("(1 / LN2) / x",),
    "math.log10": ("(1 / LN10) / x",),
    "math.log1p": ("1 / (1 + x)",),
    "math.sin": ("cos(x)",),
    "math.cos": ("-sin(x)",),
    "math.tan": ("1 + r * r",),
    "math.asin": ("1 / sqrt((1 - x) * (1 + x))",),
    "math.acos": ("-(1 / sqrt((1 - x) * (1 + x)))",),
    "math.atan": ("1 / (1 + x * x)",),
    "math.sinh": ("cosh(x)",),
    "math.cosh": ("sinh(x)",),
    "math.tanh": ("1 - r * r",),
    "math.asinh": ("1 / sqrt(x * x + 1)",),
    "math.acosh": ("1 / sqrt((x - 1) * (x + 1))",),
    "math.atanh": ("1 / ((1 - x) * (1 + x))",),
    "math.atan2": ("y / (x * x + y * y)", "-(x / (x * x + y * y))"),
    "math.erf": ("(2 / SQRT_PI) * exp(-(x * x))",),
    "math.erfc": ("-(2 / SQRT_PI) * exp(-(x * x))",),
    # 0 ** 0 is a constant; elsewhere y * pow(x, y - 1) has a derivative by y, also where y is 0
    "math.powf": (
        "y * where(x == 0, where(y == 0, 0, pow(x, y - 1)), pow(x, y - 1))",
        "where(x == 0, 0, r * log(x))",
    ),
    "math.fpowi": ("where(y == 0, 0, real(y) * powi(x, y - 1))", None),
    "math.fma": ("y", "x", "1"),
    "math.absf": ("sign(x)",),
    "math.copysign": ("sign(x) * sign(r)", "0"),
    "math.floor": ("0",),
    "math.ceil": ("0",),
    "math.trunc": ("0",),
    "math.round": ("0",),
    "math.roundeven": ("0",),
}

CUTS = frozenset({"math.isnan", "math.isinf", "math.isfinite", "math.isnormal"})
