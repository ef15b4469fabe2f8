// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-vectorize-items,canonicalize,cse)" | FileCheck %s

// Sixteen work-items at a time: what they share stays scalar, the rows of x are copied into lane order, and
// the rest of the work-items run as before.

// CHECK-LABEL: func.func @distances
// CHECK: %[[ROWS:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x16xf64>
// CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.*}} step %c16
// CHECK: scf.for
// CHECK: vector.from_elements
// CHECK: vector.store %{{.*}}, %[[ROWS]]
// CHECK: %[[SUM:[a-z0-9]+]] = scf.for {{.*}} -> (vector<16xf64>)
// CHECK: scf.for %[[J:[a-z0-9]+]] = {{.*}} -> (vector<16xf64>)
// CHECK: memref.load %{{.*}} : memref<?x?xf64>
// CHECK: vector.load %[[ROWS]][%[[J]], %c0]
// CHECK: "kern.push"(%{{.*}}) {kern.site = 0 : i64} : (vector<16xf64>) -> ()
// CHECK: "kern.push"(%{{.*}}) {kern.site = 1 : i64} : (index) -> ()
// CHECK: "kern.pop"() {kern.site = 1 : i64} : () -> index
// CHECK: "kern.pop"() {kern.site = 0 : i64} : () -> vector<16xf64>
// CHECK: %[[ONE:.*]] = vector.reduction <add>, %{{.*}}, %{{.*}} fastmath<reassoc,contract> : vector<16xf64> into f64
// CHECK: "kern.atomic_rmw"(%[[ONE]], %{{.*}}) {kern.launch_scope, kind = "add"} : (f64,
// CHECK: vector.store %[[SUM]], %{{.*}}[%[[I]]]
// CHECK: scf.for {{.*}} step %c1
// CHECK: kern.atomic_rmw
// CHECK: llvm.loop_annotation
// CHECK: memref.dealloc %[[ROWS]]
func.func @distances(%out: memref<?xf64>, %x: memref<?x?xf64>, %m: memref<?x?xf64>, %t: memref<?xf64>,
                     %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %d = memref.dim %x, %c1 : memref<?x?xf64>
  %n = memref.dim %m, %c0 : memref<?x?xf64>
  scf.for %i = %lo to %hi step %c1 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%all = %zero) -> (f64) {
      %part = scf.for %j = %c0 to %d step %c1 iter_args(%s = %all) -> (f64) {
        %a = memref.load %m[%k, %j] : memref<?x?xf64>
        %b = memref.load %x[%i, %j] : memref<?x?xf64>
        %c = arith.subf %a, %b : f64
        %e = arith.addf %s, %c : f64
        scf.yield %e : f64
      }
      "kern.push"(%part) {kern.site = 0 : i64} : (f64) -> ()
      "kern.push"(%k) {kern.site = 1 : i64} : (index) -> ()
      scf.yield %part : f64
    }
    scf.for %k = %c0 to %n step %c1 {
      %g = "kern.pop"() {kern.site = 1 : i64} : () -> index
      %h = "kern.pop"() {kern.site = 0 : i64} : () -> f64
      %old = "kern.atomic_rmw"(%h, %t, %g) {kind = "add", kern.launch_scope} : (f64, memref<?xf64>, index) -> f64
    }
    memref.store %sum, %out[%i] : memref<?xf64>
  } {kern.items}
  return
}

// -----

// How often the loop runs depends on the work-item, and so does where it is read: it stays scalar.

// CHECK-LABEL: func.func @triangle
// CHECK-NOT: vector
// CHECK: return
func.func @triangle(%out: memref<?xf64>, %x: memref<?x?xf64>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %lo to %hi step %c1 {
    %sum = scf.for %k = %c0 to %i step %c1 iter_args(%s = %zero) -> (f64) {
      %a = memref.load %x[%i, %k] : memref<?x?xf64>
      %e = arith.addf %s, %a : f64
      scf.yield %e : f64
    }
    memref.store %sum, %out[%i] : memref<?xf64>
  } {kern.items}
  return
}

// -----

// A row a work-item, read once: each lane would load by itself.

// CHECK-LABEL: func.func @row_sums
// CHECK-NOT: vector
// CHECK: return
func.func @row_sums(%out: memref<?xf64>, %x: memref<?x?xf64>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %d = memref.dim %x, %c1 : memref<?x?xf64>
  scf.for %i = %lo to %hi step %c1 {
    %sum = scf.for %k = %c0 to %d step %c1 iter_args(%s = %zero) -> (f64) {
      %a = memref.load %x[%i, %k] : memref<?x?xf64>
      %e = arith.addf %s, %a : f64
      scf.yield %e : f64
    }
    memref.store %sum, %out[%i] : memref<?xf64>
  } {kern.items}
  return
}

// -----

