"""IREE: JAX's functions as StableHLO, compiled for the CPU it runs on; it allocates its results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import iree.compiler
import iree.runtime
from workloads import Case, Contender

_threads = [1]


def missing() -> str | None:
    try:
        import jax  # noqa: F401
    except ImportError:
        return "needs JAX, which writes the StableHLO it compiles (pip install jax)"
    return None


def prepare(threads: int) -> None:
    _threads[0] = threads


def _compiled(case: Case, function: Callable) -> Iterator[Contender]:
    import jax

    arrays = list(case.arrays.values())
    text = jax.jit(function).lower(*arrays).as_text()
    options = ["--iree-llvmcpu-target-cpu=host"]
    binary = iree.compiler.compile_str(
        text, input_type="stablehlo", target_backends=["llvm-cpu"], extra_args=options
    )
    config = iree.runtime.Config("local-sync" if _threads[0] == 1 else "local-task")
    module = iree.runtime.load_vm_module(
        iree.runtime.VmModule.copy_buffer(config.vm_instance, binary), config
    )
    there = [iree.runtime.asdevicearray(config.device, array) for array in arrays]
    yield Contender("iree", lambda: module.main(*there), allocates=True)


def _of(name: str) -> Callable[[Case], Iterator[Contender]]:
    def contenders(case: Case) -> Iterator[Contender]:
        from peers import with_jax

        yield from _compiled(case, getattr(with_jax, f"{name}_of"))

    return contenders


saxpy, heat, softmax, layernorm = map(_of, ("saxpy", "heat", "softmax", "layernorm"))
residual_layernorm, swiglu, attention = map(_of, ("residual_layernorm", "swiglu", "attention"))


def matmul(case: Case) -> Iterator[Contender]:
    import jax.numpy as jnp

    yield from _compiled(case, lambda a, b: jnp.matmul(a, b))
