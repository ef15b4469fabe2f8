"""Partial derivatives of the arith dialect: op -> one expression per operand.

``x, y, z`` are the operands, ``r`` the result; see `expression` for the language. `None`: the
operand is no number that is differentiated (a condition).
"""

from __future__ import annotations

RULES: dict[str, tuple[str | None, ...]] = {
    "arith.addf": ("1", "1"),
    "arith.subf": ("1", "-1"),
    "arith.mulf": ("y", "x"),
    "arith.divf": ("1 / y", "-(1 / y * r)"),  # one quotient serves both
    "arith.remf": ("1", "-roundeven((x - r) / y)"),  # a whole number, but for rounding
    "arith.negf": ("-1",),
    # of two equal values each gets half, as the elementwise maximum of JAX
    "arith.maximumf": ("where(x > y, 1, where(x == y, 0.5, 0))", "where(y > x, 1, where(x == y, 0.5, 0))"),
    "arith.minimumf": ("where(x < y, 1, where(x == y, 0.5, 0))", "where(y < x, 1, where(x == y, 0.5, 0))"),
    "arith.maxnumf": ("where(x > y, 1, where(x == y, 0.5, 0))", "where(y > x, 1, where(x == y, 0.5, 0))"),
    "arith.minnumf": ("where(x < y, 1, where(x == y, 0.5, 0))", "where(y < x, 1, where(x == y, 0.5, 0))"),
    "arith.select": (None, "where(x, 1, 0)", "where(x, 0, 1)"),
    "arith.extf": ("1",),
    "arith.truncf": ("1",),
}

CUTS = frozenset({"arith.cmpf", "arith.fptosi", "arith.fptoui", "arith.sitofp", "arith.uitofp"})
"""Ops from or to integers and conditions. They are piecewise constant, so their derivative is zero."""
