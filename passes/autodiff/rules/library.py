"""Partial derivatives of the functions that are called by name: name -> one expression per operand.

The names are those of C; the functions of f32 have an ``f`` behind. Formulas: Abramowitz and Stegun, chapter 6.
"""

from __future__ import annotations

RULES: dict[str, tuple[str | None, ...]] = {
    "hypot": ("where(r == 0, 0, x / r)", "where(r == 0, 0, y / r)"),  # 0 at the origin, as of abs
    "remainder": ("1", "-roundeven((x - r) / y)"),
    "nextafter": ("1", "0"),  # one step further from x, wherever y is
    "tgamma": ("r * digamma(x)",),
    "lgamma": ("digamma(x)",),
}
