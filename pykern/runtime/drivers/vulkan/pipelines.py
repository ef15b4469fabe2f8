"""Kernels on a device: checking their code, making pipelines of it, and binding their arguments.

Comes in: an `Artifact` with SPIR-V, later the memory and slots of a launch. Goes out: `Code`, and commands
put into a batch. Set 0 has every memory argument in order as bindings 0 to m - 1, and as binding m one
buffer with all slots in order. That last one is bound with a dynamic offset, so that a set made for some
memory serves all later launches with it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pykern.data.artifact import Artifact, DeviceCode
from pykern.data.target import parse
from pykern.errors import DeviceError
from pykern.runtime.driver import Memory
from pykern.runtime.drivers.vulkan import spirv
from pykern.runtime.drivers.vulkan.api import NULL, check, created, ffi, lib, struct, vk

if TYPE_CHECKING:
    from pykern.runtime.drivers.vulkan.device import Device, Physical
    from pykern.runtime.drivers.vulkan.memory import Part
    from pykern.runtime.drivers.vulkan.stream import Batch, Stream

SETS = 64
"""Descriptor sets of a kernel before old ones are used again."""

_COMPUTE = vk.VK_PIPELINE_BIND_POINT_COMPUTE
_STAGE = vk.VK_SHADER_STAGE_COMPUTE_BIT
_BUFFER = vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
_MOVING = vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC


@dataclass(eq=False)
class BoundSet:
    """A descriptor set, and the last batch that uses it."""

    handle: Any
    batch: Batch
    pointer: Any


@dataclass(eq=False)
class Code:
    """A kernel loaded on a device. `local_size` is () where the code does not tell."""

    name: str
    arguments: tuple[str, ...]
    memories: int
    slots: int
    local_size: tuple[int, ...]
    handles: Handles
    sets: OrderedDict[tuple[int, ...], BoundSet] = field(default_factory=OrderedDict)
    spare: list[Any] = field(default_factory=list)
    fitting: set[Any] = field(default_factory=set)
    """Grids, groups and shared bytes that were found right."""


@dataclass(eq=False)
class Handles:
    """What a kernel holds of the device."""

    device: Any
    set_layout: Any
    layout: Any
    pipeline: Any
    pools: list[Any] = field(default_factory=list)

    def destroy(self) -> None:
        for pool in self.pools:
            lib.vkDestroyDescriptorPool(self.device, pool, NULL)
        lib.vkDestroyPipeline(self.device, self.pipeline, NULL)
        lib.vkDestroyPipelineLayout(self.device, self.layout, NULL)
        lib.vkDestroyDescriptorSetLayout(self.device, self.set_layout, NULL)


class Pipelines:
    def __init__(self, device: Device) -> None:
        self._device = device
        info = struct("VkPipelineCacheCreateInfo")
        what = "making a pipeline cache"
        self._cache = created(lib.vkCreatePipelineCache, what, device.handle, info, kind="VkPipelineCache")

    def load(self, artifact: Artifact) -> Code:
        """Raises `DeviceError` for code that this device cannot run."""
        device = artifact.device
        if device is None or device.format != "spirv":
            made = f"{device.format} code" if device else "a shared object"
            raise DeviceError(f"{artifact.kernel}: Vulkan runs SPIR-V, this is {made} for {artifact.target}")
        module = spirv.read(artifact.binary)
        memories = device.arguments.count("memory")
        local_size = check_code(self._device.physical, artifact, device, module, memories)
        slots = len(device.arguments) - memories
        what = f"loading {artifact.kernel}"
        set_layout = self._set_layout(what, memories)
        handles = Handles(self._device.handle, set_layout, *self._pipeline(what, artifact, set_layout))
        return Code(artifact.kernel, device.arguments, memories, slots, local_size, handles)

    def record(
        self,
        stream: Stream,
        batch: Batch,
        code: Code,
        arguments: list[Memory | int],
        grid: tuple[int, int, int],
    ) -> None:
        """The commands of one launch."""
        parts: list[Part] = [one.handle for one in arguments if isinstance(one, Memory)]
        slots = [one for one in arguments if not isinstance(one, Memory)]
        offset = stream.slots.write(stream, batch, slots)
        bound = self._bound(code, parts, stream.slots.part, batch)
        for part in parts:
            part.used_by(batch)
        commands, handles = batch.commands, code.handles
        lib.vkCmdBindPipeline(commands, _COMPUTE, handles.pipeline)
        stream.offset[0] = offset
        lib.vkCmdBindDescriptorSets(commands, _COMPUTE, handles.layout, 0, 1, bound.pointer, 1, stream.offset)
        lib.vkCmdDispatch(commands, *grid)
        batch.keep.append(code)

    def _bound(self, code: Code, parts: list[Part], ring: Part, batch: Batch) -> BoundSet:
        """A set with this memory: one there is, or one whose work is done, or a new one."""
        key = (ring.serial, *[part.serial for part in parts])
        bound = code.sets.get(key)
        if bound is not None:
            code.sets.move_to_end(key)
            bound.batch = batch
            return bound
        if not code.spare and len(code.sets) >= SETS:
            oldest, old = next(iter(code.sets.items()))
            if old.batch.done:
                del code.sets[oldest]
                code.spare.append(old.handle)
        if not code.spare:
            code.spare = self._new_sets(code)
        handle = code.spare.pop()
        bound = code.sets[key] = BoundSet(handle, batch, ffi.new("VkDescriptorSet*", handle))
        self._write_set(code, bound.handle, parts, ring)
        return bound

    def _write_set(self, code: Code, handle: Any, parts: list[Part], ring: Part) -> None:
        most = self._device.physical.max_range
        count = len(parts) + 1
        buffers = ffi.new("VkDescriptorBufferInfo[]", count)
        writes = ffi.new("VkWriteDescriptorSet[]", count)
        for binding, part in enumerate([*parts, ring]):
            last = binding == len(parts)
            buffers[binding].buffer = part.block.buffer
            buffers[binding].offset = part.offset
            buffers[binding].range = max(8 * code.slots, 16) if last else min(part.size, most)
            write = writes[binding]
            write.sType = vk.VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET
            write.dstSet = handle
            write.dstBinding = binding
            write.descriptorCount = 1
            write.descriptorType = _MOVING if last else _BUFFER
            write.pBufferInfo = buffers + binding
        lib.vkUpdateDescriptorSets(self._device.handle, count, writes, 0, NULL)

    def _new_sets(self, code: Code) -> list[Any]:
        what = f"making descriptor sets for {code.name}"
        sizes = [(_MOVING, SETS)] + ([(_BUFFER, SETS * code.memories)] if code.memories else [])
        info = struct(
            "VkDescriptorPoolCreateInfo",
            maxSets=SETS,
            poolSizeCount=len(sizes),
            pPoolSizes=ffi.new("VkDescriptorPoolSize[]", sizes),
        )
        device = self._device.handle
        pool = created(lib.vkCreateDescriptorPool, what, device, info, kind="VkDescriptorPool")
        code.handles.pools.append(pool)
        sets = ffi.new("VkDescriptorSet[]", SETS)
        request = struct(
            "VkDescriptorSetAllocateInfo",
            descriptorPool=pool,
            descriptorSetCount=SETS,
            pSetLayouts=ffi.new("VkDescriptorSetLayout[]", [code.handles.set_layout] * SETS),
        )
        check(lib.vkAllocateDescriptorSets(device, request, sets), what)
        return list(sets)

    def _set_layout(self, what: str, memories: int) -> Any:
        bindings = ffi.new("VkDescriptorSetLayoutBinding[]", memories + 1)
        for number in range(memories + 1):
            bindings[number].binding = number
            bindings[number].descriptorType = _MOVING if number == memories else _BUFFER
            bindings[number].descriptorCount = 1
            bindings[number].stageFlags = _STAGE
        info = struct("VkDescriptorSetLayoutCreateInfo", bindingCount=memories + 1, pBindings=bindings)
        device = self._device.handle
        return created(lib.vkCreateDescriptorSetLayout, what, device, info, kind="VkDescriptorSetLayout")

    def _pipeline(self, what: str, artifact: Artifact, set_layout: Any) -> tuple[Any, Any]:
        device = self._device.handle
        sets = ffi.new("VkDescriptorSetLayout*", set_layout)
        info = struct("VkPipelineLayoutCreateInfo", setLayoutCount=1, pSetLayouts=sets)
        layout = created(lib.vkCreatePipelineLayout, what, device, info, kind="VkPipelineLayout")
        code = ffi.new("uint32_t[]", len(artifact.binary) // 4)
        ffi.memmove(code, artifact.binary, len(artifact.binary))
        info = struct("VkShaderModuleCreateInfo", codeSize=len(artifact.binary), pCode=code)
        module = created(lib.vkCreateShaderModule, what, device, info, kind="VkShaderModule")
        entry = ffi.new("char[]", artifact.entry.encode())
        stage = struct("VkPipelineShaderStageCreateInfo", stage=_STAGE, module=module, pName=entry)
        info = struct("VkComputePipelineCreateInfo", stage=stage[0], layout=layout, basePipelineIndex=-1)
        handle = ffi.new("VkPipeline*")
        result = lib.vkCreateComputePipelines(device, self._cache, 1, info, NULL, handle)
        lib.vkDestroyShaderModule(device, module, NULL)
        check(result, what)
        return layout, handle[0]


def check_code(
    physical: Physical, artifact: Artifact, device: DeviceCode, module: spirv.Module, memories: int
) -> tuple[int, ...]:
    """What Vulkan takes for granted. Gives back the size of a group, as far as it is known."""
    info, name = physical.info, artifact.kernel
    lacking = sorted(module.capabilities - physical.features.capabilities.keys())
    if lacking:
        wanted = ", ".join(spirv.capability_name(number) for number in lacking)
        raise DeviceError(f"{name}: its SPIR-V needs {wanted}, which {info.name} lacks")
    newest = (1, 6) if parse(info.target).chip == "vulkan1.3" else (1, 5)
    if module.version > newest:
        raise DeviceError(f"{name}: SPIR-V {module.version} is too new for {info.target}: {newest} at most")
    if artifact.entry not in module.entries:
        raise DeviceError(f"{name}: its SPIR-V has no entry {artifact.entry!r}, only {module.entries}")
    if not module.sets <= {0} or not module.bindings <= set(range(memories + 1)):
        raise DeviceError(
            f"{name}: its SPIR-V binds {sorted(module.bindings)} of sets {sorted(module.sets)}; "
            f"{memories} memory arguments and the slots are bindings 0 to {memories} of set 0"
        )
    if memories > physical.max_buffers:
        raise DeviceError(
            f"{name} takes {memories} pieces of memory; {info.name} binds at most {physical.max_buffers}"
        )
    if device.shared_bytes > info.shared_bytes:
        raise DeviceError(
            f"{name} takes {device.shared_bytes} bytes of shared memory; {info.name} has {info.shared_bytes}"
        )
    size = module.local_sizes.get(artifact.entry, ())
    count = size[0] * size[1] * size[2] if size else 0
    if count > info.max_group or any(a > b for a, b in zip(size, info.max_group_sizes, strict=False)):
        raise DeviceError(
            f"{name}: its groups are {size}; {info.name} takes at most {info.max_group} work-items, "
            f"along the axes {info.max_group_sizes}"
        )
    return size
