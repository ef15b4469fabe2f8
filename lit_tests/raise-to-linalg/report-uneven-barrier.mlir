// RUN: %pykern-opt %s --kern-raise-to-linalg --verify-diagnostics

// A barrier that some work-items do not reach brought another compiler's process down: here it is refused by name.

func.func @uneven(%y: memref<?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %first = arith.cmpi slt, %i, %c1 : index
  scf.if %first {
    // expected-error @below {{a barrier has no form on tensors}}
    "kern.barrier"() : () -> ()
  }
  return
}
