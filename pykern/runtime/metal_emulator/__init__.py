"""Metal without a Mac: `metal:emulated` runs the text that is made for Apple's GPUs on the host, compiled as C++.

Goes out: `RUNTIME`, which the registry finds. Everything above the framework's classes is what runs on a Mac: the
text, the driver (`pykern.runtime.drivers.metal`), streams, events. Read next: `framework` (the classes), `compile`
(the text), `metal_stdlib.h` (what stands for Metal's standard library).
"""

from __future__ import annotations

import contextlib

from pykern.runtime.driver import DeviceInfo, Missing
from pykern.runtime.drivers.metal import MetalRuntime
from pykern.runtime.drivers.metal.framework import Framework


class EmulatedRuntime(MetalRuntime):
    """`pykern.runtime.driver.Runtime` for the emulated Metal."""

    name = "metal:emulated"

    def devices(self) -> list[DeviceInfo] | Missing:
        from pykern.runtime.metal_emulator import compile

        if not compile.SUPPORTED:
            return Missing(self.name, "it runs on Linux, on processors of x86-64 and arm64 alone", "")
        if compile.compiler() is None:
            return Missing(
                self.name,
                "there is no compiler of C++",
                "g++ or clang++, or one that pip brings: pip install ziglang",
            )
        return super().devices()

    def framework(self) -> Framework:
        from pykern.runtime.metal_emulator import framework

        return Framework(framework, contextlib.nullcontext, (ValueError,))


RUNTIME = EmulatedRuntime()
