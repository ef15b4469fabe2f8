"""Which SPIR-V: the environment of a target, named ``spirv:opencl1.2`` … ``spirv:vulkan1.3+lavapipe+small``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pykern.data.target import Target
from pykern.errors import TargetError

_OPENCL = ("Kernel", "Addresses", "Linkage", "Int64", "Int16", "Int8", "Float16", "Float16Buffer", "Float64",
           "GenericPointer", "Int64Atomics")  # fmt: skip
_VULKAN = ("Shader", "Int64", "Int16", "Int8", "Float16", "Float64", "StorageBuffer16BitAccess",
           "StorageUniform16", "StorageBuffer8BitAccess", "UniformAndStorageBuffer8BitAccess",
           "Int64Atomics")  # fmt: skip
_VULKAN_EXTENSIONS = ("SPV_KHR_storage_buffer_storage_class", "SPV_KHR_16bit_storage", "SPV_KHR_8bit_storage")
OPENCL_VERSIONS = ("1.2", "2.0", "2.1", "2.2", "3.0")
VULKAN_VERSIONS = ("1.1", "1.2", "1.3")


@dataclass(frozen=True)
class Flavour:
    """One environment. `space` is the storage class of arrays; `spirv` the version of the binary.

    `lavapipe`: the driver is Mesa's for processors, with limits that it does not tell. `small`: every element's
    position in its memory fits in 32 bits. `whole`: a launch is one grid along y and z. `alike`: dense arrays of a
    rank have the same lengths.
    """

    api: str
    version: str
    lavapipe: bool = False
    small: bool = False
    whole: bool = False
    alike: bool = False

    @property
    def vulkan(self) -> bool:
        return self.api == "vulkan"

    @property
    def space(self) -> str:
        return "StorageBuffer" if self.vulkan else "CrossWorkgroup"

    @property
    def spirv(self) -> str:
        """The SPIR-V version: what the oldest driver of the environment takes."""
        if self.vulkan:
            return {"1.1": "v1.3", "1.2": "v1.5", "1.3": "v1.6"}[self.version]
        return "v1.0" if self.version in ("1.2", "2.0") else "v1.2"

    @property
    def environment(self) -> str:
        """The `spirv.target_env` attribute."""
        capabilities = ", ".join(_VULKAN if self.vulkan else _OPENCL)
        extensions = ", ".join(_VULKAN_EXTENSIONS) if self.vulkan else ""
        api = "Vulkan" if self.vulkan else "OpenCL"
        return (
            f"#spirv.target_env<#spirv.vce<{self.spirv}, [{capabilities}], [{extensions}]>, "
            f"api={api}, #spirv.resource_limits<>>"
        )


def flavour(target: Target) -> Flavour:
    """That of ``spirv:opencl2.0`` and the like; without a version, one that every driver has."""
    found = re.fullmatch(r"(opencl|vulkan)(\d\.\d)?", target.chip)
    versions = {"opencl": OPENCL_VERSIONS, "vulkan": VULKAN_VERSIONS}
    if found is not None and {*target.added} <= {"lavapipe", "small", "whole", "alike"}:
        api, version = found.group(1), found.group(2) or ("1.2" if found.group(1) == "opencl" else "1.1")
        if version in versions[api]:
            return Flavour(
                api, version, "lavapipe" in target.options, target.small, target.whole, target.alike
            )
    raise TargetError(f"no target `{target}`", hint=f"there are {', '.join(names())}")


def names() -> list[str]:
    """Every environment, without options; one without a version is one that every driver has."""
    versions = {"opencl": OPENCL_VERSIONS, "vulkan": VULKAN_VERSIONS}
    return [f"spirv:{api}{version}" for api, numbers in versions.items() for version in ("", *numbers)]
