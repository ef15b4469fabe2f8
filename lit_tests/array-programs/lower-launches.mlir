// RUN: %pykern-opt %s --kern-lower-launches | FileCheck %s

// CHECK-LABEL: func.func @p(%arg0: memref<8xf32> {kern.name = "x"}, %arg1: index)
// CHECK: call @p.launch0(%arg0, %arg1, %c0{{.*}}, %c8{{.*}})
// CHECK-LABEL: func.func private @kern.k
// CHECK: scf.for
// CHECK-LABEL: func.func private @p.launch0
// CHECK: call @kern.k(%arg0, %c8{{.*}}, %arg2, %arg3, %arg1)
func.func @p(%x: memref<8xf32> {kern.name = "x"}) attributes {kern.program} {
  "kern.launch"() ({
    func.call @k(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 8>} : () -> ()
  return
}
func.func private @k(%x: memref<8xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %f = arith.constant 1.0 : f32
  memref.store %f, %x[%i] : memref<8xf32>
  return
}
