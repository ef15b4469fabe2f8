"""What kernels are compiled for: names, dtypes and limits, from the tables that lowering itself uses."""

from __future__ import annotations

from extensions.markdown import table
from pykern.types import STORAGE, STRONG

HEAD = (
    "target",
    "code",
    "dtypes",
    "subgroup",
    "work-items a group",
    "shared memory a group",
    "added atomically in hardware",
)


def page() -> str:
    from pykern.lowering.nvvm import chips as nvidia
    from pykern.lowering.rocdl import chips as amd
    from pykern.lowering.spirv import flavour

    every = _dtypes(tuple(d.name for d in (*STRONG, *STORAGE)))
    rows = [
        ("`llvm`", "shared object for this CPU", every, "chosen: 8", "1024", "as much as there is", "all")
    ]
    for chip in nvidia.CHIPS.values():
        rows.append(
            (
                f"`nvvm:{chip.name}`",
                f"PTX {chip.ptx // 10}.{chip.ptx % 10}, cubin",
                _dtypes(chip.dtypes),
                str(chip.subgroup_size),
                str(nvidia.MAX_GROUP),
                f"{chip.shared >> 10} KiB, {nvidia.STATIC_SHARED >> 10} static",
                ", ".join(chip.float_atomics),
            )
        )
    for chip in amd.CHIPS.values():
        rows.append(
            (
                f"`rocdl:{chip.name}`",
                "code object",
                _dtypes(chip.dtypes),
                str(chip.subgroup_size),
                str(amd.MAX_GROUP),
                f"{chip.shared >> 10} KiB",
                ", ".join(chip.float_atomics),
            )
        )
    for api, versions in (("opencl", flavour.OPENCL_VERSIONS), ("vulkan", flavour.VULKAN_VERSIONS)):
        for version in versions:
            name = f"spirv:{api}{version}"
            binary = flavour.flavour(name).spirv.removeprefix("v")
            of_device = "the device's"
            rows.append((f"`{name}`", f"SPIR-V {binary}", "the device's", *(of_device,) * 4))
    rows.append(("`linalg`", "none: the raised form, to look at", every, "", "", "", ""))
    return table(HEAD, rows)


def _dtypes(names: tuple[str, ...]) -> str:
    every = tuple(d.name for d in (*STRONG, *STORAGE))
    return "all" if set(names) == set(every) else ", ".join(names)
