# RUN: %python %s | FileCheck %s
"""Kernels and nests of programs give their work out in parts: of a kernel as many as its work is worth, of a nest as
many as its last run showed, unless each part repeats something. Without a team of threads they run alone."""

import numpy as np

import pykern as pk
from pykern.lowering.llvm.program.launcher import Team, teams_text
from pykern.lowering.llvm.runtime_functions import RUNTIME
from pykern.lowering.llvm.text_ir.values import I64, PTR


@pk.kernel
def double(y, x):
    i, j = pk.index()
    y[i, j] = 2 * x[i, j]


x = np.zeros((100, 100), np.float32)
stages = double.lower(x, x, ndrange=x.shape).stages
print(next(s.text for s in stages if s.name == "llvm-optimise"))
kinds = [PTR, PTR, I64, I64]
print(RUNTIME, teams_text([Team("nest.team", kinds), Team("sums.team", kinds, repeats=True)]))

# CHECK-LABEL: define void @pk_run(
# CHECK: %[[NONE:.*]] = icmp eq ptr %[[FORK:.*]], null
# CHECK-NEXT: br i1 %[[NONE]], label %after{{.*}}, label %then
# CHECK: call void %[[FORK]](ptr {{.*}}@pk_part, ptr {{.*}}%a0, i64 %{{.*}}, i64 %{{.*}}, i64 %{{.*}})

# CHECK-LABEL: define internal void @pk_part(ptr %a0, i64 %a1, i64 %a2)
# CHECK: i64 %a1, i64 %a2, i64 %{{.*}})

# CHECK-LABEL: define i32 @pk_launch(
# CHECK: call i32 @pk_unlocked(ptr nonnull @pk_run, ptr nonnull %a0)

# CHECK-LABEL: define hidden void @pk_parallel(ptr %a0, ptr %a1, i64 %a2, ptr %a3)
# CHECK: br i1 %{{.*}}, label %then{{.*}}, label %after
# CHECK: call void %v{{.*}}(ptr %a0, ptr %a1, i64 %a2, ptr %a3)
# CHECK: call void %a0(ptr %a1, i64 0, i64 %a2)

# CHECK: @nest.seen = internal global i64 0
# CHECK-LABEL: define hidden void @nest.team(ptr %a0, ptr %a1, i64 %a2, i64 %a3)
# CHECK: call void @pk_parallel(ptr @nest.part, ptr %{{.*}}, i64 %a3, ptr @nest.seen)
# CHECK: define internal void @nest.part(ptr %a0, i64 %a1, i64 %a2)
# CHECK: call void @nest(ptr %{{.*}}, ptr %{{.*}}, i64 %a1, i64 %a2)
# CHECK-LABEL: define hidden void @sums.team
# CHECK: call void @pk_parallel(ptr @sums.part, ptr %{{.*}}, i64 %a3, ptr null)
