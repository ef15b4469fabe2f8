"""What all GPU-like targets share: work-items, guards, collectives, reports, flat memory, `gpu.func`.

Comes in: a kernel on the kern stage, one work-item each. Goes out: a `gpu.module` with one `gpu.func`
whose arguments are those of `pykern.data.abi`, "Device code". Read next: `pipeline`.
"""