// The same with more arithmetic, as in a layer norm: the loop along the row is vectors by itself.

// CHECK-LABEL: func.func @row_squares
// CHECK-NOT: vector
// CHECK: return
func.func @row_squares(%out: memref<?xf64>, %x: memref<?x?xf64>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %d = memref.dim %x, %c1 : memref<?x?xf64>
  scf.for %i = %lo to %hi step %c1 {
    %sum = scf.for %k = %c0 to %d step %c1 iter_args(%s = %zero) -> (f64) {
      %a = memref.load %x[%i, %k] : memref<?x?xf64>
      %e = arith.addf %s, %a : f64
      scf.yield %e : f64
    }
    %squares = scf.for %k = %c0 to %d step %c1 iter_args(%s = %zero) -> (f64) {
      %a = memref.load %x[%i, %k] : memref<?x?xf64>
      %b = arith.subf %a, %sum : f64
      %q = arith.mulf %b, %b : f64
      %e = arith.addf %s, %q : f64
      scf.yield %e : f64
    }
    memref.store %squares, %out[%i] : memref<?xf64>
  } {kern.items}
  return
}

// -----

// Lanes of private memory lie side by side; a branch without effects becomes a choice.

// CHECK-LABEL: func.func @stack
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<4x32xf32>
// CHECK: vector.store %{{.*}} : memref<4x32xf32>, vector<32xf32>
// CHECK: arith.select %{{.*}} : vector<32xi1>, vector<32xf32>
func.func @stack(%out: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %p = memref.alloca() : memref<4xf32>
  scf.for %i = %lo to %hi step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    scf.for %k = %c0 to %c4 step %c1 {
      memref.store %v, %p[%k] : memref<4xf32>
    }
    %more = arith.cmpf ogt, %v, %zero : f32
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (f32) {
      %a = memref.load %p[%k] : memref<4xf32>
      %e = scf.if %more -> (f32) {
        %y = arith.addf %s, %a : f32
        scf.yield %y : f32
      } else {
        scf.yield %s : f32
      }
      scf.yield %e : f32
    }
    memref.store %sum, %out[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// A factor that lanes share stands before the sum over lanes, which then does not depend on the loop.

// CHECK-LABEL: func.func @factors
// CHECK: scf.for {{.*}} step %c16
// CHECK: %[[V:.*]] = vector.load
// CHECK: scf.for
// CHECK: %[[F:.*]] = memref.load
// CHECK: %[[S:.*]] = vector.reduction <add>, %[[V]]
// CHECK: %[[P:.*]] = arith.mulf %[[F]], %[[S]] : f64
// CHECK: %[[N:.*]] = arith.negf %[[P]] : f64
// CHECK: "kern.atomic_rmw"(%[[N]],
func.func @factors(%x: memref<?xf64>, %w: memref<?xf64>, %t: memref<?xf64>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %w, %c0 : memref<?xf64>
  scf.for %i = %lo to %hi step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    scf.for %k = %c0 to %n step %c1 {
      %a = memref.load %w[%k] : memref<?xf64>
      %m = arith.mulf %v, %a : f64
      %g = arith.negf %m : f64
      %old = "kern.atomic_rmw"(%g, %t, %k) {kind = "add", kern.launch_scope} : (f64, memref<?xf64>, index) -> f64
    }
  } {kern.items}
  return
}

// -----

// Branches within branches are selects of selects; without floats lanes are those of the widest integers.

// CHECK-LABEL: func.func @integers
// CHECK: scf.for {{.*}} step %c32
// CHECK: scf.for {{.*}} -> (vector<32xi32>)
// CHECK-NOT: scf.if
// CHECK: %[[INNER:.*]] = arith.select %{{.*}} : vector<32xi1>, vector<32xi32>
// CHECK-NEXT: %[[OUTER:.*]] = arith.select %{{.*}}, %{{.*}}, %[[INNER]] : vector<32xi1>, vector<32xi32>
// CHECK-NEXT: scf.yield %[[OUTER]]
func.func @integers(%x: memref<?xi32>, %n: index, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %nine = arith.constant 9 : i32
  scf.for %i = %lo to %hi step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %v) -> (i32) {
      %low = arith.cmpi slt, %s, %zero : i32
      %a = scf.if %low -> (i32) {
        %y = arith.addi %s, %nine : i32
        scf.yield %y : i32
      } else {
        %high = arith.cmpi sgt, %s, %nine : i32
        %b = scf.if %high -> (i32) {
          %y = arith.subi %s, %nine : i32
          scf.yield %y : i32
        } else {
          %y = arith.muli %s, %v : i32
          scf.yield %y : i32
        }
        scf.yield %b : i32
      }
      scf.yield %a : i32
    }
    memref.store %r, %x[%i] : memref<?xi32>
  } {kern.items}
  return
}
