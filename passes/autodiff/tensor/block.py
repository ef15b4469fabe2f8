"""The type of what reverses a block, handed to the rules of ops with regions."""

from __future__ import annotations

from typing import Protocol

from pykern.passes.autodiff.tensor.cotangents import Cotangents
from pykern.passes.autodiff.tensor.scope import Scope


class ReverseBlock(Protocol):
    def __call__(self, scope: Scope, cotangents: Cotangents) -> None:
        """Pull the cotangents back through the block `scope` stands for, writing at its end."""
