"""What PyTorch loads for compiled graphs and forward mode warns of its own age: that is PyTorch's."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"))
