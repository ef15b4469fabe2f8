// RUN: %pykern-opt %s --kern-wait-at-barriers | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-wait-at-barriers{generation=gfx11 two-units=true})" | FileCheck %s --check-prefix=RDNA3
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-wait-at-barriers{generation=gfx12 two-units=true})" | FileCheck %s --check-prefix=RDNA4

// A wait for shared memory that is an operation: LLVM drops those that it makes of fences at heads of loops. Where a group
// runs on two compute units, for other memory as well.

// CHECK-LABEL: llvm.func @k
// CHECK: llvm.fence syncscope("workgroup") release
// CHECK-NEXT: rocdl.s.waitcnt 49279
// CHECK-NEXT: rocdl.s.barrier
// CHECK-NEXT: llvm.fence syncscope("workgroup") acquire
// RDNA3: rocdl.s.waitcnt 7
// RDNA3-NEXT: rocdl.s.barrier
// RDNA4: rocdl.s.wait.dscnt 0
// RDNA4-NEXT: rocdl.s.wait.loadcnt 0
// RDNA4-NEXT: rocdl.s.wait.storecnt 0
// RDNA4-NEXT: rocdl.s.barrier
llvm.func @k() {
  rocdl.barrier
  llvm.return
}
