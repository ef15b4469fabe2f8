// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A sum is stored where `x > 0`, and used everywhere: it is not read from the array it was stored in.

// CHECK-LABEL: func.func @used_everywhere
// CHECK: %[[STORED:.*]] = linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: linalg.generic {{.*}} ins(%[[STORED]],
// CHECK: arith.cmpf ogt
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: linalg.generic {{.*}} ins(%[[SUM]],
// CHECK: arith.mulf
func.func @used_everywhere(%o: memref<?xf32> {kern.name = "o"}, %y: memref<?xf32> {kern.name = "y"},
                           %x: memref<?xf32> {kern.name = "x"}, %a: memref<?x?xf32> {kern.name = "a"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %sum = scf.for %j = %c0 to %c5 step %c1 iter_args(%s = %zero) -> (f32) {
    %e = memref.load %a[%i, %j] : memref<?x?xf32>
    %t = arith.addf %s, %e : f32
    scf.yield %t : f32
  }
  %v = memref.load %x[%i] : memref<?xf32>
  %c = arith.cmpf ogt, %v, %zero : f32
  scf.if %c {
    memref.store %sum, %o[%i] : memref<?xf32>
  }
  %p = arith.mulf %sum, %v : f32
  memref.store %p, %y[%i] : memref<?xf32>
  return
}
