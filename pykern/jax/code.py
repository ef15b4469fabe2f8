"""The code of a program as JAX calls it: a foreign function of XLA's, registered once.

Comes in: a `ProgramSource`. Goes out: `Code`: a function of arrays of JAX, to be traced, which becomes one call of the
handler (`pykern.lowering.llvm.xla`). Code is never freed: XLA keeps its address.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pykern.compiler.versions import versions
from pykern.data.artifact import Artifact, ResultSpec
from pykern.data.program_source import ProgramSource
from pykern.errors import KernelTypeError
from pykern.jax.framework import Array, jax
from pykern.obtain.code import loaded
from pykern.obtain.schedules import tuned
from pykern.obtain.team_code import team_code
from pykern.types import BY_NAME

PLATFORM = "cpu"


@dataclass(frozen=True)
class Code:
    """A registered program. `name` is what XLA knows it by, `results` are those of a call that is no batch."""

    name: str
    artifact: Artifact
    results: tuple[ResultSpec, ...]
    aliases: tuple[tuple[int, int], ...]
    """Arguments whose memory a result takes, with the results."""
    scratch_bytes: int
    library: object
    """The code stays where it is."""

    def call(self, arrays: Sequence[Array], batch: tuple[int, ...], like: Any) -> list[Array]:
        """One call; results have the dimensions of the batch in front, and vary over the axes that the type `like`
        varies over."""
        kinds = [_kind((*batch, *r.shape), jax_dtype(r, n), like) for n, r in enumerate(self.results)]
        if self.scratch_bytes > 1:
            kinds.append(_kind((self.scratch_bytes,), np.uint8, like))
        found = jax.ffi.ffi_call(self.name, kinds, input_output_aliases=dict(self.aliases))(*arrays)
        return list(found)[: len(self.results)]


def _kind(shape: tuple[int, ...], dtype: Any, like: Any) -> Any:
    if like is None or like.manual_axis_type.empty:
        return jax.ShapeDtypeStruct(shape, dtype)
    sharding = unsharded(like, len(shape))
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding, manual_axis_type=like.manual_axis_type)


def unsharded(like: Any, rank: int) -> Any:
    """The sharding of a type over the same mesh with no dimension sharded, as inside of `shard_map`."""
    return like.sharding.update(spec=jax.sharding.PartitionSpec(*(None,) * rank))


def jax_dtype(result: ResultSpec, number: int) -> np.dtype:
    """The dtype of a result. Raises `KernelTypeError` for arrays of 64 bits where JAX has none."""
    dtype = BY_NAME[result.dtype].numpy
    canonical = jax.dtypes.canonicalize_dtype(dtype)
    if canonical != dtype and result.shape:
        raise KernelTypeError(
            f"result {number} is an array of {dtype}, and JAX computes with 32 bits",
            hint=f'allow it, jax.config.update("jax_enable_x64", True), or convert in the program: '
            f".astype(pk.{BY_NAME[result.dtype].name.replace('64', '32')})",
        )
    return np.dtype(canonical)


@functools.cache
def code_of(source: ProgramSource) -> Code:
    """Compile, load, register. Raises what the compiler raises, and `KernelTypeError` for what XLA cannot call."""
    artifact, code = loaded(tuned(replace(source, handler="xla")))
    layout = artifact.program
    assert layout is not None
    if any(site.kind == "print" for site in artifact.sites):
        raise KernelTypeError(
            f"`{artifact.kernel}` prints, which a primitive of JAX cannot",
            hint="print what it gives: jax.debug.print",
        )
    team_code.wanted()
    name = f"pykern_{source.key(versions())}"
    capsule = jax.ffi.pycapsule(code.library.function("pk_xla"))
    jax.ffi.register_ffi_target(name, capsule, platform=PLATFORM)
    aliases = tuple((r.argument, n) for n, r in enumerate(layout.results) if r.argument >= 0)
    return Code(name, artifact, layout.results, aliases, layout.scratch_bytes, code)
