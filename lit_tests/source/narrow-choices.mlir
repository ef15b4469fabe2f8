// RUN: pykern-opt %s --kern-narrow-choices | FileCheck %s

// What is chosen, carried by a loop and negated is rounded where it comes in; what is compared stays as it is.

// CHECK-LABEL: func.func @chosen(
// CHECK: %[[FIRST:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[SIGN:.*]] = %[[FIRST]]) -> (f32)
// CHECK: %[[OTHER:.*]] = arith.negf %[[SIGN]] : f32
// CHECK: %[[BRANCH:.*]] = scf.if {{.*}} -> (f32)
// CHECK: arith.select %{{.*}}, %[[OTHER]], %[[BRANCH]] : f32
// CHECK-NOT: arith.truncf
// CHECK: memref.store %[[SUM]]
func.func @chosen(%memory: memref<?xf32>, %first: f64, %is: i1) attributes {kern.kernel, kern.rank = 1 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %two = arith.constant 2.0 : f64
  %sign = scf.for %i = %zero to %four step %one iter_args(%carried = %first) -> (f64) {
    %other = arith.negf %carried : f64
    %branch = scf.if %is -> (f64) {
      scf.yield %carried : f64
    } else {
      scf.yield %two : f64
    }
    %next = arith.select %is, %other, %branch : f64
    scf.yield %next : f64
  }
  %rounded = arith.truncf %sign : f64 to f32
  memref.store %rounded, %memory[%zero] : memref<?xf32>
  return
}

// CHECK-LABEL: func.func @compared(
// CHECK: arith.select %{{.*}} : f64
// CHECK: arith.truncf
func.func @compared(%memory: memref<?xf32>, %a: f64, %b: f64, %is: i1) attributes {kern.kernel, kern.rank = 1 : i64} {
  %zero = arith.constant 0 : index
  %chosen = arith.select %is, %a, %b : f64
  %less = arith.cmpf olt, %chosen, %a : f64
  scf.if %less {
    %rounded = arith.truncf %chosen : f64 to f32
    memref.store %rounded, %memory[%zero] : memref<?xf32>
  }
  return
}

// A loop carries two of them, and the constant that one begins with is rounded first.

// CHECK-LABEL: func.func @carried_together(
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: scf.for {{.*}} -> (f32, f32)
// CHECK-NOT: f64
// CHECK: return
func.func @carried_together(%memory: memref<?xf32>, %is: i1) attributes {kern.kernel, kern.rank = 1 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %nil = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %t = scf.for %k = %zero to %four step %one iter_args(%old = %half) -> (f64) {
    %both:2 = scf.for %q = %zero to %k step %one iter_args(%s = %nil, %u = %old) -> (f64, f64) {
      %first = arith.select %is, %half, %s : f64
      %second = arith.select %is, %nil, %u : f64
      scf.yield %first, %second : f64, f64
    }
    %rounded = arith.truncf %both#0 : f64 to f32
    memref.store %rounded, %memory[%k] : memref<?xf32>
    scf.yield %both#1 : f64
  }
  %last = arith.truncf %t : f64 to f32
  memref.store %last, %memory[%zero] : memref<?xf32>
  return
}
