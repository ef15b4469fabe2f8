"""What pykern calls the names of CUDA, Triton, Numba, Warp, Taichi and OpenCL.

Comes in: a name as it was written, ``cuda.threadIdx.x`` or ``program_id``. Goes out: what to write here.
"""

from __future__ import annotations

INDEX = "write i = pk.index(): each work-item has its own index, and i, j = pk.index() over two dimensions"
GROUP = (
    "write i = pk.index(), which is group * size + place in the group; pk.group_index() is the group alone"
)
_CALLED = {
    **dict.fromkeys(
        ("tid", "thread_id", "grid", "get_global_id", "global_id", "threadId", "thread_idx"), INDEX
    ),
    **dict.fromkeys(("program_id", "blockIdx", "block_idx", "get_group_id", "block_id"), GROUP),
    **dict.fromkeys(
        ("threadIdx", "get_local_id", "local_id"), "write pk.local_index(): the place in its group"
    ),
    **dict.fromkeys(("blockDim", "block_dim", "get_local_size"), "write pk.group_size()"),
    **dict.fromkeys(("gridDim", "num_programs", "get_num_groups"), "write pk.num_groups()"),
    **dict.fromkeys(("gridsize", "get_global_size"), "write pk.ndrange()"),
    **dict.fromkeys(("laneid", "lane_id"), "write pk.lane_index()"),
    **dict.fromkeys(("warpsize", "warp_size"), "write pk.subgroup_size()"),
    **dict.fromkeys(
        (
            "syncthreads",
            "sync_threads",
            "__syncthreads",
            "sync",
            "debug_barrier",
            "workgroup_barrier",
            "syncwarp",
        ),
        "write pk.barrier()",
    ),
    "load": "write x[i]: arrays are indexed, and there is no mask: test with `if`",
    "store": "write x[i] = value: arrays are indexed, and there is no mask: test with `if`",
    **dict.fromkeys(("shared_array", "SharedArray"), "write pk.shared(shape, dtype)"),
    **dict.fromkeys(("local_array", "zeros_like_private"), "write pk.private(shape, dtype)"),
    "constexpr": "annotate the parameter: n: pk.static",
    **dict.fromkeys(("static_range", "ndrange_static"), "write pk.unroll(range(n))"),
    **dict.fromkeys(("device_print", "static_print", "printf"), "write pk.print('x =', x)"),
    **dict.fromkeys(("device_assert", "static_assert"), "write assert condition, 'message'"),
    "prange": "write i = pk.index(), and launch with ndrange=n: the index space is what runs in parallel",
    **dict.fromkeys(("shfl_sync", "shfl", "shfl_xor_sync"), "write pk.subgroup_shuffle(value, lane)"),
    **dict.fromkeys(("fori_loop", "while_loop", "scan"), "write a loop: for k in range(n)"),
    "cond": "write if and else",
    "vmap": "a kernel runs for each index already: write i = pk.index(); programs write the axis, as in x.sum(axis=1)",
}
_ATOMICS = {"add": "atomic_add", "sub": "atomic_sub", "max": "atomic_max", "min": "atomic_min",
            "exch": "atomic_exchange", "cas": "atomic_compare_exchange"}  # fmt: skip
LAUNCH = {
    **dict.fromkeys(
        ("grid", "dim", "size", "global_size", "n", "num_blocks", "gridDim", "inputs"), "ndrange"
    ),
    **dict.fromkeys(
        (
            "block",
            "block_dim",
            "block_size",
            "threads",
            "threads_per_block",
            "local_size",
            "num_warps",
            "blockDim",
        ),
        "workgroup",
    ),
    **dict.fromkeys(("shared_mem", "smem", "shared"), "shared_bytes"),
}
"""Keywords of other launches, and what they are here."""


def instead_of_elsewhere(path: str) -> str | None:
    """What to write for a dotted name of another language, by the parts that mean something; None for others."""
    parts = path.split(".")
    if "atomic" in parts:
        name = _ATOMICS.get(parts[-1], "atomic_add")
        return f"write pk.{name}(x, i, value)"
    if len(parts) > 1 and parts[-1] == "array" and parts[-2] in ("shared", "local"):
        return f"write pk.{'shared' if parts[-2] == 'shared' else 'private'}(shape, dtype)"
    return next((_CALLED[part] for part in parts[1:] if part in _CALLED), None)


def instead_of_keyword(name: str) -> str | None:
    """The keyword of a launch that is called `name` elsewhere."""
    if name not in LAUNCH:
        return None
    return (
        f"write {LAUNCH[name]}=: "
        + {
            "ndrange": "how many work-items there are in all, e.g. ndrange=x.shape",
            "workgroup": "how many work-items are in a group, which may be left out",
            "shared_bytes": "the bytes of shared memory of a group",
        }[LAUNCH[name]]
    )
