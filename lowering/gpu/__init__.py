"""What the targets for devices share: the passes for work-items, guards, collectives, tapes, reports and memory.

Comes in: a kernel on the kern stage, written for one work-item. Goes out: passes with which `nvvm`, `rocdl` and `spirv`
make code whose arguments are those of `pykern.data.abi`, "Device code". Read next: `pipeline`. `program` makes kernels
of array programs; `host_entry` is the compiled entry of a launch on a device.
"""
