// RUN: %pykern-opt %s --kern-raise-to-linalg --verify-diagnostics

// Nothing shows that two work-items look up two places.

func.func @scatter(%y: memref<?xf32> {kern.name = "y"}, %x: memref<?xf32>, %index: memref<?xi32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %0 = memref.load %index[%i] : memref<?xi32>
  %at = arith.index_cast %0 : i32 to index
  %1 = memref.load %x[%i] : memref<?xf32>
  // expected-error @below {{an element of `y` may be written by one work-item and by another}}
  memref.store %1, %y[%at] : memref<?xf32>
  return
}
