"""Result codes of CUDA and HIP, as errors that say what was tried, what it means and what to do.

Comes in: the tuple that a function of the API gives. Goes out: its values, or a `DeviceError`. A kernel's fault is told
by whatever call comes next; the error names the kernels that may have caused it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pykern.environment.installation import install_extra
from pykern.errors import DeviceError, OutOfMemory
from pykern.runtime.drivers.launched import LOST

if TYPE_CHECKING:
    from pykern.runtime.drivers.addresses import Calls

Names = Callable[[], list[str]]
"""Kernels that were launched on the device, the last one first."""
FAULTS = {
    "illegaladdress": "a kernel read or wrote outside of memory",
    "misalignedaddress": "a kernel read or wrote at an address that its type must not have",
    "illegalinstruction": "a kernel ran what is no instruction",
    "invalidaddressspace": "a kernel used an address of another kind of memory",
    "invalidpc": "a kernel ran outside of code",
    "hardwarestackerror": "a kernel's stack is at its end",
    "launchfailed": "a kernel failed",
    "launchfailure": "a kernel failed",
    "launchtimeout": "a kernel took longer than the system allows",
    "eccuncorrectable": "memory of the device is broken",
    "contextisdestroyed": "the device is gone",
    "deviceunavailable": "the device is gone",
}
"""Results by which a kernel's failure is told, by whatever call comes next; nothing else runs on the device then."""
PTXAS = "nvidia-cuda-nvcc-cu12"
REFUSALS = {
    "launchoutofresources": "give a smaller workgroup=: its work-items need more registers than there are",
    "invalidimage": "the code was made for another GPU: see pk.device(...).info.target",
    "nobinaryforgpu": "the code was made for another GPU: see pk.device(...).info.target",
    "invalidptx": "NVIDIA's driver is too old for this PTX: install a newer one, or ptxas ({ptxas})",
    "unsupportedptxversion": "NVIDIA's driver is too old: install a newer one, or ptxas ({ptxas})",
}
"""What to do about launches and code that are not taken; ``{ptxas}`` is how ptxas is installed."""


def check(calls: Calls, result: Any, what: str, kernels: Names = list) -> Any:
    """What a call gives besides its code: nothing, a value, or several. Raises `DeviceError`."""
    code, *values = result
    if int(code) != 0:
        raise failure(calls, code, what, kernels)
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def failure(calls: Calls, code: Any, what: str, kernels: Names = list) -> DeviceError:
    """The error for a result code: its name, and what the API says about it; `kernels` may have caused it."""
    _, told = calls.error_text(code)
    text = told.decode() if isinstance(told, bytes) else str(told)
    kind = OutOfMemory if code.name == calls.out_of_memory else DeviceError
    known = code.name.removeprefix("CUDA_ERROR_").removeprefix("hipError").replace("_", "").lower()
    hint = REFUSALS[known].format(ptxas=install_extra("cuda", PTXAS)) if known in REFUSALS else None
    fault = FAULTS.get(known, "")
    if fault:
        names = ", ".join(f"`{name}`" for name in kernels())
        fault = f": {fault}" + (f" (launched here: {names})" if names else "")
        hint = LOST
    return kind(f"{calls.api}: {what}: {code.name}: {text}{fault}", hint=hint)
