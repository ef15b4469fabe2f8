// RUN: %pykern-opt %s --kern-split-edges --canonicalize --cse | FileCheck %s

// A clamped index: rims at both ends in one loop, and the interior, in which the index moves along memory. The clamp of
// the row is computed once a row anyway.

// CHECK-LABEL: func.func @clamped
// CHECK: scf.for %[[I:.*]] = %arg2 to %arg3
// CHECK:   %[[FIRST:.*]] = arith.minsi %arg4, %c1
// CHECK:   %[[LAST:.*]] = arith.maxsi %[[FIRST]]
// CHECK:   scf.for %[[PART:.*]] = %c0 to %c2
// CHECK:     scf.for
// CHECK:       arith.maxsi
// CHECK:       arith.minsi
// CHECK:     } {llvm.loop_annotation
// CHECK:   } {llvm.loop_annotation
// CHECK:   scf.for %[[J:.*]] = %[[FIRST]] to %[[LAST]]
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK:   } {kern.items}
func.func @clamped(%o: memref<?x?xf32>, %t: memref<?x?xf32>, %lo: index, %hi: index, %m: index) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = memref.dim %t, %c1 : memref<?x?xf32>
  %end = arith.subi %w, %c1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %a = arith.subi %j, %c1 : index
      %left = arith.maxsi %a, %c0 : index
      %b = arith.addi %j, %c1 : index
      %right = arith.minsi %b, %end : index
      %x = memref.load %t[%i, %left] : memref<?x?xf32>
      %y = memref.load %t[%i, %right] : memref<?x?xf32>
      %s = arith.addf %x, %y : f32
      memref.store %s, %o[%i, %j] : memref<?x?xf32>
    } {kern.items}
  }
  return
}

// A branch that tests the row splits the loop over rows, too.

// CHECK-LABEL: func.func @branch
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK:   scf.if
// CHECK: } {llvm.loop_annotation
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK:   } {kern.items}
func.func @branch(%o: memref<?x?xf32>, %t: memref<?x?xf32>, %lo: index, %hi: index, %m: index) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %below = arith.cmpi sgt, %i, %c0 : index
    scf.for %j = %c0 to %m step %c1 {
      %s = scf.if %below -> f32 {
        %a = arith.subi %i, %c1 : index
        %x = memref.load %t[%a, %j] : memref<?x?xf32>
        scf.yield %x : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %s, %o[%i, %j] : memref<?x?xf32>
    } {kern.items}
  }
  return
}

// A selected number is left to vectors, a comparison far from the ends stays, and so does one of two work-items' indices.

// CHECK-LABEL: func.func @stays
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
func.func @stays(%o: memref<?x?xf32>, %x: f32, %y: f32, %lo: index, %hi: index, %m: index) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c500 = arith.constant 500 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %first = arith.cmpi eq, %j, %c0 : index
      %s = arith.select %first, %x, %y : f32
      memref.store %s, %o[%i, %j] : memref<?x?xf32>
      %far = arith.cmpi slt, %j, %c500 : index
      scf.if %far {
        memref.store %x, %o[%j, %i] : memref<?x?xf32>
      }
      %diagonal = arith.cmpi eq, %i, %j : index
      scf.if %diagonal {
        memref.store %y, %o[%j, %j] : memref<?x?xf32>
      }
    } {kern.items}
  }
  return
}

// A test in a loop of the work-item's own: the interior is where it holds for all iterations, of any length.

