"""The passes of a program for a device, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.llvm.program.pipeline import buffer_pipeline, function_pipeline, tensor_pipeline
from pykern.passes.codegen.device.make_kernels import MakeKernels
from pykern.passes.codegen.device.outline_sequential import OutlineSequential
from pykern.passes.framework import Pipeline, Upstream


def device_pipeline(
    matrix_unit: str = "", aligned: bool = False, warpgroup_unit: str = "", doubles: bool = True
) -> Pipeline:
    """From tensors to kernels and the host's program that launches them.

    `matrix_unit`, `warpgroup_unit`: the target's instructions for small matrices, `aligned`: where arguments begin; see
    `MakeKernels`. `doubles`: the target has floats of 64 bits.
    """
    return (
        function_pipeline(doubles)
        + tensor_pipeline()
        + buffer_pipeline()
        + kernel_pipeline(MakeKernels(matrix_unit, aligned, warpgroup_unit))
    )


def kernel_pipeline(make: MakeKernels) -> Pipeline:
    """From buffers to kernels."""
    return Pipeline(
        (
            OutlineSequential(),  # while what it takes together is not kernels yet
            make,
            Upstream("canonicalize,cse"),  # numbers that only kernels read are gone from the host's part
        )
    )
