// RUN: %pykern-opt %s --kern-annotate-branches | FileCheck %s

// The conversion of loops to branches hands their annotation on under a name that the translation to LLVM IR ignores.

// CHECK: #[[KEPT:.*]] = #llvm.loop_annotation<unroll = #{{.*}}>
#kept = #llvm.loop_annotation<unroll = <disable = true>>

// CHECK-LABEL: llvm.func @loop
// CHECK-NOT: llvm.loop_annotation
// CHECK: llvm.cond_br %{{.*}}, ^bb1, ^bb2 {loop_annotation = #[[KEPT]]}
// CHECK-NOT: llvm.loop_annotation
// CHECK: llvm.return
llvm.func @loop(%again: i1) {
  llvm.br ^body
^body:
  llvm.cond_br %again, ^body, ^end {llvm.loop_annotation = #kept}
^end:
  llvm.return
}
