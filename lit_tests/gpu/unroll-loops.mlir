// RUN: %pykern-opt %s --kern-unroll-loops | FileCheck %s

// CHECK-DAG: #[[FULL:.*]] = #llvm.loop_unroll<count = 16 : i32>
// CHECK-DAG: #[[LONG:.*]] = #llvm.loop_unroll<count = 8 : i32>
// CHECK-DAG: #[[A:.*]] = #llvm.loop_annotation<unroll = #[[FULL]]>
// CHECK-DAG: #[[B:.*]] = #llvm.loop_annotation<unroll = #[[LONG]]>

// CHECK-LABEL: func.func @sum
// CHECK: llvm.load
// CHECK: } {llvm.loop_annotation = #[[A]]}
func.func @sum(%x: !llvm.ptr<1>, %lower: i32, %upper: i32, %zero: f32) -> f32 {
  %step = arith.constant 256 : i32
  %total = scf.for %k = %lower to %upper step %step iter_args(%so_far = %zero) -> (f32) : i32 {
    %at = llvm.getelementptr %x[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.load %at : !llvm.ptr<1> -> f32
    %next = arith.addf %so_far, %value : f32
    scf.yield %next : f32
  }
  return %total : f32
}

// The longer the body, the fewer copies of it.

// CHECK-LABEL: func.func @long_body
// CHECK: } {llvm.loop_annotation = #[[B]]}
func.func @long_body(%x: !llvm.ptr<1>, %lower: i32, %upper: i32) {
  %step = arith.constant 256 : i32
  scf.for %k = %lower to %upper step %step : i32 {
    %at = llvm.getelementptr %x[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %0 = llvm.load %at : !llvm.ptr<1> -> f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %1, %0 : f32
    %3 = arith.mulf %2, %0 : f32
    %4 = arith.mulf %3, %0 : f32
    %5 = arith.mulf %4, %0 : f32
    %6 = arith.mulf %5, %0 : f32
    %7 = arith.mulf %6, %0 : f32
    %8 = arith.mulf %7, %0 : f32
    %9 = arith.mulf %8, %0 : f32
    %10 = arith.mulf %9, %0 : f32
    %11 = arith.mulf %10, %0 : f32
    %12 = arith.mulf %11, %0 : f32
    %13 = arith.mulf %12, %0 : f32
    llvm.store %13, %at : f32, !llvm.ptr<1>
  }
  return
}

// Not unrolled: a loop that loads nothing, one with a barrier, one whose counter has 64 bits, one of known length, one whose
// step only the launch knows.

// CHECK-LABEL: func.func @others
// CHECK-NOT: loop_annotation
func.func @others(%x: !llvm.ptr<1>, %upper: i32, %step: i32, %zero: f32, %length: index, %one: index) {
  %two = arith.constant 2 : i32
  %total = scf.for %k = %step to %upper step %step iter_args(%so_far = %zero) -> (f32) : i32 {
    %next = arith.addf %so_far, %so_far : f32
    scf.yield %next : f32
  }
  scf.for %k = %step to %upper step %two : i32 {
    %at = llvm.getelementptr %x[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.load %at : !llvm.ptr<1> -> f32
    gpu.barrier
    llvm.store %value, %at : f32, !llvm.ptr<1>
  }
  scf.for %k = %upper to %upper step %step : i32 {
    %value = llvm.load %x : !llvm.ptr<1> -> f32
    llvm.store %value, %x : f32, !llvm.ptr<1>
  }
  scf.for %k = %one to %length step %one {
    %value = llvm.load %x : !llvm.ptr<1> -> f32
    llvm.store %value, %x : f32, !llvm.ptr<1>
  }
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  scf.for %k = %c0 to %c8 step %c1 : i32 {
    %value = llvm.load %x : !llvm.ptr<1> -> f32
    llvm.store %value, %x : f32, !llvm.ptr<1>
  }
  return
}
