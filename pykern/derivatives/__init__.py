"""Derivatives of kernels (`autodiff.py`) and programs (`gradients.py`); the rules: `passes/autodiff`."""

from __future__ import annotations
