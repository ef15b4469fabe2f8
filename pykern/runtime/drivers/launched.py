"""Which kernels a device was given lately: what the error names when it fails afterwards.

A kernel's fault is told by whatever call comes next, often one that only waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pykern.errors import DeviceError

NAMED = 5
"""Kernels that an error names."""
LOST = (
    "find the access with @pk.kernel(debug=True); this process has lost the device, others (also `cpu`) go on"
)


class Launched:
    """The kernels of one device, by name."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def add(self, name: str) -> None:
        """`name` is launched."""
        self._names.pop(name, None)
        self._names[name] = None

    def names(self) -> list[str]:
        """The last ones, the very last first."""
        return list(self._names)[: -NAMED - 1 : -1]

    @contextmanager
    def told(self) -> Iterator[None]:
        """Let an error in the block, which waits for the device, name them."""
        try:
            yield
        except DeviceError as error:
            names = ", ".join(f"`{name}`" for name in self.names())
            if names:
                error.reason += f" (launched here: {names})"
                error.hint = error.hint or LOST
            raise
