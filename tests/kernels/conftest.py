"""Every test here that takes `device` runs on the compiled and on the reference device."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["cpu", "python"])
def device(request: pytest.FixtureRequest) -> str:
    return request.param
