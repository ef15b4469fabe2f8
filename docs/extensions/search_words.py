"""The field's words for what pykern has: whoever searches the site for one of them finds the entry.

Comes in: nothing. Goes out: entries of the index, put before each name of the reference and on top of the guides. The
search of the site reads them first; `docs/check_site.py` holds that each word is in the built index, and
`docs/search_scorer.js` names the results after what they lead to.
"""

from __future__ import annotations

from typing import Any

WORDS: dict[str, tuple[str, ...]] = {
    "kernel": ("gpu kernel", "global function", "cuda.jit", "triton.jit", "wp.kernel", "ti.kernel", "decorator"),
    "func": ("device function", "helper function", "inline function"),
    "tile": ("tile kernel", "block program", "tl.program_id", "tile size", "block size"),
    "static": ("constexpr", "compile-time constant", "template argument"),
    "jit": ("just in time", "just-in-time compilation", "njit", "jax.jit", "array program"),
    "range": ("fori_loop", "scan loop", "lax.scan"),
    "grad": ("autograd", "autodiff", "automatic differentiation", "gradient", "backpropagation", "reverse mode"),
    "value_and_grad": ("loss and gradient",),
    "vjp": ("vector-Jacobian product", "backward pass", "cotangent"),
    "jvp": ("Jacobian-vector product", "forward mode", "tangent"),
    "hvp": ("Hessian", "Hessian-vector product", "second derivative"),
    "autodiff": ("gradient of a kernel", "adjoint kernel", "Enzyme", "tape"),
    "custom_vjp": ("custom gradient", "custom derivative", "straight-through estimator"),
    "stop_gradient": ("detach", "no_grad"),
    "checkpoint": ("gradient checkpointing", "rematerialisation", "remat", "recomputation"),
    "check_grads": ("gradcheck", "finite differences"),
    "export": ("ahead of time", "aot", "code generation", "c code", "header", "deploy", "without python", "shader"),
    "explore": ("explorer", "compiler explorer", "dump ir", "assembly", "ptx", "intermediate representation", "mlir"),
    "spec": ("ShapeDtypeStruct", "abstract array", "signature"),
    "devices": ("list devices", "gpu", "device query"),
    "synchronize": ("cudaDeviceSynchronize", "wait for the device"),
    "set_num_threads": ("number of threads", "multithreading", "OMP_NUM_THREADS", "parallel"),
    "Stream": ("cuda stream", "asynchronous launch", "queue"),
    "Event": ("cuda event", "timing of launches"),
    "graph": ("cuda graph", "capture launches", "replay"),
    "array": ("to_device", "device array", "copy to the gpu", "upload", "host to device"),
    "from_dlpack": ("dlpack", "zero-copy", "torch tensor", "cupy"),
    "pinned": ("pinned memory", "page-locked memory"),
    "memory_stats": ("memory usage", "memory pool"),
    "empty_cache": ("free memory", "release memory"),
    "index": ("thread id", "thread index", "global index", "threadIdx", "cuda.grid", "program_id", "get_global_id",
              "work-item id", "tid"),
    "local_index": ("thread in block", "threadIdx.x", "get_local_id", "local id"),
    "group_index": ("block", "block index", "blockIdx", "get_group_id", "workgroup id", "thread block"),
    "group_size": ("block size", "blockDim", "block_dim", "workgroup size"),
    "num_groups": ("gridDim", "number of blocks", "grid size"),
    "ndrange": ("grid", "index space", "launch dimensions", "grid-stride loop", "get_global_size"),
    "subgroup_size": ("warp", "warp size", "wavefront", "wave size"),
    "lane_index": ("lane", "lane id", "lane index", "laneid"),
    "subgroup_index": ("warp id", "warp index"),
    "shared": ("shared memory", "__shared__", "local memory", "scratchpad", "lds", "threadgroup memory",
               "dynamic shared memory", "cuda.shared.array"),
    "private": ("private memory", "local array", "registers", "cuda.local.array", "stack array"),
    "barrier": ("barrier", "syncthreads", "__syncthreads", "synchronization", "thread synchronization", "fence"),
    "group_reduce": ("block reduction", "reduction", "reduce"),
    "subgroup_reduce": ("warp reduction", "warp reduce"),
    "subgroup_scan": ("prefix sum", "scan", "cumulative sum"),
    "subgroup_shuffle": ("shuffle", "warp shuffle", "shfl_sync"),
    "subgroup_broadcast": ("warp broadcast",),
    "atomic_add": ("atomics", "atomic", "atomic add", "atomicAdd", "race condition", "histogram"),
    "atomic_compare_exchange": ("compare and swap", "cas", "atomicCAS", "lock"),
    "cast": ("type conversion", "astype", "convert"),
    "where": ("select", "ternary", "branchless"),
    "cdiv": ("ceiling division", "ceil_div"),
    "unroll": ("loop unrolling", "unroll"),
    "print": ("printf", "debug print"),
    "matmul": ("gemm", "matrix multiplication", "tensor cores"),
    "tune": ("autotune", "autotuning", "tuning"),
    "benchmark": ("timing", "measure time", "do_bench"),
    "OutOfBounds": ("illegal memory access", "segmentation fault", "index out of bounds"),
    "DataRace": ("data race", "race detection"),
    "CompilerCrash": ("compiler crash", "internal compiler error"),
}  # fmt: skip
"""Names of the reference."""
GUIDES: dict[str, tuple[str, ...]] = {
    "install": ("installation", "pip install", "requirements", "docker", "conda", "hpc", "offline"),
    "kernels": ("kernel language", "workgroups", "launch a kernel"),
    "derivatives": ("differentiation", "differentiable programming"),
    "debugging": ("debugger", "breakpoint", "pdb", "nan", "cuda-memcheck", "compute-sanitizer"),
    "performance": ("profiling", "profiler", "optimization", "speed", "vectorization", "simd", "roofline"),
    "caching": ("compile time", "cache", "cold start", "ahead of time", "aot"),
    "devices-and-streams": ("streams", "multiple gpus"),
    "interop": ("pytorch", "torch", "jax", "cupy arrays", "numpy arrays"),
    "testing": ("unit tests", "pytest", "lit", "filecheck"),
    "notebooks": ("jupyter", "colab", "ipython"),
    "writing-a-pass": ("compiler pass", "custom pass", "plugin"),
    "coming-from": ("numba", "triton", "warp language", "taichi", "KernelAbstractions"),
}
"""Pages of `docs/guides`."""


def entries(name: str, words: tuple[str, ...]) -> list[str]:
    """A directive of docutils: the main entries that lead to a name of the reference."""
    return [".. index::", *(f"   ! single: {word}" for word in words), f"   :name: about-{name}", ""]


def guide_entries(_app: object, docname: str, content: list[str]) -> None:
    """For Sphinx: a guide as it is read, with its entries."""
    words = GUIDES.get(docname.removeprefix("guides/"), ()) if docname.startswith("guides/") else ()
    if words:
        title, _, text = content[0].partition("\n")
        made = "\n".join([".. index::", *(f"   ! single: {word}" for word in words)])
        content[0] = f"{title}\n\n```{{eval-rst}}\n{made}\n```\n{text}"


def keep_entries(_app: object, env: Any) -> None:
    """For Sphinx: entries of pages that this build does not write again, which it leaves out of the search's index."""
    for docname, found in env.domaindata["index"]["entries"].items():
        from sphinx.util.index_entries import split_index_msg  # here: tests read the words without Sphinx

        rows = {
            (part, target, main)
            for kind, value, target, main, _ in found
            for part in split_index_msg(kind, value)
        }
        env._search_index_index_entries.setdefault(docname, sorted(rows))
