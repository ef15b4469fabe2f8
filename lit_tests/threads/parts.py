# RUN: %python %s | FileCheck %s
"""Kernels and nests of programs give their work out in parts: of a kernel as many as its work is worth, of a nest as
many as its last run showed, unless each part repeats something. Without a team of threads they run alone."""

import numpy as np

import pykern as pk
from pykern.lowering.llvm.program.launcher import Team, teams_text
from pykern.lowering.llvm.table import RUNTIME


@pk.kernel
def double(y, x):
    i, j = pk.index()
    y[i, j] = 2 * x[i, j]


x = np.zeros((100, 100), np.float32)
stages = double.lower(x, x, ndrange=x.shape).stages
print(next(s.text for s in stages if s.name == "llvm-optimise"))
kinds = ["ptr", "ptr", "i64", "i64"]
print(RUNTIME, teams_text([Team("nest.team", kinds), Team("sums.team", kinds, repeats=True)]))

# CHECK-LABEL: define void @pk_run(
# CHECK: %[[THERE:.*]] = icmp eq ptr %[[FORK:.*]], null
# CHECK-NEXT: br i1 %[[THERE]], label %alone, label %team
# CHECK: call void %[[FORK]](ptr {{.*}}@pk_part, ptr {{.*}}%slots, i64 %{{.*}}, i64 %{{.*}}, i64 %{{.*}})

# CHECK-LABEL: define internal void @pk_part(
# CHECK-SAME: i64 %lo, i64 %hi)

# CHECK-LABEL: define i32 @pk_launch(
# CHECK: call i32 @pk_unlocked(ptr nonnull @pk_run, ptr nonnull %slots)

# CHECK-LABEL: define hidden void @pk_parallel(
# CHECK: br i1 %there, label %team, label %alone
# CHECK: call void %share(ptr %fn, ptr %c, i64 %extent, ptr %seen)
# CHECK: call void %fn(ptr %c, i64 0, i64 %extent)

# CHECK: @"nest.seen" = internal global i64 0
# CHECK-LABEL: define hidden void @"nest.team"
# CHECK: call void @pk_parallel(ptr @"nest.part", ptr %c, i64 %hi, ptr @"nest.seen")
# CHECK: define internal void @"nest.part"(ptr %c, i64 %lo, i64 %hi)
# CHECK-LABEL: define hidden void @"sums.team"
# CHECK: call void @pk_parallel(ptr @"sums.part", ptr %c, i64 %hi, ptr null)
