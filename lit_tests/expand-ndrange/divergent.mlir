// RUN: %pykern-opt %s --split-input-file --verify-diagnostics --kern-expand-ndrange

func.func @branch(%x: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %l = "kern.local_id"() {dim = 0} : () -> index
  %first = arith.cmpi eq, %l, %c0 : index
  scf.if %first {
    // expected-error @below {{a barrier inside a branch whose condition differs}}
    "kern.barrier"() : () -> ()
    %v = memref.load %x[%l] : memref<?xf32>
  }
  return
}

// -----

func.func @loop(%x: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = "kern.local_id"() {dim = 0} : () -> index
  scf.for %k = %c0 to %l step %c1 {
    // expected-error @below {{a barrier inside a loop whose bounds differ}}
    "kern.barrier"() : () -> ()
  }
  return
}
