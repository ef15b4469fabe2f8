# RUN: %python %s | FileCheck %s
"""The instructions that matter, in SPIR-V."""

import pykern as pk


@pk.kernel(workgroup=(8, 32))
def rows(out, x):
    i, j = pk.index()
    out[i, j] = x[i, j]


# Where positions fit in 32 bits, they are computed in them, whatever the environment's ids have: for OpenCL and Vulkan.
# CHECK-LABEL: spirv.func @kern_rows
# CHECK: spirv.SLessThan
# CHECK: spirv.IMul {{.*}} : i32
# CHECK-NOT: spirv.IMul {{.*}} : i64
# CHECK: spirv.Return
# CHECK-LABEL: spirv.func @kern_rows
# CHECK: spirv.SLessThan
# CHECK: spirv.IMul {{.*}} : i32
# CHECK-NOT: spirv.IMul {{.*}} : i64
# CHECK: spirv.Return
matrix = pk.spec(("n", "m"), pk.f32)
for target in ("spirv:opencl3.0+small", "spirv:vulkan1.3+small"):
    lowered = rows.lower(matrix, matrix, ndrange=("n", "m"), target=target)
    print(next(stage.text for stage in lowered.stages if stage.name.startswith("kern-finish-spirv")))
