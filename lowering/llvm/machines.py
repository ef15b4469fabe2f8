"""Processors that code is made for: this one, and others to be looked at, as ``llvm:aarch64``.

Comes in: a target's name. Goes out: what LLVM calls the machine, and its name in `pykern.environment.machine`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.data.target import Target
from pykern.errors import TargetError


@dataclass(frozen=True)
class Host:
    """A machine to make code for; empty fields are the machine this runs on."""

    triple: str = ""
    cpu: str = ""
    features: str = ""


HERE = Host()
ELSEWHERE = {
    "aarch64": (Host("aarch64-unknown-linux-gnu", "generic", "+neon"), "neon"),
    "x86-64-v2": (Host("x86_64-unknown-linux-gnu", "x86-64-v2", "+sse4.2"), "sse2"),
    "x86-64-v3": (Host("x86_64-unknown-linux-gnu", "x86-64-v3", "+avx2"), "avx2"),
    "x86-64-v4": (Host("x86_64-unknown-linux-gnu", "x86-64-v4", "+avx512f"), "avx512"),
    "neoverse-v1": (
        Host("aarch64-unknown-linux-gnu", "neoverse-v1", "+neon"),
        "neon+i8-dot+mixed-dot+bf16-dot",
    ),
    "sapphirerapids": (
        Host("x86_64-unknown-linux-gnu", "sapphirerapids", "+avx512bf16"),
        "avx512+bf16-dot+i16-dot",
    ),
}
"""Processors that code is made for, to be looked at, as ``llvm:aarch64``; and their names in
`pykern.environment.machine`."""


def host_of(target: Target) -> tuple[Host, str]:
    """The machine of a target, and its name for schedules: both empty for this one, ``llvm``."""
    if not target.chip and not target.added:
        return HERE, ""
    if target.chip not in ELSEWHERE or target.added:
        raise TargetError(f"no target `{target}`", hint=f"after `llvm:` there are {', '.join(ELSEWHERE)}")
    return ELSEWHERE[target.chip]
