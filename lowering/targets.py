"""Every target by its name: what people call them elsewhere, the chip of a family, and names that there are not.

Comes in: a name such as ``cuda``, ``nvvm``, ``rocm:gfx942``, ``vulkan``. Goes out: pykern's own, as ``nvvm:sm_90a``,
or `TargetError` before anything is compiled. Loads no MLIR: it is asked in the user's process.
"""

from __future__ import annotations

from difflib import get_close_matches

from pykern.errors import TargetError
from pykern.lowering.llvm import machines
from pykern.lowering.nvvm import options as nvvm
from pykern.lowering.rocdl import options as rocdl
from pykern.lowering.source import options as source
from pykern.lowering.spirv import flavour as spirv

LINALG = "linalg"
"""The target that is the raised form itself: nothing runs there, it is read."""
DEFAULTS = {
    "nvvm": "nvvm:sm_90a",
    "rocdl": "rocdl:gfx942",
    "spirv": "spirv:vulkan1.1",
    "vulkan": "spirv:vulkan1.1",
    "opencl": "spirv:opencl1.2",
    **{language: f"source:{language}" for language in source.LANGUAGES},
}
"""What a family without a chip means."""
SYNONYMS = {
    "cpu": "llvm", "cuda": "nvvm", "nvidia": "nvvm", "ptx": "nvvm", "rocm": "rocdl", "hip": "rocdl", "amd": "rocdl",
    "amdgpu": "rocdl", "metal": "msl", "webgpu": "wgsl", "cuda-c": "cuda-cpp", "hip-c": "hip-cpp",
}  # fmt: skip
DEVICE_TARGETS = {
    "spirv": "pykern.lowering.spirv.target",
    "nvvm": "pykern.lowering.nvvm.target",
    "rocdl": "pykern.lowering.rocdl.target",
    "source": "pykern.lowering.source.target",
}
"""Families of GPU-like targets and the modules that lower to them, imported when first asked for."""
_PARSERS = {
    "llvm": machines.host_of,
    "nvvm": nvvm.parse,
    "rocdl": rocdl.parse,
    "spirv": spirv.flavour,
    "source": source.parse,
}


def checked(target: object) -> str:
    """The target by pykern's own name. Raises `TargetError` for one that there is not."""
    name = resolved(target) if isinstance(target, str) else ""
    if name.partition("+")[0] not in names():
        raise TargetError(f"no target `{target}`", hint=_instead(str(target)))
    if name != LINALG:
        _PARSERS[name.partition(":")[0]](name)  # refuses options that there are not
    return name


def resolved(target: str) -> str:
    """A word of elsewhere as pykern's own, and a chip for a family alone; what is not known stays as it is."""
    word, colon, chip = target.partition(":")
    family = SYNONYMS.get(word, word)
    return f"{family}:{chip}" if colon else DEFAULTS.get(family, family)


def names() -> list[str]:
    """Every target, without options."""
    return [
        "llvm",
        LINALG,
        *(f"llvm:{name}" for name in machines.ELSEWHERE),
        *(f"nvvm:{name}" for name in nvvm.CHIPS),
        *(f"rocdl:{name}" for name in rocdl.CHIPS),
        *spirv.names(),
        *(f"source:{name}" for name in source.LANGUAGES),
    ]


def _instead(target: str) -> str:
    """What to write: names that are like it; all of its family, where only the chip is wrong."""
    word, colon, chip = target.partition(":")
    family = SYNONYMS.get(word, word)
    if chip.isdecimal():
        return f"this names a device: a target is what code is made for, as in {resolved(family)}"
    of_family = [name for name in names() if name.startswith(f"{family}:")]
    known = of_family or [*names(), *DEFAULTS, *SYNONYMS]
    chips = [name for name in names() if name.partition(":")[2].startswith(target.lower())]
    if chips and len(target) > 2:
        return f"did you mean {' or '.join(chips[:3])}?"
    near = get_close_matches(f"{family}{colon}{chip}", known, 3, 0.6 if of_family else 0.7)
    listed = f"there are {', '.join(of_family)}" if of_family else ""
    if near:
        return f"did you mean {' or '.join(near)}?{listed and f' For {family} {listed}'}"
    if listed:
        return listed
    return f"there are {', '.join(('llvm', *DEFAULTS, 'cuda', 'rocm', LINALG))}"
