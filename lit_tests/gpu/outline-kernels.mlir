// RUN: %pykern-opt %s --kern-outline-kernels | FileCheck %s

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @pykern
// CHECK: gpu.func @kern_k(%[[X:.*]]: memref<?xf32> {llvm.noalias}, %{{.*}}: i64) kernel attributes {
// CHECK-SAME: kern.workgroup = array<i64: 2, 3, 4, 8>
// CHECK-SAME: known_block_size = array<i32: 8, 4, 6>
// CHECK: func.call @helper
// CHECK: gpu.return
func.func @k(%x: memref<?xf32> {llvm.noalias}, %n: i64) attributes {kern.kernel, kern.rank = 4 : i64, kern.workgroup = array<i64: 2, 3, 4, 8>} {
  func.call @helper() : () -> ()
  return
}

// A derivative of a kernel: PTX takes no dot in a name.

// CHECK: gpu.func @kern_k_vjp(
func.func @k.vjp(%x: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 8>} {
  return
}

// CHECK: func.func private @helper
func.func private @helper()
