"""Which device a launch runs on: `device=`, `with pk.device(...)`, ``PYKERN_DEVICE``, else where the data lives.

Comes in: names such as ``cpu``, ``python``, ``opencl:0``. Goes out: the same, checked. The names ``cpu`` and
``python`` need no driver and are never looked up. Read next: `pykern.runtime.registry`.
"""

from __future__ import annotations

import contextvars
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from pykern.data.synthetic_frame import at_users_line
from pykern.environment.settings import settings

if TYPE_CHECKING:
    from pykern.runtime.driver import DeviceInfo

NAMES = ("cpu", "python")

OVERRIDE: dict[str, object] = {"device": None}
"""Compiled entries look here: not None while some block has chosen a device other than the CPU."""

_known: dict[str, str] = {}
"""Names that were checked, with the full ones."""
_blocks = 0
_lock = threading.Lock()
_chosen: contextvars.ContextVar[str | None] = contextvars.ContextVar("pykern_device", default=None)


class device:  # noqa: N801 - used as ``with pk.device("cpu"):``
    """A device by name (``opencl`` is ``opencl:0``); as a context manager, the default inside the block."""

    @at_users_line
    def __init__(self, name: object) -> None:
        self.name = checked(name)
        self._tokens: list[contextvars.Token[str | None]] = []

    @property
    def info(self) -> DeviceInfo:
        """Limits and abilities."""
        from pykern.runtime import registry

        return registry.info(self.name)

    def __enter__(self) -> device:
        self._tokens.append(_chosen.set(self.name))
        if self.name != "cpu":
            override(self.name, 1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _chosen.reset(self._tokens.pop())
        if self.name != "cpu":
            override(self.name, -1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"pk.device({self.name!r})"


def override(name: str, change: int) -> None:
    """Count a block, in whatever thread, in which calls have to go through Python."""
    global _blocks
    with _lock:
        _blocks += change
        OVERRIDE["device"] = name if _blocks else None


def devices() -> list[device]:
    """Every device of this machine that kernels run on."""
    from pykern.runtime import registry

    found = [device(name) for name in NAMES]
    for kind in registry.KINDS:
        there = registry.found(kind)
        if isinstance(there, tuple):
            found += [device(f"{kind}:{one.ordinal}") for one in there]
    return found


def checked(name: object) -> str:
    """The device's full name. Raises `DeviceError` for a device that is not there."""
    text = name.name if isinstance(name, device) else str(name)
    if text in NAMES:
        return text
    full = _known.get(text)
    if full is None:
        from pykern.runtime import registry

        kind, ordinal = registry.split(text)
        registry.info(text)
        full = _known[text] = kind if kind in NAMES else registry.full_name(kind, ordinal)
    return full


def current_device(given: object = None) -> str:
    """The device for a launch that asked for `given`."""
    return chosen_device(given) or "cpu"


def chosen_device(given: object = None) -> str | None:
    """The device that was asked for: in the call, by a block, by ``PYKERN_DEVICE``; None where none was."""
    if given is not None:
        return checked(given)
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    named = settings().device
    return checked(named) if named else None
