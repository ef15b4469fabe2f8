// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// The launch comes after the arguments; an array that is only read is not writable.

// CHECK-LABEL: func.func @saxpy
// CHECK-SAME: %[[A:[a-z0-9]+]]: f32 {{.*}}, %[[N:[a-z0-9]+]]: index) attributes {kern.raised}
// CHECK: %[[Y:.*]] = bufferization.to_tensor %arg0 restrict writable
// CHECK: %[[X:.*]] = bufferization.to_tensor %arg1 restrict : memref
// CHECK: %[[YS:.*]] = tensor.extract_slice %[[Y]][0] [%[[N]]] [1]
// CHECK: %[[XS:.*]] = tensor.extract_slice %[[X]][0] [%[[N]]] [1]
// CHECK: %[[R:.*]] = linalg.generic {{.*}}["parallel"]} ins(%[[XS]] : tensor<?xf32>) outs(%[[YS]] : tensor<?xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[IN]], %[[A]]
// CHECK-NEXT: arith.addf %[[P]], %[[OLD]]
// CHECK: %[[NEW:.*]] = tensor.insert_slice %[[R]] into %[[Y]][0] [%[[N]]] [1]
// CHECK: bufferization.materialize_in_destination %[[NEW]] in restrict writable %arg0
// CHECK-NOT: kern.global_id
func.func @saxpy(%y: memref<?xf32> {kern.name = "y"},
                 %x: memref<?xf32> {kern.name = "x"},
                 %a: f32 {kern.name = "a"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %0 = memref.load %x[%i] : memref<?xf32>
  %1 = arith.mulf %0, %a : f32
  %2 = memref.load %y[%i] : memref<?xf32>
  %3 = arith.addf %1, %2 : f32
  memref.store %3, %y[%i] : memref<?xf32>
  return
}

// A range has a start and a step as well; work-items of a falling one are taken in rising order.

// CHECK-LABEL: func.func @ranged
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[START:[a-z0-9]+]]: index, %[[STEP:[a-z0-9]+]]: index)
// CHECK: %[[FIRST:.*]] = arith.minsi %[[START]]
// CHECK: %[[UP:.*]] = arith.maxsi %[[STEP]]
// CHECK: tensor.extract_slice %{{.*}}[%[[FIRST]]] [%[[N]]] [%[[UP]]]
// CHECK: tensor.insert_slice
func.func @ranged(%y: memref<?xf32>)
    attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %0 = memref.load %y[%i] : memref<?xf32>
  %1 = arith.negf %0 : f32
  memref.store %1, %y[%i] : memref<?xf32>
  return
}

// An index as data is the position in the slice; static counts take no argument.

// CHECK-LABEL: func.func @numbered
// CHECK-SAME: (%arg0: memref<8xindex>) attributes {kern.raised}
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8xindex>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: linalg.yield %[[I]]
func.func @numbered(%y: memref<8xindex>)
    attributes {kern.kernel, kern.ndrange = array<i64: 8>, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  memref.store %i, %y[%i] : memref<8xindex>
  return
}

// The transpose is a map.

// CHECK-LABEL: func.func @transpose
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]}
func.func @transpose(%y: memref<?x?xf32>, %x: memref<?x?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %j = "kern.global_id"() {dim = 1 : i64} : () -> index
  %0 = memref.load %x[%i, %j] : memref<?x?xf32>
  memref.store %0, %y[%j, %i] : memref<?x?xf32>
  return
}
