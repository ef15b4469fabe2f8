"""Radices of Fourier transforms, and lengths from which their roots of unity are computed by the program."""

from __future__ import annotations

RADICES = (8, 4, 2, 3, 5)
"""The radices that a length is divided by first: real and imaginary parts of eight elements fill 16 registers."""
GREATEST_RADIX = 13
"""The greatest prime that is transformed directly; its products grow as its square. A length with a greater prime
factor is transformed by a convolution."""
CONSTANT_ROOTS = 2048
"""Roots of unity that the code holds as constants; more are products of two roots of shorter tables, of which the code
holds as many as the square root."""
