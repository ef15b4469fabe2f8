// RUN: %pykern-opt %s --kern-raise-to-linalg --split-input-file --verify-diagnostics

func.func @printed(%y: memref<?xf32>, %v: i64)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  // expected-error @below {{print has no form on tensors}}
  "kern.print"(%v) {template = "{}\0A", dtypes = ["i64"]} : (i64) -> ()
  return
}

// -----

func.func @asserted(%y: memref<?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %ok = arith.cmpi slt, %i, %c1 : index
  // expected-error @below {{assert has no form on tensors}}
  "kern.assert"(%ok) {message = "one"} : (i1) -> ()
  return
}

// -----

func.func @until(%y: memref<?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  // expected-error @below {{a `while` loop, or a loop left early has no form on tensors}}
  %n = scf.while (%k = %i) : (index) -> index {
    %more = arith.cmpi sgt, %k, %c1 : index
    scf.condition(%more) %k : index
  } do {
  ^bb0(%k: index):
    %less = arith.subi %k, %c1 : index
    scf.yield %less : index
  }
  return
}

// -----

func.func @own_memory(%y: memref<?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  // expected-error @below {{private memory has no form on tensors}}
  %own = "kern.private"() : () -> memref<4xf32, #gpu.address_space<private>>
  return
}

// -----

func.func @ticket(%y: memref<?xi32>, %n: memref<?xi32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  // expected-error @below {{the old value of an atomic depends on the order of the work-items}}
  %0 = "kern.atomic_rmw"(%one, %n, %c0) {kind = "add"} : (i32, memref<?xi32>, index) -> i32
  memref.store %0, %y[%i] : memref<?xi32>
  return
}
