"""What a kernel can be exported as: the target that makes it, and how its file ends."""

from __future__ import annotations

from dataclasses import dataclass

from pykern.errors import LaunchError


@dataclass(frozen=True)
class Form:
    """A form: `target` makes it, files end in `ending`; `chips` is the family of targets that may take its place, or
    the one target that may, with options of its own."""

    target: str
    ending: str
    chips: str = ""


FORMS = {
    "c": Form("source:c", "c"),
    "opencl-c": Form("source:opencl-c", "cl"),
    "cuda": Form("source:cuda-cpp", "cu"),
    "hip": Form("source:hip-cpp", "hip"),
    "msl": Form("source:msl+simd", "metal", "source:msl"),
    "wgsl": Form("source:wgsl", "wgsl"),
    "ptx": Form("nvvm:sm_80", "ptx", "nvvm"),
    "hsaco": Form("rocdl:gfx942", "hsaco", "rocdl"),
    "spirv": Form("spirv:vulkan1.1", "spv", "spirv"),
    "object": Form("llvm", "o", "llvm"),
    "html": Form("source:wgsl", "html"),
}
"""By the names that ``--as`` takes."""


def form_of(name: str) -> Form:
    """The form of this name. Raises `LaunchError` where there is none."""
    if name not in FORMS:
        raise LaunchError(f"nothing is exported as {name!r}", hint=f"there are {', '.join(FORMS)}")
    return FORMS[name]
