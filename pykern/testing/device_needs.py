"""Why a device, or a package, that a test asks for is not there.

Comes in: names such as ``opencl``, ``vulkan:1`` or ``torch``. Goes out: None where it is there, else the reason.
Read next: `pykern.runtime.registry`.
"""

from __future__ import annotations

import importlib.util

HERE = ("cpu", "python")
PACKAGES = ("torch", "jax", "mpi4py")
"""Packages that tests need and that are not installed with the others; they may be required, too."""


def kinds() -> tuple[str, ...]:
    """Every kind of device that a mark may name."""
    from pykern.runtime.registry import KINDS

    return (*HERE, *KINDS)


def missing_device(name: str) -> str | None:
    """Why there is no device `name` (``cuda``, ``opencl:0``) on this machine; None where there is one.

    Raises `DeviceError` for a name that no device can have.
    """
    from pykern.errors import DeviceError
    from pykern.runtime import registry
    from pykern.runtime.driver import Missing

    kind, _, number = name.partition(":")
    emulated = registry.emulated_kind(name) is not None
    if kind not in kinds() or (number and not number.isdecimal() and not emulated):
        raise DeviceError(f"no device {name!r}", hint=f"write one of {', '.join(kinds())}, or opencl:1")
    if kind in HERE:
        return None
    kind, ordinal = registry.split(name) if emulated else (kind, int(number or 0))
    there = registry.found(kind)
    if isinstance(there, Missing):
        return f"no {kind} device: {there.reason}" + (f" ({there.install})" if there.install else "")
    if ordinal not in [device.ordinal for device in there]:
        return f"no {name} device: this machine has {len(there)} of this kind"
    return None


def missing_package(name: str) -> str | None:
    """Why the package `name` cannot be imported; None where it can."""
    found = importlib.util.find_spec(name)
    return None if found is not None else f"{name} is not installed (pip install {name})"


def present() -> list[str]:
    """Every device of this machine that kernels run on, but for the reference: ``cpu``, ``opencl:0``, ..."""
    from pykern.runtime.devices import devices

    return [device.name for device in devices() if device.name != "python"]
