"""What PyTorch loads at the first derivative in forward mode warns of PyTorch's own age: it is loaded before."""

from __future__ import annotations

import warnings

from pykern.testing.device_needs import missing_package

if missing_package("torch") is None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch._decomp.decompositions_for_jvp  # noqa: F401
