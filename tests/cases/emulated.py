"""Emulated GPUs for suites that the devices of this machine stand for in `make test`: all their cases are slow."""

from __future__ import annotations

import pytest

EMULATED = tuple(pytest.param(name, marks=pytest.mark.slow) for name in ("cuda:emulated", "rocm:emulated"))
"""Values of the parameter `device`."""
