// RUN: %pykern-opt %s --kern-split-guards --verify-diagnostics

func.func @diverges(%x: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 8>} {
  %i = gpu.thread_id x
  %c3 = arith.constant 3 : index
  %some = arith.cmpi slt, %i, %c3 : index
  scf.if %some {
    // expected-error @+1 {{a barrier inside a branch whose condition differs between the work-items of a group}}
    "kern.barrier"() : () -> ()
  }
  return
}
