"""Every case here that takes `device` runs on the same devices as the tests of kernels."""

from __future__ import annotations

from tests.kernels.conftest import device

__all__ = ["device"]
