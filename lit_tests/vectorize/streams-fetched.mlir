// RUN: %pykern-opt %s --split-input-file --kern-vectorize-streams | FileCheck %s
// RUN: %pykern-opt %s --split-input-file --kern-vectorize-streams=first-cache-bytes=49152 | FileCheck %s --check-prefix=LARGER

// Two rows of 16 KiB that all others read again fill a first cache of 32 KiB: what is not read again is fetched ahead.

// CHECK-LABEL: func.func @scale_and_shift
// CHECK-SAME: %[[Z:.*]]: memref<?x4096xf32>, %[[X:.*]]: memref<?x4096xf32>, %[[F:.*]]: memref<4096xf32>
// CHECK: %[[PAGES:.*]] = arith.constant 2048 : index
// CHECK-NEXT: %[[AHEAD:.*]] = arith.addi %{{.*}}, %[[PAGES]] : index
// CHECK-NEXT: memref.prefetch %[[X]][%{{.*}}, %[[AHEAD]]], read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: nontemporal
// LARGER-LABEL: func.func @scale_and_shift
// LARGER-NOT: memref.prefetch
// LARGER: nontemporal
func.func @scale_and_shift(%z: memref<?x4096xf32>, %x: memref<?x4096xf32>, %f: memref<4096xf32>,
                           %b: memref<4096xf32>, %n: index) attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 4096 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x4096xf32>
      %factor = memref.load %f[%j] : memref<4096xf32>
      %shift = memref.load %b[%j] : memref<4096xf32>
      %p = arith.mulf %a, %factor : f32
      %s = arith.addf %p, %shift : f32
      memref.store %s, %z[%i, %j] : memref<?x4096xf32>
    }
  }
  return
}

// -----

// One such row leaves enough of it, however long it is.

// CHECK-LABEL: func.func @shift
// CHECK-NOT: memref.prefetch
// CHECK: nontemporal
// LARGER-LABEL: func.func @shift
func.func @shift(%z: memref<?x16384xf32>, %x: memref<?x16384xf32>, %b: memref<16384xf32>, %n: index)
    attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 16384 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x16384xf32>
      %shift = memref.load %b[%j] : memref<16384xf32>
      %s = arith.addf %a, %shift : f32
      memref.store %s, %z[%i, %j] : memref<?x16384xf32>
    }
  }
  return
}
