// RUN: %pykern-opt %s --kern-check-limits="chip=this max-depth=8 max-shared=64 max-private=240" --split-input-file --verify-diagnostics

// expected-error @+1 {{a group of 2048 work-items, and this has 1024 at most}}
func.func @large() attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 2048>} {
  return
}

// -----

// expected-error @+1 {{a group of 16 work-items along the outer dimensions, and this has 8 at most}}
func.func @deep() attributes {kern.kernel, kern.rank = 3 : i64, kern.workgroup = array<i64: 16, 1, 1>} {
  return
}

// -----

func.func @greedy() attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 16>} {
  %s = "kern.shared"() : () -> memref<8xf32, #gpu.address_space<workgroup>>
  // expected-error @+1 {{72 bytes of shared memory, and this has 64 at most}}
  %t = "kern.shared"() : () -> memref<5xf64, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @spread() attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 16>} {
  %s = "kern.private"() : () -> memref<30xf64, #gpu.address_space<private>>
  // expected-error @+1 {{248 bytes of private memory, and this has 240 for a work-item}}
  %t = "kern.private"() : () -> memref<2xf32, #gpu.address_space<private>>
  return
}
