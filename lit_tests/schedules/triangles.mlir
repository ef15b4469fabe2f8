// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},kern-apply-schedules)" | FileCheck %s --check-prefix=SAID
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},kern-apply-schedules,kern-emit-register-tiles,canonicalize,cse)" | FileCheck %s

// A tile beyond the diagonal is left out: its last row is compared with its first column.

// SAID-LABEL: func.func private @lower.nest2
// SAID: linalg.generic
// SAID: linalg.index
// SAID: arith.cmpi sge
// SAID: arith.select

// Threads share half of the 32 tiles of rows, `lo..hi`, and take as many from the end: the work is the same for all.

// CHECK-LABEL: func.func private @lower.nest2
// CHECK-SAME: [[LO:%arg3]]: index, [[HI:%arg4]]: index)
// CHECK: scf.for %[[SIDE:.*]] = %c0 to %c2 step %c1
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[SIDE]], %c0
// CHECK: arith.subi %c32, [[HI]]
// CHECK: arith.subi %c32, [[LO]]
// CHECK: arith.select %[[FIRST]], [[LO]]
// CHECK: arith.select %[[FIRST]], [[HI]]
// CHECK: %[[REACHED:.*]] = arith.cmpi sge
// CHECK: scf.if %[[REACHED]]
// CHECK: vector.fma
// CHECK-NOT: linalg.generic
func.func @lower(%a: memref<192x100xf32>, %c: memref<192x192xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %a : memref<192x100xf32>, memref<192x100xf32>)
      outs(%c : memref<192x192xf32>) attrs = {kern.needed = array<i64: 1, -1, 0, 0>} {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %o, %r : f32
      linalg.yield %s : f32
  }
  return
}
