"""Which device a launch runs on: `device=`, `with pk.device(...)`, ``PYKERN_DEVICE``, else the CPU."""

from __future__ import annotations

import contextvars
import threading
from types import TracebackType

from pykern.errors import DeviceError
from pykern.settings import settings

NAMES = ("cpu", "python")

OVERRIDE: dict[str, object] = {"device": None}
"""Compiled entries look here: not None while some block has chosen a device other than the CPU."""

_blocks = 0
_lock = threading.Lock()
_chosen: contextvars.ContextVar[str | None] = contextvars.ContextVar("pykern_device", default=None)


class device:  # noqa: N801 - used as ``with pk.device("cpu"):``
    """A device by name; as a context manager, the default inside the block."""

    def __init__(self, name: str) -> None:
        self.name = checked(name)
        self._tokens: list[contextvars.Token[str | None]] = []

    def __enter__(self) -> device:
        self._tokens.append(_chosen.set(self.name))
        _count_block(self.name, 1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _chosen.reset(self._tokens.pop())
        _count_block(self.name, -1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"pk.device({self.name!r})"


def _count_block(name: str, change: int) -> None:
    global _blocks
    if name != "cpu":
        with _lock:
            _blocks += change
            OVERRIDE["device"] = name if _blocks else None


def devices() -> list[device]:
    """Every device of this machine."""
    return [device(name) for name in NAMES]


def checked(name: object) -> str:
    """The device's name. Raises `DeviceError` for a device that is not there."""
    text = name.name if isinstance(name, device) else str(name)
    base, _, number = text.partition(":")
    if base not in NAMES or number not in ("", "0"):
        raise DeviceError(f"no device {text!r}", hint=f"there are {', '.join(NAMES)}; see `pykern devices`")
    return base


def current_device(given: object = None) -> str:
    """The device for a launch that asked for `given`."""
    if given is not None:
        return checked(given)
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    return checked(settings().device or "cpu")
