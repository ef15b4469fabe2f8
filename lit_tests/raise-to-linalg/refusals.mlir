// RUN: %pykern-opt %s --kern-raise-to-linalg --split-input-file --verify-diagnostics

func.func @same_cell(%y: memref<?xf32> {kern.name = "y"}, %v: f32)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{an element of `y` may be written by one work-item and by another}}
  memref.store %v, %y[%c0] : memref<?xf32>
  return
}

// -----

func.func @neighbour(%y: memref<?xf32> {kern.name = "y"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %r = arith.addi %i, %c1 : index
  %0 = memref.load %y[%r] : memref<?xf32>
  // expected-error @below {{an element of `y` may be written by one work-item and read by another}}
  memref.store %0, %y[%i] : memref<?xf32>
  return
}

// -----

func.func @barrier_in_branch(%y: memref<?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  // expected-error @below {{a barrier has no form on tensors}}
  "kern.barrier"() : () -> ()
  return
}

// -----

// expected-error @below {{the arrays may overlap}}
func.func @overlap(%y: memref<?xf32>, %x: memref<?xf32>)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %0 = memref.load %x[%i] : memref<?xf32>
  memref.store %0, %y[%i] : memref<?xf32>
  return
}
