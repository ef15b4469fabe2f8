// RUN: %pykern-opt %s --kern-scratch-rows --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-scratch-rows --kern-vectorize-streams --canonicalize --cse | FileCheck %s --check-prefix=STREAM

// Where all arrays are larger than the cache the exponentials wait in scratch, which is on the stack where a row has
// 64 KiB at most; the result is only written, by the last loop, so that it may go past the cache. Else they wait in the
// row of the result itself.

// CHECK-LABEL: func.func @softmax
// CHECK-SAME: kern.rows
// CHECK: %[[LARGE:.*]] = arith.cmpi sge, %{{.*}}, %c33554432
// CHECK: %[[STACK:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16384xf32>
// CHECK: %[[FITS:.*]] = arith.cmpi sle, %[[LENGTH:.*]], %c16384
// CHECK: %[[MOST:.*]] = arith.select %[[LARGE]], %[[LENGTH]], %c0
// CHECK: %[[LONG:.*]] = arith.select %[[FITS]], %c0, %[[MOST]]
// CHECK: %[[HEAP:.*]] = memref.alloc(%[[LONG]]) : memref<?xf32>
// CHECK: %[[SCRATCH:.*]] = arith.select %[[FITS]], %{{.*}}, %[[HEAP]] : memref<?xf32>
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[OWN:.*]] = memref.subview %arg0[%[[I]], 0] [1, %{{.*}}] [1, 1] {kern.kept_row}
// CHECK: %[[OTHER:.*]] = memref.cast %[[SCRATCH]]
// CHECK: %[[ROW:.*]] = arith.select %[[LARGE]], %[[OTHER]], %[[OWN]] : memref<?xf32, strided<[1], offset: ?>>
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args
// CHECK: memref.store %{{.*}}, %[[ROW]][%[[J]]]
// CHECK: scf.for %[[K:.*]] =
// CHECK: memref.load %[[ROW]][%[[K]]]
// CHECK: memref.store %{{.*}}, %arg0[%[[I]], %[[K]]]
// CHECK: memref.dealloc %[[HEAP]]
// CHECK-NEXT: return

// STREAM-LABEL: func.func @softmax
// STREAM: vector.store %{{.*}}, %arg0[%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// STREAM: return
func.func @softmax(%y: memref<?x?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %e = math.exp %u : f32
      memref.store %e, %y[%i, %j] : memref<?x?xf32>
      %t = arith.addf %held, %e fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %y[%i, %j] : memref<?x?xf32>
      %q = arith.divf %e, %s : f32
      memref.store %q, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// Rows of a known length are on the stack alone, and arrays of known lengths that fit the cache stay as they are.

// CHECK-LABEL: func.func @static
// CHECK: %[[STACK:.*]] = memref.alloca() {alignment = 64 : i64} : memref<100xf32>
// CHECK-NOT: memref.alloc(
// CHECK: %[[ROW:.*]] = arith.select
// CHECK: memref.store %{{.*}}, %[[ROW]]
// CHECK: return
// CHECK-LABEL: func.func @small
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @static(%y: memref<?x100xf32>, %x: memref<?x100xf32>, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c100 step %c1 {
      %u = memref.load %x[%i, %j] : memref<?x100xf32>
      memref.store %u, %y[%i, %j] : memref<?x100xf32>
    }
    scf.for %j = %c0 to %c100 step %c1 {
      %u = memref.load %y[%i, %j] : memref<?x100xf32>
      %v = arith.addf %u, %u : f32
      memref.store %v, %y[%i, %j] : memref<?x100xf32>
    }
  }
  return
}

func.func @small(%y: memref<8x100xf32>, %x: memref<8x100xf32>) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c100 step %c1 {
      %u = memref.load %x[%i, %j] : memref<8x100xf32>
      memref.store %u, %y[%i, %j] : memref<8x100xf32>
    }
    scf.for %j = %c0 to %c100 step %c1 {
      %u = memref.load %y[%i, %j] : memref<8x100xf32>
      %v = arith.addf %u, %u : f32
      memref.store %v, %y[%i, %j] : memref<8x100xf32>
    }
  }
  return
}

// Left alone: what the array held before is read; the last loop is shorter, so a part of what the first one wrote
// is a result; another row is read.

// CHECK-LABEL: func.func @read_first
// CHECK-NOT: memref.alloca
// CHECK-LABEL: func.func @shorter
// CHECK-NOT: memref.alloca
// CHECK-LABEL: func.func @another_row
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @read_first(%y: memref<?x?xf32>, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %y[%i, %j] : memref<?x?xf32>
      %t = arith.addf %held, %u : f32
      scf.yield %t : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      memref.store %s, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

func.func @shorter(%y: memref<?x?xf32>, %x: memref<?x?xf32>, %n: index, %m: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      memref.store %u, %y[%i, %j] : memref<?x?xf32>
    }
    scf.for %j = %c0 to %m step %c1 {
      %u = memref.load %y[%i, %j] : memref<?x?xf32>
      %v = arith.addf %u, %u : f32
      memref.store %v, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

func.func @another_row(%y: memref<?x?xf32>, %x: memref<?x?xf32>, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %n step %c1 {
    %above = arith.subi %i, %c1 : index
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      memref.store %u, %y[%i, %j] : memref<?x?xf32>
    }
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %y[%above, %j] : memref<?x?xf32>
      memref.store %u, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
