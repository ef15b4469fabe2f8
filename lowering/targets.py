"""Every target by its name: what people call them elsewhere, the chip of a family, and names that there are not.

Comes in: a name such as ``cuda``, ``nvvm``, ``rocm:gfx942``, ``vulkan``. Goes out: pykern's own, as ``nvvm:sm_90a``,
or `TargetError` before anything is compiled. Loads no MLIR: it is asked in the user's process.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from pykern.data.target import CPU, LINALG, Target, parse
from pykern.errors import TargetError
from pykern.lowering.llvm import machines
from pykern.lowering.nvvm import options as nvvm
from pykern.lowering.rocdl import options as rocdl
from pykern.lowering.source import options as source
from pykern.lowering.spirv import flavour as spirv
from pykern.lowering.xp import options as xp

DEFAULTS = {
    "nvvm": "nvvm:sm_90a",
    "rocdl": "rocdl:gfx942",
    "spirv": "spirv:vulkan1.1",
    "vulkan": "spirv:vulkan1.1",
    "opencl": "spirv:opencl1.2",
    **{language: f"source:{language}" for language in source.LANGUAGES},
    "xp": "xp:jnp",
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
_OPTIONS = {
    "llvm": machines.host_of,
    "nvvm": nvvm.options_of,
    "rocdl": rocdl.options_of,
    "spirv": spirv.flavour,
    "source": source.options_of,
    "xp": xp.options_of,
}


def matrix_unit(target: Target) -> str:
    """The unit of a target that multiplies small matrices; empty where there is none."""
    if target.family == "source":
        return source.matrix_unit(target)
    families = {"nvvm": nvvm.options_of, "rocdl": rocdl.options_of}
    return families[target.family](target)[0].matrix_unit if target.family in families else ""


def warpgroup_unit(target: Target) -> str:
    """The instruction that four subgroups multiply matrices with on a target; empty where there is none."""
    return nvvm.options_of(target)[0].warpgroup_unit if target.family == "nvvm" else ""


def has_doubles(target: Target) -> bool:
    """Whether kernels for a target may compute with floats of 64 bits; else these are numbers of a launch alone."""
    if target.family != "source":
        return True
    language, options = source.options_of(target)
    rounds_bits = language == "msl" or (language == "wgsl" and options.i64)  # by kern-narrow-words
    return not options.words or not rounds_bits or options.f64


def checked(given: object) -> Target:
    """The target of a name, or the target itself. Raises `TargetError` for one that there is not."""
    target = given if isinstance(given, Target) else resolved(parse(str(given)))
    if target.name not in names():
        raise TargetError(f"no target `{given}`", hint=_instead(parse(str(given))))
    if target.family in _OPTIONS:
        _OPTIONS[target.family](target)  # refuses options that there are not
    return target


def resolved(target: Target) -> Target:
    """A word of elsewhere as pykern's own, and a chip for a family alone; what is not known stays as it is."""
    family = SYNONYMS.get(target.family, target.family)
    if target.chip or target.added or family not in DEFAULTS:
        return replace(target, family=family)
    return parse(DEFAULTS[family])


def names() -> list[str]:
    """Every target, without options."""
    return [
        CPU.name,
        LINALG.name,
        *(f"llvm:{name}" for name in machines.ELSEWHERE),
        *(f"nvvm:{name}" for name in nvvm.CHIPS),
        *(f"rocdl:{name}" for name in rocdl.CHIPS),
        *spirv.names(),
        *(f"source:{name}" for name in source.LANGUAGES),
        *(f"xp:{name}" for name in xp.LIBRARIES),
    ]


def _instead(given: Target) -> str:
    """What to write: names that are like it; all of its family, where only the chip is wrong."""
    family = SYNONYMS.get(given.family, given.family)
    if given.chip.isdecimal():
        return f"this names a device: a target is what code is made for, as in {resolved(Target(family))}"
    of_family = [name for name in names() if name.startswith(f"{family}:")]
    known = of_family or [*names(), *DEFAULTS, *SYNONYMS]
    chips = [name for name in names() if parse(name).chip.startswith(str(given).lower())]
    if chips and len(str(given)) > 2:
        return f"did you mean {' or '.join(chips[:3])}?"
    near = get_close_matches(str(replace(given, family=family)), known, 3, 0.6 if of_family else 0.7)
    listed = f"there are {', '.join(of_family)}" if of_family else ""
    if near:
        return f"did you mean {' or '.join(near)}?{listed and f' For {family} {listed}'}"
    if listed:
        return listed
    return f"there are {', '.join((CPU.name, *DEFAULTS, 'cuda', 'rocm', LINALG.name))}"
