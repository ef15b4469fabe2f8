// RUN: %pykern-opt %s --kern-join-nan-tests | FileCheck %s

// A sorting network of three numbers: two comparisons instead of six.
// CHECK-LABEL: func.func @median
// CHECK: arith.minimumf %arg0, %arg1 fastmath<nnan,nsz> : f32
// CHECK: arith.minimumf
// CHECK: %[[OUT:.*]] = arith.maximumf %{{.*}} fastmath<nnan,nsz> : f32
// CHECK: %[[AB:.*]] = arith.cmpf ord, %arg0, %arg1 : f32
// CHECK: %[[CC:.*]] = arith.cmpf ord, %arg2, %arg2 : f32
// CHECK: %[[ALL:.*]] = arith.andi %[[AB]], %[[CC]] : i1
// CHECK: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK: %[[R:.*]] = arith.select %[[ALL]], %[[OUT]], %[[NAN]] : f32
// CHECK: return %[[R]]
func.func @median(%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = arith.minimumf %a, %b : f32
  %1 = arith.maximumf %a, %b : f32
  %2 = arith.minimumf %1, %c : f32
  %3 = arith.maximumf %0, %2 : f32
  return %3 : f32
}

// A number of which it is known that it is none needs no test, and then there is nothing to gain.
// CHECK-LABEL: func.func @clamp
// CHECK-NOT: cmpf
// CHECK-NOT: nnan
// CHECK: return
func.func @clamp(%a: vector<8xf32>, %n: i32) -> vector<8xf32> {
  %least = arith.constant dense<0.0> : vector<8xf32>
  %most = arith.sitofp %n : i32 to f32
  %all = vector.broadcast %most : f32 to vector<8xf32>
  %0 = arith.maximumf %a, %least : vector<8xf32>
  %1 = arith.minimumf %0, %all : vector<8xf32>
  return %1 : vector<8xf32>
}

// Extremes of the same numbers share their test; those of others have one of their own.
// CHECK-LABEL: func.func @two_results
// CHECK-COUNT-3: arith.cmpf ord
// CHECK-NOT: cmpf
// CHECK: return
func.func @two_results(%a: f32, %b: f32, %c: f32) -> (f32, f32, f32) {
  %0 = arith.maximumf %a, %b : f32
  %1 = arith.minimumf %a, %b : f32
  %2 = arith.maximumf %0, %c : f32
  %3 = arith.minimumf %1, %c : f32
  %4 = arith.maximumf %3, %1 : f32
  %5 = arith.minimumf %2, %4 : f32
  return %5, %4, %0 : f32, f32, f32
}

// What the iteration before gives comes late: it would wait for one more choice.
// CHECK-LABEL: func.func @carried
// CHECK-NOT: cmpf
// CHECK: return
func.func @carried(%x: memref<?xf32>, %first: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%held = %first) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = arith.addf %held, %v : f32
    %b = arith.maximumf %a, %first : f32
    %c = arith.maximumf %b, %v : f32
    %d = arith.minimumf %c, %first : f32
    scf.yield %d : f32
  }
  return %r : f32
}
