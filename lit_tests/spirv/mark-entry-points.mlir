// RUN: %pykern-opt %s --kern-mark-entry-points | FileCheck %s

// CHECK: gpu.func @k
// CHECK-SAME: spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [8, 4, 1]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {known_block_size = array<i32: 8, 4, 1>} {
      gpu.return
    }
  }
}
