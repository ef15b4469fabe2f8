"""Every kind of device, and the devices of this machine that are open.

Comes in: names such as ``opencl:0``. Goes out: `DeviceInfo`s, and one `Opened` a device: its driver, its
pool of memory, its first stream and the code loaded so far. Bindings of a driver are imported when its kind
is asked for, not before.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import threading
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from pykern.data.artifact import Artifact
from pykern.errors import NO_DEVICE, DeviceError
from pykern.runtime.driver import DeviceInfo, Driver, Missing, Runtime
from pykern.runtime.pool import Pool

KINDS = ("cuda", "rocm", "metal", "vulkan", "opencl", "webgpu")
"""Kinds that run kernels, those first that a machine would rather use."""
EMULATED = {"cuda:emulated": "80", "rocm:emulated": "gfx942", "metal:emulated": "0"}
"""Emulated GPUs: kinds that are used where they are named, and listed nowhere; and the chip that is meant where none is
named. The numbers of CUDA's are compute capabilities, those of ROCm's what stands behind ``gfx``; Metal has one."""
_MODULES = {
    "cuda:emulated": "pykern.runtime.emulator",
    "rocm:emulated": "pykern.runtime.emulator.amd.runtime",
    "metal:emulated": "pykern.runtime.metal_emulator",
}
MEMORY_ONLY = ("cpu", "python", "null")
"""Kinds whose arrays lie in NumPy's memory: the CPU's launches need no driver, null's are only recorded."""

_CALLED = {
    "nvidia": "cuda",
    "amd": "rocm",
    "hip": "rocm",
    "cl": "opencl",
    "vk": "vulkan",
    "wgpu": "webgpu",
    "apple": "metal",
    "mps": "metal",
    "host": "cpu",
}
"""Words of elsewhere."""
_lock = threading.RLock()


@functools.cache
def runtime(kind: str) -> Runtime | Missing:
    """The runtime of a kind of device, its module imported; `Missing` where this version has none."""
    module = _MODULES.get(kind, f"pykern.runtime.drivers.{'host' if kind in ('cpu', 'python') else kind}")
    if importlib.util.find_spec(module) is None:
        return Missing(kind, f"this version of pykern has no {kind} devices", "")
    return importlib.import_module(module).RUNTIME


@functools.cache
def found(kind: str) -> tuple[DeviceInfo, ...] | Missing:
    """The devices of a kind, looked for once; why there are none otherwise."""
    with _lock:
        there = runtime(kind)
        if isinstance(there, Missing):
            return there
        devices = there.devices()
        return devices if isinstance(devices, Missing) else tuple(devices)


def split(name: str) -> tuple[str, int]:
    """``opencl:1`` -> ("opencl", 1); ``opencl`` is its first device, ``cuda:emulated`` a chip of `EMULATED`.

    Raises `DeviceError`. `full_name` is the inverse.
    """
    emulated = emulated_kind(name)
    if emulated is not None:
        return emulated, _chip_number(name, emulated, name.removeprefix(emulated).removeprefix(":"))
    kind, colon, number = name.partition(":")
    if kind not in KINDS and kind not in MEMORY_ONLY:
        raise DeviceError(
            f"no device {name!r}",
            hint=_instead(kind),
            code=NO_DEVICE,
        )
    return kind, _number(name, kind, number if colon else "0")


def emulated_kind(name: str) -> str | None:
    """The kind of an emulated GPU; None for other devices."""
    return next((kind for kind in EMULATED if f"{name}:".startswith(f"{kind}:")), None)


def full_name(kind: str, ordinal: int) -> str:
    """A device as users name it."""
    return f"{kind}:gfx{ordinal:x}" if kind == "rocm:emulated" else f"{kind}:{ordinal}"


def _chip_number(name: str, kind: str, chip: str) -> int:
    chip = chip or EMULATED[kind]
    if kind != "rocm:emulated":
        return _number(name, kind, chip)
    if not re.fullmatch(r"gfx[0-9a-f]{3,4}", chip):
        raise DeviceError(
            f"no device {name!r}: {chip!r} is no chip", hint=f"write {kind}:{EMULATED[kind]}", code=NO_DEVICE
        )
    return int(chip.removeprefix("gfx"), 16)


def _number(name: str, kind: str, number: str) -> int:
    if not number.isdecimal():
        example = f"{kind}:{EMULATED.get(kind, 0)}"
        raise DeviceError(
            f"no device {name!r}: {number!r} is no number", hint=f"write {example}", code=NO_DEVICE
        )
    return int(number)


def _instead(kind: str) -> str:
    """What to write for a kind of device that there is not."""
    kinds = ("cpu", "python", *KINDS)
    if kind.lower() in ("gpu", "device", "accelerator"):
        return f"write its kind: {', '.join(KINDS)}; `pykern devices` lists those of this machine"
    near = [_CALLED[kind.lower()]] if kind.lower() in _CALLED else get_close_matches(kind, kinds, 1, 0.7)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(kinds)}; see `pykern devices`"


def info(name: str) -> DeviceInfo:
    """What is known of a device. Raises `DeviceError` that says why it is not there."""
    kind, ordinal = split(name)
    devices = found(kind)
    if isinstance(devices, Missing):
        advice = f"needed: {devices.install}" if devices.install else "see `pykern devices`"
        raise DeviceError(f"no device {name!r}: {devices.reason}", hint=advice, code=NO_DEVICE)
    for device in devices:
        if device.ordinal == ordinal:
            return device
    names = ", ".join(f"{full_name(kind, d.ordinal)} ({d.name})" for d in devices)
    raise DeviceError(f"no device {name!r}", hint=f"there are {names}" if names else None, code=NO_DEVICE)


@dataclass(eq=False)
class Opened:
    """A device in use."""

    name: str
    info: DeviceInfo
    driver: Driver
    pool: Pool
    stream: Any
    """The stream of those who name none."""
    _codes: dict[str, Any] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def code(self, artifact: Artifact) -> Any:
        """The artifact loaded; kept by its key."""
        with self._lock:
            if artifact.key not in self._codes or not artifact.key:
                self._codes[artifact.key] = self.driver.load(artifact)
            return self._codes[artifact.key]


_opened: dict[tuple[str, int], Opened] = {}
_by_name: dict[str, Opened] = {}


def opened(name: str) -> Opened:
    """The device, opened at the first call. Raises `DeviceError`."""
    device = _by_name.get(name)
    if device is None:
        place = split("cpu" if name == "python" else name)  # the reference works on the CPU's arrays
        with _lock:
            device = _opened.get(place)
            if device is None:
                device = _opened[place] = _open("cpu" if name == "python" else name)
            _by_name[name] = device
    return device


def _open(name: str) -> Opened:
    known = info(name)
    there = runtime(known.runtime)
    assert not isinstance(there, Missing)
    driver = there.open(known)
    full = "cpu" if known.runtime == "cpu" else full_name(known.runtime, known.ordinal)
    stream = driver.stream("normal")
    return Opened(full, known, driver, Pool(full, driver, stream), stream)
