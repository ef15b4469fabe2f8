"""What kernels are compiled for: names, dtypes and limits, from the tables that lowering itself uses."""

from __future__ import annotations

from collections.abc import Iterator

from extensions.markdown import table
from pykern.data.target import parse
from pykern.types import STORAGE, STRONG

HEAD = (
    "target",
    "code",
    "dtypes",
    "subgroup",
    "work-items a group",
    "shared memory a group",
    "added in one instruction",
)


def page() -> str:
    return "\n\n".join(
        (
            "## Chips",
            table(HEAD, [_cpu(), *_nvidia(), *_amd()]),
            "Other types are added atomically by a loop of compare and exchange.",
            "## OpenCL and Vulkan",
            "Limits and types are those of the device: `pk.device(name).info` has them.",
            table(("target", "code"), _spirv()),
            "## Source in another language",
            "A guide tells how it is launched: [Kernels in other languages](../guides/other-languages.md).",
            table(("target", "language"), _languages()),
            "## To look at",
            table(("target", ""), [("`linalg`", "the raised form; nothing runs there")]),
        )
    )


def _cpu() -> tuple[str, ...]:
    from pykern.passes.kernel.expand_ndrange import ExpandNdrange

    every = _dtypes(tuple(d.name for d in (*STRONG, *STORAGE)))
    subgroup = str(ExpandNdrange().subgroup_size)
    return "`llvm`", "shared object for this CPU", every, subgroup, "no limit", "no limit", "what the CPU has"


def _nvidia() -> Iterator[tuple[str, ...]]:
    from pykern.lowering.nvvm import chips

    for chip in chips.CHIPS.values():
        yield (
            f"`nvvm:{chip.name}`",
            f"PTX {chip.ptx // 10}.{chip.ptx % 10}, cubin",
            _dtypes(chip.dtypes),
            str(chip.subgroup_size),
            str(chips.MAX_GROUP),
            f"{chip.shared >> 10} KiB, {chips.STATIC_SHARED >> 10} static",
            ", ".join(chip.float_atomics),
        )


def _amd() -> Iterator[tuple[str, ...]]:
    from pykern.lowering.rocdl import chips

    for chip in chips.CHIPS.values():
        yield (
            f"`rocdl:{chip.name}`",
            "code object",
            _dtypes(chip.dtypes),
            str(chip.subgroup_size),
            str(chips.MAX_GROUP),
            f"{chip.shared >> 10} KiB",
            ", ".join(chip.float_atomics),
        )


def _spirv() -> Iterator[tuple[str, ...]]:
    from pykern.lowering.spirv import flavour

    for api, versions in (("opencl", flavour.OPENCL_VERSIONS), ("vulkan", flavour.VULKAN_VERSIONS)):
        for version in versions:
            name = f"spirv:{api}{version}"
            yield f"`{name}`", f"SPIR-V {flavour.flavour(parse(name)).spirv.removeprefix('v')}"


def _languages() -> Iterator[tuple[str, ...]]:
    from pykern.lowering.source.options import SourceOptions
    from pykern.lowering.source.target import LANGUAGES

    for name, language in LANGUAGES.items():
        yield f"`{name}`", language(SourceOptions()).name


def _dtypes(names: tuple[str, ...]) -> str:
    every = tuple(d.name for d in (*STRONG, *STORAGE))
    return "all" if set(names) == set(every) else ", ".join(names)
