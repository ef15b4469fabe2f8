// RUN: %pykern-opt %s --kern-opaque-zeros | FileCheck %s

// A zero that is written, and a number that loops of known length would tell, are joined with bits from memory; what the
// kernel only reads, other constants and results of arithmetic are not.

// CHECK-LABEL: func.func @mixed
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[WORDS:.*]]: memref<?xi64>)
// CHECK: %[[LAST:.*]] = arith.constant 2 : index
// CHECK: %[[WORD:.*]] = memref.load %[[WORDS]][%[[LAST]]]
// CHECK: %[[SIGN:.*]] = arith.shrui %[[WORD]], %c63
// CHECK: %[[ZERO:.*]] = arith.trunci %[[SIGN]] : i64 to i32
// CHECK: %[[NIL:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: %[[A:.*]] = memref.load %[[X]]
// CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[NIL]]
// CHECK: %[[Q:.*]] = arith.divf %[[P]], %cst
// CHECK: scf.for
// CHECK: %[[J:.*]] = arith.sitofp
// CHECK: %[[BITS:.*]] = arith.bitcast %[[J]] : f32 to i32
// CHECK: %[[JOINED:.*]] = arith.ori %[[BITS]], %[[ZERO]]
// CHECK: %[[KNOWN:.*]] = arith.bitcast %[[JOINED]] : i32 to f32
// CHECK: arith.mulf %[[A]], %[[KNOWN]]
// CHECK: %[[B:.*]] = memref.load %[[Y]]
// CHECK: arith.bitcast %[[B]]
func.func @mixed(%x: memref<?xf32>, %y: memref<?xf32>, %words: memref<?xi64>)
    attributes {kern.kernel, kern.arguments = ["memory", "slot", "slot", "memory", "slot"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %three = arith.constant 3.0 : f32
  %nil = arith.constant 0.0 : f32
  %a = memref.load %x[%c0] : memref<?xf32>
  %p = arith.mulf %a, %nil : f32
  %q = arith.divf %p, %three : f32
  memref.store %q, %y[%c0] : memref<?xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    %w = arith.index_cast %i : index to i64
    %j = arith.sitofp %w : i64 to f32
    %r = arith.mulf %a, %j : f32
    %b = memref.load %y[%i] : memref<?xf32>
    %s = arith.addf %r, %b : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  return
}

// Widths have zeros of their own; a function without arithmetic reads nothing.

// CHECK-LABEL: func.func @wide
// CHECK: %[[SIGN:.*]] = arith.shrui
// CHECK-NOT: arith.trunci
// CHECK: arith.ori %{{.*}}, %[[SIGN]] : i64
// CHECK: math.fma
func.func @wide(%x: memref<?xf64>, %words: memref<?xi64>) attributes {kern.kernel, kern.arguments = ["memory", "slot"]} {
  %c0 = arith.constant 0 : index
  %nil = arith.constant -0.0 : f64
  %a = memref.load %x[%c0] : memref<?xf64>
  %p = math.fma %a, %nil, %a : f64
  memref.store %p, %x[%c0] : memref<?xf64>
  return
}

// CHECK-LABEL: func.func @copies
// CHECK-NOT: memref.load %arg1
func.func @copies(%x: memref<?xf64>, %words: memref<?xi64>) attributes {kern.kernel, kern.arguments = ["memory", "slot"]} {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<?xf64>
  memref.store %a, %x[%c0] : memref<?xf64>
  return
}
