// RUN: %pykern-opt %s --kern-bound-counters | FileCheck %s

// The counter of a loop that was annotated: `kern-narrow-indices` has proved that its last sum fits.

// CHECK-LABEL: func.func @annotated
// CHECK: arith.addi %{{.*}}, %arg2 overflow<nsw> : i32
func.func @annotated(%lower: i32, %upper: i32, %step: i32) {
  cf.br ^head(%lower : i32)
^head(%k: i32):
  %more = arith.cmpi slt, %k, %upper : i32
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %k, %step : i32
  cf.br ^head(%next : i32) {llvm.loop_annotation = #llvm.loop_annotation<unroll = <count = 8 : i32>>}
^end:
  return
}

// CHECK-LABEL: func.func @without_sign
// CHECK: arith.addi %{{.*}}, %arg2 overflow<nuw> : i32
func.func @without_sign(%lower: i32, %upper: i32, %step: i32) {
  cf.br ^head(%lower : i32)
^head(%k: i32):
  %more = arith.cmpi ult, %k, %upper : i32
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %k, %step : i32
  cf.br ^head(%next : i32) {llvm.loop_annotation = #llvm.loop_annotation<unroll = <count = 8 : i32>>}
^end:
  return
}

// CHECK-LABEL: func.func @plain
// CHECK-NOT: overflow
func.func @plain(%lower: i32, %upper: i32, %step: i32) {
  cf.br ^head(%lower : i32)
^head(%k: i32):
  %more = arith.cmpi slt, %k, %upper : i32
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %k, %step : i32
  cf.br ^head(%next : i32)
^end:
  return
}
