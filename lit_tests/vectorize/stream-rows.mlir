// RUN: %pykern-opt %s --split-input-file --kern-vectorize-streams | FileCheck %s

// Loops that read several rows of an array have to be 96 vectors long, others 4.

// CHECK-LABEL: func.func @two_rows
// CHECK: arith.constant 1536 : index
// CHECK: nontemporal
func.func @two_rows(%z: memref<?x?xf32>, %x: memref<?x?xf32>, %n: index, %m: index)
    attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %below = arith.addi %i, %c1 : index
    scf.for %j = %c0 to %m step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x?xf32>
      %b = memref.load %x[%below, %j] : memref<?x?xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %z[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// -----

// CHECK-LABEL: func.func @one_row
// CHECK-NOT: arith.constant 1536 : index
// CHECK: arith.constant 64 : index
// CHECK: nontemporal
func.func @one_row(%z: memref<?x?xf32>, %x: memref<?x?xf32>, %n: index, %m: index)
    attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x?xf32>
      %next = arith.addi %j, %c1 : index
      %b = memref.load %x[%i, %next] : memref<?x?xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %z[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
