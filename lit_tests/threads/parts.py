# RUN: %python %s | FileCheck %s
"""Thread n of t takes rows extent * n / t up to extent * (n + 1) / t, in kernels and in nests of programs, in every
launch: what a thread touched first is what it works on later. Threads but the first one leave the processor of the
one that launches, if they find themselves there."""

import numpy as np

import pykern as pk
from pykern.lowering.llvm.program.launcher import teams_text
from pykern.lowering.llvm.team import RUNTIME


@pk.kernel
def double(y, x):
    i, j = pk.index()
    y[i, j] = 2 * x[i, j]


x = np.zeros((100, 100), np.float32)
stages = double.lower(x, x, ndrange=x.shape).stages
print(next(s.text for s in stages if s.name == "llvm-optimise"))
print(RUNTIME, teams_text([("nest.team", ["ptr", "ptr", "i64", "i64"])]))

# CHECK-LABEL: define internal void @pk_part(
# CHECK: %[[T:t]] = sext i32 %{{.*}} to i64
# CHECK: br i1 %{{.*}}, label %go, label %apart
# CHECK: %[[HOME:.*]] = load i64, ptr %hp
# CHECK: call {{.*}}void @pk_apart(i64 %[[HOME]], i64 %[[T]])
# CHECK: %[[N:n]] = sext i32 %{{.*}} to i64
# CHECK-DAG: %[[NEXT:.*]] = add nsw i64 %[[N]], 1
# CHECK-DAG: %[[A:.*]] = mul i64 %[[E:.*]], %[[N]]
# CHECK-DAG: %[[LO:.*]] = udiv i64 %[[A]], %[[T]]
# CHECK-DAG: %[[B:.*]] = mul i64 %[[E]], %[[NEXT]]
# CHECK-DAG: %[[HI:.*]] = udiv i64 %[[B]], %[[T]]
# CHECK: call {{.*}}@kern.double({{.*}}i64 %[[LO]], i64 %[[HI]]

# CHECK-LABEL: define hidden void @pk_apart(
# CHECK: call i64 @pk_home()
# CHECK: br i1 %{{.*}}, label %together, label %done

# CHECK-LABEL: define internal void @pk_split(
# CHECK: %[[N:.*]] = sext i32 %{{.*}} to i64
# CHECK: %[[T:.*]] = sext i32 %{{.*}} to i64
# CHECK: icmp ne i64 %[[N]], 0
# CHECK: call void @pk_apart(i64 %{{.*}}, i64 %[[T]])
# CHECK: %[[NEXT:.*]] = add i64 %[[N]], 1
# CHECK: %[[A:.*]] = mul i64 %[[E:.*]], %[[N]]
# CHECK: %[[LO:.*]] = udiv i64 %[[A]], %[[T]]
# CHECK: %[[B:.*]] = mul i64 %[[E]], %[[NEXT]]
# CHECK: %[[HI:.*]] = udiv i64 %[[B]], %[[T]]
# CHECK: call void %{{.*}}(ptr %{{.*}}, i64 %[[LO]], i64 %[[HI]])
# CHECK-LABEL: define hidden void @pk_parallel(
# CHECK: %[[HERE:.*]] = call i64 @pk_home()
# CHECK-NEXT: %[[PLACE:.*]] = getelementptr i64, ptr %data, i64 3
# CHECK-NEXT: store i64 %[[HERE]], ptr %[[PLACE]]
# CHECK: call void %gomp(ptr @pk_split, ptr %data
# CHECK-LABEL: define hidden void @"nest.team"
