// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-raise-launches{only-parallel=true},canonicalize,cse)" | FileCheck %s

// A product of matrices takes the place of its launch, and so does what runs over independent elements. A sum of
// rows stays a kernel: work-item by work-item it is faster.

// CHECK-LABEL: func.func @program
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf64>, %[[B:.*]]: tensor<8x6xf64>
// CHECK: %[[C:.*]] = linalg.matmul ins(%[[A]], %[[B]] :
// CHECK: %[[D:.*]] = linalg.generic {{.*}}["parallel", "parallel"]{{.*}} outs(%[[C]] :
// CHECK: math.exp
// CHECK: bufferization.to_buffer %[[D]]
// CHECK: "kern.launch"
// CHECK: func.call @row_sum
// CHECK: func.func private @row_sum
// CHECK-NOT: func.func private
func.func @program(%a: tensor<4x8xf64>, %b: tensor<8x6xf64>) -> tensor<4xf64> attributes {kern.program} {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x6xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<4x6xf64>) -> tensor<4x6xf64>
  %cm = bufferization.to_buffer %c : tensor<4x6xf64> to memref<4x6xf64>
  %am = bufferization.to_buffer %a read_only : tensor<4x8xf64> to memref<4x8xf64>
  %bm = bufferization.to_buffer %b read_only : tensor<8x6xf64> to memref<8x6xf64>
  "kern.launch"() ({
    func.call @product(%cm, %am, %bm) : (memref<4x6xf64>, memref<4x8xf64>, memref<8x6xf64>) -> ()
    vector.yield
  }) {ndrange = array<i64: 4, 6>} : () -> ()
  %d = bufferization.to_tensor %cm restrict writable : memref<4x6xf64> to tensor<4x6xf64>
  %dm = bufferization.to_buffer %d : tensor<4x6xf64> to memref<4x6xf64>
  "kern.launch"() ({
    func.call @exponential(%dm) : (memref<4x6xf64>) -> ()
    vector.yield
  }) {ndrange = array<i64: 4, 6>} : () -> ()
  %f = bufferization.to_tensor %dm restrict writable : memref<4x6xf64> to tensor<4x6xf64>
  %fm = bufferization.to_buffer %f read_only : tensor<4x6xf64> to memref<4x6xf64>
  %s = tensor.empty() : tensor<4xf64>
  %sm = bufferization.to_buffer %s : tensor<4xf64> to memref<4xf64>
  "kern.launch"() ({
    func.call @row_sum(%sm, %fm) : (memref<4xf64>, memref<4x6xf64>) -> ()
    vector.yield
  }) {ndrange = array<i64: 4>} : () -> ()
  %r = bufferization.to_tensor %sm restrict writable : memref<4xf64> to tensor<4xf64>
  return %r : tensor<4xf64>
}

func.func private @product(%c: memref<4x6xf64>, %a: memref<4x8xf64>, %b: memref<8x6xf64>)
    attributes {kern.kernel, kern.ndrange = array<i64: 4, 6>, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %j = "kern.global_id"() {dim = 1 : i64} : () -> index
  scf.for %k = %c0 to %c8 step %c1 {
    %0 = memref.load %c[%i, %j] : memref<4x6xf64>
    %1 = memref.load %a[%i, %k] : memref<4x8xf64>
    %2 = memref.load %b[%k, %j] : memref<8x6xf64>
    %3 = arith.mulf %1, %2 : f64
    %4 = arith.addf %0, %3 : f64
    memref.store %4, %c[%i, %j] : memref<4x6xf64>
  }
  return
}

func.func private @exponential(%x: memref<4x6xf64>)
    attributes {kern.kernel, kern.ndrange = array<i64: 4, 6>, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %j = "kern.global_id"() {dim = 1 : i64} : () -> index
  %0 = memref.load %x[%i, %j] : memref<4x6xf64>
  %1 = math.exp %0 : f64
  memref.store %1, %x[%i, %j] : memref<4x6xf64>
  return
}

func.func private @row_sum(%s: memref<4xf64>, %x: memref<4x6xf64>)
    attributes {kern.kernel, kern.ndrange = array<i64: 4>, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f64
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %sum = scf.for %k = %c0 to %c6 step %c1 iter_args(%t = %zero) -> (f64) {
    %0 = memref.load %x[%i, %k] : memref<4x6xf64>
    %1 = arith.addf %t, %0 : f64
    scf.yield %1 : f64
  }
  memref.store %sum, %s[%i] : memref<4xf64>
  return
}

// Lengths that are passed as numbers are known in the raised form, and what stays is the kernel for all launches.

// CHECK-LABEL: func.func @known_lengths
// CHECK: linalg.matmul
// CHECK-NOT: kern.launch
// CHECK: return
func.func @known_lengths(%c: tensor<32xf64>, %a: tensor<24xf64>, %b: tensor<48xf64>) -> tensor<32xf64>
    attributes {kern.program} {
  %m = arith.constant 4 : index
  %n = arith.constant 8 : index
  %terms = arith.constant 6 : index
  %cm = bufferization.to_buffer %c : tensor<32xf64> to memref<32xf64>
  %am = bufferization.to_buffer %a read_only : tensor<24xf64> to memref<24xf64>
  %bm = bufferization.to_buffer %b read_only : tensor<48xf64> to memref<48xf64>
  "kern.launch"() ({
    func.call @flat_product(%cm, %am, %bm, %m, %n, %terms)
        : (memref<32xf64>, memref<24xf64>, memref<48xf64>, index, index, index) -> ()
    vector.yield
  }) {ndrange = array<i64: 16, 16>} : () -> ()
  %r = bufferization.to_tensor %cm restrict writable : memref<32xf64> to tensor<32xf64>
  return %r : tensor<32xf64>
}

func.func private @flat_product(%c: memref<32xf64>, %a: memref<24xf64>, %b: memref<48xf64>,
                                %m: index, %n: index, %terms: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %j = "kern.global_id"() {dim = 1 : i64} : () -> index
  %0 = arith.cmpi slt, %i, %m : index
  %1 = arith.cmpi slt, %j, %n : index
  %2 = arith.andi %0, %1 : i1
  scf.if %2 {
    %sum = scf.for %k = %c0 to %terms step %c1 iter_args(%t = %zero) -> (f64) {
      %ar = arith.muli %i, %terms : index
      %ai = arith.addi %ar, %k : index
      %br = arith.muli %k, %n : index
      %bi = arith.addi %br, %j : index
      %3 = memref.load %a[%ai] : memref<24xf64>
      %4 = memref.load %b[%bi] : memref<48xf64>
      %5 = arith.mulf %3, %4 : f64
      %6 = arith.addf %t, %5 : f64
      scf.yield %6 : f64
    }
    %cr = arith.muli %i, %n : index
    %at = arith.addi %cr, %j : index
    memref.store %sum, %c[%at] : memref<32xf64>
  }
  return
}
