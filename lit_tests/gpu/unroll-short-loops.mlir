// RUN: %pykern-opt %s --kern-unroll-short-loops --canonicalize --cse | FileCheck %s

// The taps of a filter are written out, inner loops first, and read what lies at constant distances.

// CHECK-LABEL: func.func @taps
// CHECK-NOT: scf.for
// CHECK-COUNT-6: memref.load
// CHECK-NOT: memref.load
// CHECK: return
func.func @taps(%x: memref<?x?xf32>, %i: index, %j: index, %zero: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %total = scf.for %a = %c0 to %c2 step %c1 iter_args(%outer = %zero) -> (f32) {
    %row = scf.for %b = %c0 to %c3 step %c1 iter_args(%inner = %outer) -> (f32) {
      %at = arith.addi %i, %a : index
      %of = arith.addi %j, %b : index
      %value = memref.load %x[%at, %of] : memref<?x?xf32>
      %next = arith.addf %inner, %value : f32
      scf.yield %next : f32
    }
    scf.yield %row : f32
  }
  return %total : f32
}

// Loops with a barrier, of many iterations, of unknown length, and those that touch no memory stay.

// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: scf.for
func.func @others(%x: memref<?xf32>, %n: index, %zero: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c100 = arith.constant 100 : index
  scf.for %a = %c0 to %c2 step %c1 {
    memref.store %zero, %x[%a] : memref<?xf32>
    gpu.barrier
  }
  scf.for %a = %c0 to %c100 step %c1 {
    memref.store %zero, %x[%a] : memref<?xf32>
  }
  scf.for %a = %c0 to %n step %c1 {
    memref.store %zero, %x[%a] : memref<?xf32>
  }
  %sum = scf.for %a = %c0 to %c2 step %c1 iter_args(%so_far = %zero) -> (f32) {
    %next = arith.addf %so_far, %so_far : f32
    scf.yield %next : f32
  }
  return %sum : f32
}
