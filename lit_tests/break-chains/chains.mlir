// RUN: %pykern-opt %s --kern-break-chains="steps=3 fewest=2" | FileCheck %s
// RUN: %pykern-opt %s --kern-break-chains | FileCheck %s --check-prefix=SHORT

// SHORT-NOT: llvm.intr.fmuladd

// The second sum ends a chain of four steps, and begins a new one.
// CHECK-LABEL: func.func @chain
// CHECK: %[[A:.*]] = arith.mulf
// CHECK: %[[B:.*]] = arith.addf %[[A]]
// CHECK-NOT: arith
// CHECK: %[[C:.*]] = llvm.intr.fmuladd(%[[B]], %{{.*}}, %{{.*}}) {fastmathFlags = #llvm.fastmath<contract>}
// CHECK: %[[D:.*]] = arith.mulf %[[C]]
// CHECK: %[[E:.*]] = arith.addf %[[D]]
// CHECK: memref.store %[[E]]
func.func @chain(%x: memref<?xf32>, %n: index, %k: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = arith.mulf %v, %k fastmath<contract> : f32
    %b = arith.addf %a, %v fastmath<contract> : f32
    %c = arith.mulf %b, %k fastmath<contract> : f32
    %d = arith.addf %c, %v fastmath<contract> : f32
    %e = arith.mulf %d, %k fastmath<contract> : f32
    %f = arith.addf %e, %v fastmath<contract> : f32
    memref.store %f, %x[%i] : memref<?xf32>
  }
  return
}

// Differences, and the product on the right.
// CHECK-LABEL: func.func @differences
// CHECK: %[[A:.*]] = math.sqrt
// CHECK: %[[N:.*]] = arith.negf %{{.*}} : f64
// CHECK: %[[F:.*]] = llvm.intr.fmuladd(%{{.*}}, %{{.*}}, %[[N]])
// CHECK: %[[M:.*]] = arith.negf %{{.*}} : f64
// CHECK: llvm.intr.fmuladd(%[[M]], %{{.*}}, %{{.*}})
func.func @differences(%x: memref<?xf64>, %n: index, %k: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %r = math.sqrt %v : f64
    %a = arith.addf %r, %k : f64
    %b = arith.addf %a, %k : f64
    %c = arith.mulf %b, %k fastmath<contract> : f64
    %d = arith.subf %c, %v fastmath<contract> : f64
    %e = arith.subf %d, %k : f64
    %f = arith.subf %e, %k : f64
    %g = arith.mulf %f, %k fastmath<contract> : f64
    %h = arith.subf %v, %g fastmath<contract> : f64
    memref.store %h, %x[%i] : memref<?xf64>
  }
  return
}

// Not what is not contracted, nor a product that others read, nor what goes from iteration to iteration.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: llvm.intr.fmuladd
// CHECK: return
func.func @kept(%x: memref<?xf32>, %n: index, %k: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %k) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = arith.addf %v, %k : f32
    %b = arith.addf %a, %k : f32
    %c = arith.mulf %b, %k : f32
    %d = arith.addf %c, %v fastmath<contract> : f32
    %e = arith.mulf %d, %k fastmath<contract> : f32
    %f = arith.addf %e, %v fastmath<contract> : f32
    %g = arith.addf %f, %e : f32
    %h = arith.mulf %g, %k fastmath<contract> : f32
    %t = arith.addf %h, %s fastmath<contract> : f32
    scf.yield %t : f32
  }
  return %r : f32
}

// Branches are steps, too; loops around others are left alone.
// CHECK-LABEL: func.func @branches
// CHECK: scf.if
// CHECK: llvm.intr.fmuladd
// CHECK: } else {
// CHECK-NOT: llvm.intr.fmuladd
// CHECK: return
func.func @branches(%x: memref<?xf32>, %n: index, %k: f32, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = arith.addf %v, %k : f32
    %b = arith.addf %a, %k : f32
    %y = scf.if %p -> f32 {
      %c = arith.mulf %b, %k fastmath<contract> : f32
      %d = arith.addf %c, %v fastmath<contract> : f32
      scf.yield %d : f32
    } else {
      scf.yield %v : f32
    }
    memref.store %y, %x[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = arith.addf %v, %k : f32
    %b = arith.addf %a, %k : f32
    %c = arith.mulf %b, %k fastmath<contract> : f32
    %d = arith.addf %c, %v fastmath<contract> : f32
    memref.store %d, %x[%i] : memref<?xf32>
    scf.for %j = %c0 to %n step %c1 {
      memref.store %d, %x[%j] : memref<?xf32>
    }
  }
  return
}

// Nor loops that LLVM is told to leave, nor those of vectors.
// CHECK-LABEL: func.func @others
// CHECK-NOT: llvm.intr.fmuladd
// CHECK: return
func.func @others(%x: memref<?xf32>, %n: index, %k: f32, %v: vector<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %w = memref.load %x[%i] : memref<?xf32>
    %a = arith.addf %w, %k : f32
    %b = arith.addf %a, %k : f32
    %c = arith.mulf %b, %k fastmath<contract> : f32
    %d = arith.addf %c, %w fastmath<contract> : f32
    memref.store %d, %x[%i] : memref<?xf32>
  } {llvm.loop_annotation = #llvm.loop_annotation<vectorize = <disable = true>>}
  scf.for %i = %c0 to %n step %c1 {
    %w = memref.load %x[%i] : memref<?xf32>
    %a = arith.addf %w, %k : f32
    %b = arith.addf %a, %k : f32
    %c = arith.mulf %b, %k fastmath<contract> : f32
    %d = arith.addf %c, %w fastmath<contract> : f32
    memref.store %d, %x[%i] : memref<?xf32>
    vector.store %v, %x[%i] : memref<?xf32>, vector<8xf32>
  }
  return
}
