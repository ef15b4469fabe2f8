"""Calls of array programs: arguments, what is computed where, results. Read `pykern/api/jit.py` first."""

from __future__ import annotations
