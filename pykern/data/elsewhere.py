"""What pykern calls the names of CUDA, Triton, Numba, Warp, Taichi and OpenCL.

Comes in: a name as it was written, ``cuda.threadIdx.x`` or ``program_id``. Goes out: what to write here.
"""

from __future__ import annotations

FRAMEWORKS = frozenset(
    ("cp", "cuda", "cupy", "jax", "jnp", "lax", "nb", "np", "numba", "numpy", "scipy", "taichi", "ti", "tl", "tm",
     "torch", "triton", "warp", "wp")
)  # fmt: skip
"""What other libraries are imported as."""
INDEX = "write i = pk.index(): each work-item has its own index, and i, j = pk.index() over two dimensions"
GROUP = (
    "write i = pk.index(), which is group * size + place in the group; pk.group_index() is the group alone"
)
RANDOM = "write pk.random(seed, i): a number for each counter; or pass an array of them"
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
    **dict.fromkeys(("rand", "randf", "rand_init", "xoroshiro128p_uniform_float32"), RANDOM),
    **dict.fromkeys(("randn", "normal"), "write pk.random_normal(seed, i): a number for each counter"),
    "randint": "write pk.random_bits(seed, i) % n: a number for each counter",
    **dict.fromkeys(("fori_loop", "while_loop", "scan"), "write a loop: for k in range(n)"),
    "cond": "write if and else",
    "vmap": "a kernel runs for each index already: write i = pk.index(); programs write the axis, as in x.sum(axis=1)",
}
_ATOMICS = {"add": "atomic_add", "sub": "atomic_sub", "max": "atomic_max", "min": "atomic_min",
            "exch": "atomic_exchange", "cas": "atomic_compare_exchange"}  # fmt: skip
FORMULAS = {
    "clip": "write pk.clamp(x, low, high)",
    "relu": "write pk.maximum(x, 0)",
    "sigmoid": "write 1 / (1 + pk.exp(-x))",
    "silu": "write x / (1 + pk.exp(-x))",
    "gelu": "write 0.5 * x * (1 + pk.erf(x * 0.5**0.5))",
    "softmax": "write e = pk.exp(x - x.max(axis=-1, keepdims=True)), then e / e.sum(axis=-1, keepdims=True)",
}
"""What functions are made of that the language does not have."""
NDRANGE = "write ndrange=: how many work-items there are in all, e.g. ndrange=x.shape"
WORKGROUP = "write workgroup=: how many work-items are in a group, which may be left out"
_ANYWHERE = {
    **dict.fromkeys(
        ("grid", "griddim", "grid_dim", "grid_spec", "dim", "size", "global_size", "n", "blocks", "num_blocks"),
        NDRANGE,
    ),
    **dict.fromkeys(
        ("block", "blockdim", "block_dim", "block_size", "threads", "num_threads", "threads_per_block", "local_size",
         "num_warps", "launch_bounds"),
        WORKGROUP,
    ),
    "num_stages": "leave it out: the compiler chooses",
}  # fmt: skip
_AT_LAUNCH = {
    **dict.fromkeys(("shared_mem", "smem", "shared"), "write shared_bytes=: the bytes of shared memory of a group"),
    **dict.fromkeys(
        ("inputs", "outputs", "args", "out"),
        "pass the arguments in the order of the parameters, arrays for results too",
    ),
    **dict.fromkeys(("adjoint", "record_tape"), "pk.autodiff(kernel) is its derivative, and launched as it is"),
    **dict.fromkeys(("backend", "target", "arch"), "write device=, or pass arrays that are there"),
}  # fmt: skip
_BY_ITSELF = "leave it out: every kernel and program is compiled, and uses all cores"
_IN_DECORATORS = {
    **dict.fromkeys(("static_argnums", "static_argnames"), "annotate the parameter: n: pk.static"),
    "donate_argnames": "write donate_argnums=, the numbers of the parameters",
    **dict.fromkeys(("nopython", "parallel", "nogil", "forceobj", "looplift", "inline", "opt_level"), _BY_ITSELF),
    "cache": "leave it out: compiled code is kept on disk",
    **dict.fromkeys(
        ("device", "backend", "target", "arch"),
        "leave it out: code runs where its arrays are, or where the call says: f(x, device='cpu')",
    ),
    **dict.fromkeys(("fast_math", "use_fast_math"), "write fastmath=True"),
    **dict.fromkeys(("boundscheck", "check_bounds", "checks"), "write debug=True"),
    "interpret": "leave it out: a call with device='python' runs the function as plain Python",
    **dict.fromkeys(
        ("enable_backward", "differentiable"), "leave it out: pk.autodiff(kernel) and pk.grad(program) differentiate"
    ),
    **dict.fromkeys(("locals", "signature", "input_signature"), "leave it out: types are taken at the call"),
}  # fmt: skip
_OF_THE_PACKAGE = {
    "launch": "call the kernel: k(y, x, ndrange=x.shape)",
    "init": "leave it out: nothing has to be set up, and a kernel runs where its arrays are",
    "set_device": "write `with pk.device('cpu'):`, or set PYKERN_DEVICE",
    **dict.fromkeys(("njit", "pjit", "function"), "write pk.jit for functions of whole arrays, pk.kernel for elements"),
    **dict.fromkeys(("vectorize", "guvectorize", "stencil"), "write pk.kernel, and y[i] = ... with i = pk.index()"),
    **dict.fromkeys(
        ("from_numpy", "from_torch", "to_device", "device_put", "tensor", "Tensor"), "write pk.asarray(x, device=...)"
    ),
    **dict.fromkeys(("field", "ndarray"), "write pk.zeros(shape, dtype)"),
    "hessian": "write pk.hvp(f, (x,), (v,)): its product with a vector",
    **dict.fromkeys(("jacobian", "jacfwd", "jacrev"), "write pk.jvp or pk.vjp: its product with a vector"),
    "autotune": "write pk.tune(f, *args)",
    "Tape": "write pk.grad(f) for programs, pk.autodiff(k) for kernels",
}  # fmt: skip


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
    """What to write for a keyword of another framework's launch."""
    return (_AT_LAUNCH | _ANYWHERE).get(name.lower())


def instead_of_option(name: str, options: list[str]) -> str | None:
    """What to write for an option of another framework's decorator, where there are these `options`."""
    if name.lower() in _ANYWHERE and "ndrange" not in options:
        return "leave it out: an array program has no index space; functions for one element are under @pk.kernel"
    return (_IN_DECORATORS | _ANYWHERE).get(name.lower())


def instead_of_public(name: str) -> str | None:
    """What to write for a public name of another framework."""
    return _OF_THE_PACKAGE.get(name) or FORMULAS.get(name) or instead_of_elsewhere(f"pk.{name}")
