"""Names of targets that are source over whole arrays: ``xp:jnp``, ``xp:torch``, ``xp:numpy``."""

from __future__ import annotations

from dataclasses import dataclass

from pykern.data.target import Target
from pykern.lowering.gpu.options import chip_and_options

LIBRARIES = ("jnp", "torch", "numpy")


@dataclass(frozen=True)
class XpOptions:
    """There are none."""


def options_of(target: Target) -> tuple[str, XpOptions]:
    """The library and its options. Raises `TargetError` for those that there are not."""
    return chip_and_options(target, {name: name for name in LIBRARIES}, XpOptions)
