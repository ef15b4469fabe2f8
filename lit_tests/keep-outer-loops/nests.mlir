// RUN: %pykern-opt %s --kern-keep-outer-loops | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-keep-outer-loops,convert-scf-to-cf,convert-func-to-llvm,convert-cf-to-llvm,kern-annotate-branches)" | FileCheck %s --check-prefix=BRANCHES

// The outer loop is not to be unrolled: the inner one is long. Short nests are left to LLVM.

// CHECK: #[[KEPT:.*]] = #llvm.loop_annotation<unroll = #{{.*}}>
// CHECK-LABEL: func.func @long
// CHECK: scf.for
// CHECK: scf.for
// CHECK: }
// CHECK: } {llvm.loop_annotation = #[[KEPT]]}
// CHECK-LABEL: func.func @short
// CHECK-NOT: llvm.loop_annotation
// CHECK: return

// BRANCHES: #[[KEPT:.*]] = #llvm.loop_annotation
// BRANCHES-LABEL: @long
// BRANCHES: llvm.br {{.*}} {loop_annotation = #[[KEPT]]}
// BRANCHES-LABEL: @short
// BRANCHES-NOT: loop_annotation
// BRANCHES: llvm.return
func.func @long(%n: i64, %f: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c25 = arith.constant 25 : index
  %c1000 = arith.constant 1000 : index
  %s = scf.for %i = %c0 to %c25 step %c1 iter_args(%a = %f) -> f64 {
    %t = scf.for %j = %c0 to %c1000 step %c1 iter_args(%b = %a) -> f64 {
      %u = arith.addf %b, %b : f64
      scf.yield %u : f64
    }
    scf.yield %t : f64
  }
  return %s : f64
}

func.func @short(%f: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %f) -> f64 {
    %t = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> f64 {
      %u = arith.addf %b, %b : f64
      scf.yield %u : f64
    }
    scf.yield %t : f64
  }
  return %s : f64
}