// CHECK-LABEL: func.func @filter
// CHECK: %[[LENGTH:.*]] = memref.dim %arg2
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK:   scf.for
// CHECK:     scf.for
// CHECK:       scf.if
// CHECK: scf.for
// CHECK:   scf.for %{{.*}} = %c0 to %[[LENGTH]]
// CHECK-NOT: scf.if
// CHECK:   } {kern.items}
func.func @filter(%o: memref<?xf32>, %t: memref<?xf32>, %w: memref<?xf32>, %lo: index, %hi: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %t, %c0 : memref<?xf32>
  %l = memref.dim %w, %c0 : memref<?xf32>
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %a = %c0 to %l step %c1 iter_args(%sum = %zero) -> (f32) {
      %shifted = arith.addi %i, %a : index
      %at = arith.subi %shifted, %c1 : index
      %below = arith.cmpi sge, %at, %c0 : index
      %above = arith.cmpi slt, %at, %n : index
      %inside = arith.andi %below, %above : i1
      %x = scf.if %inside -> f32 {
        %y = memref.load %t[%at] : memref<?xf32>
        scf.yield %y : f32
      } else {
        scf.yield %zero : f32
      }
      %next = arith.addf %sum, %x : f32
      scf.yield %next : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// The bounds of a loop that are clamped: in the interior, where every window is whole, they are not. Of every second
// element the interior ends at half of the length.

// CHECK-LABEL: func.func @window
// CHECK: %[[HALF:.*]] = arith.ceildivsi %{{.*}}, %c2
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK:   scf.for
// CHECK:     arith.minsi
// CHECK:     scf.for
// CHECK: scf.for
// CHECK-NOT: arith.minsi
// CHECK: } {kern.items}
func.func @window(%o: memref<?xf32>, %t: memref<?xf32>, %lo: index, %hi: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %t, %c0 : memref<?xf32>
  scf.for %i = %lo to %hi step %c1 {
    %first = arith.muli %i, %c2 : index
    %behind = arith.addi %first, %c3 : index
    %end = arith.minsi %behind, %n : index
    %s = scf.for %k = %first to %end step %c1 iter_args(%sum = %zero) -> (f32) {
      %x = memref.load %t[%k] : memref<?xf32>
      %next = arith.addf %sum, %x : f32
      scf.yield %next : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// An offset that a table gives is read in front of the loop, where it lies in the table. If it is small, the interior
// has neither the test nor sums of 32 bits.

// CHECK-LABEL: func.func @offset
// CHECK: %[[C:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK-NEXT: memref.load %arg2
// CHECK: arith.index_cast %[[C]] : i32 to index
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK:   scf.for
// CHECK:     arith.cmpi slt, %{{.*}} : i32
// CHECK: scf.for %[[J:.*]] =
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[J]], %{{.*}} : index
// CHECK-NEXT: memref.load %arg1[%[[AT]]]
// CHECK: } {kern.items}
func.func @offset(%o: memref<?xf32>, %t: memref<?xf32>, %e: memref<?xi32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %t, %c0 : memref<?xf32>
  %length = arith.index_cast %n : index to i32
  scf.for %j = %lo to %hi step %c1 {
    %c = memref.load %e[%c0] : memref<?xi32>
    %j32 = arith.index_cast %j : index to i32
    %x = arith.subi %j32, %c : i32
    %below = arith.cmpi slt, %x, %zero : i32
    %there = scf.if %below -> (i32) {
      %y = arith.addi %x, %length : i32
      scf.yield %y : i32
    } else {
      scf.yield %x : i32
    }
    %at = arith.index_cast %there : i32 to index
    %v = memref.load %t[%at] : memref<?xf32>
    memref.store %v, %o[%j] : memref<?xf32>
  } {kern.items}
  return
}

// An array that is padded by a program: the nest of a program has rims, too. A loop that reads what it writes has none.

// CHECK-LABEL: func.func private @padded
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.maxsi
// CHECK: scf.for %[[J:.*]] = %c1 to %c642
// CHECK-NOT: arith.maxsi
// CHECK: %[[AT:.*]] = arith.subi %[[J]], %c1
// CHECK-NEXT: memref.load %arg1[%{{.*}}, %[[AT]]]
// CHECK-LABEL: func.func private @in_place
// CHECK: scf.for
// CHECK: arith.maxsi
// CHECK-NOT: scf.for
// CHECK: return
func.func private @padded(%a: memref<482x643xi32>, %b: memref<480x641xi32>, %lo: index, %hi: index)
    attributes {kern.nest, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c643 = arith.constant 643 : index
  %c640 = arith.constant 640 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %c643 step %c1 {
      %m = arith.subi %j, %c1 : index
      %n = arith.maxsi %m, %c0 : index
      %k = arith.minsi %n, %c640 : index
      %v = memref.load %b[%i, %k] : memref<480x641xi32>
      memref.store %v, %a[%i, %j] : memref<482x643xi32>
    }
  }
  return
}

func.func private @in_place(%a: memref<643xi32>) attributes {kern.nest, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c643 = arith.constant 643 : index
  scf.for %j = %c0 to %c643 step %c1 {
    %m = arith.subi %j, %c1 : index
    %k = arith.maxsi %m, %c0 : index
    %v = memref.load %a[%k] : memref<643xi32>
    memref.store %v, %a[%j] : memref<643xi32>
  }
  return
}
