// RUN: %pykern-opt %s --kern-keep-loop-results | FileCheck %s
// RUN: %pykern-opt %s --kern-keep-loop-results=lowered=false | FileCheck %s --check-prefix=PRINTED

// A value that the condition loads, and an index and a bit made of it, are stored before they leave the loop and loaded
// behind it; what the loop carries, and what nobody uses, is not.

// PRINTED-LABEL: func.func @seek
// PRINTED: kern.private
// PRINTED-NOT: memref.alloca

// CHECK-LABEL: func.func @seek
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[WORDS:.*]]: memref<?xi64>)
// CHECK-DAG: %[[BIT_MEMORY:.*]] = memref.alloca() : memref<2xi32, #spirv.storage_class<Function>>
// CHECK-DAG: %[[MEMORY:.*]] = memref.alloca() : memref<2xf32, #spirv.storage_class<Function>>
// CHECK-DAG: %[[WORD:.*]] = memref.load %[[WORDS]]
// CHECK: %[[SIGN:.*]] = arith.shrui %[[WORD]]
// CHECK: %[[PLACE:.*]] = arith.index_cast %[[SIGN]] : i64 to index
// CHECK: %[[LOOP:.*]]:4 = scf.while
// CHECK: %[[C:.*]] = memref.load %[[X]]
// CHECK: %[[MORE:.*]] = arith.cmpf
// CHECK-DAG: memref.store %[[C]], %[[MEMORY]][%[[PLACE]]]
// CHECK-DAG: %[[WIDE:.*]] = arith.extui %[[MORE]] : i1 to i32
// CHECK-DAG: memref.store %[[WIDE]], %[[BIT_MEMORY]][%[[PLACE]]]
// CHECK: scf.condition
// CHECK: } do {
// CHECK: }
// CHECK-DAG: memref.load %[[MEMORY]][%[[PLACE]]]
// CHECK-DAG: %[[NARROW:.*]] = memref.load %[[BIT_MEMORY]][%[[PLACE]]]
// CHECK-DAG: arith.trunci %[[NARROW]] : i32 to i1
// CHECK: memref.store {{.*}}, %[[Y]][%[[LOOP]]#0]
func.func @seek(%x: memref<?xf32>, %y: memref<?xf32>, %words: memref<?xi64>)
    attributes {kern.kernel, kern.arguments = ["memory", "slot", "slot", "memory", "slot"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %nil = arith.constant 0.0 : f32
  %n, %c, %bit, %unused = scf.while (%i = %c0) : (index) -> (index, f32, i1, f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %more = arith.cmpf ogt, %a, %half : f32
    scf.condition(%more) %i, %a, %more, %a : index, f32, i1, f32
  } do {
  ^bb0(%i: index, %a: f32, %b: i1, %u: f32):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %r = arith.select %bit, %c, %nil : f32
  %s = arith.addf %r, %c : f32
  memref.store %s, %y[%n] : memref<?xf32>
  return
}
