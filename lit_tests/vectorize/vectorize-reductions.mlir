// RUN: %pykern-opt %s --kern-vectorize-reductions --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-vectorize-reductions=prefetch=false --canonicalize --cse | FileCheck %s --check-prefix=QUIET
// RUN: %pykern-opt %s --kern-vectorize-streams --kern-vectorize-reductions --canonicalize --cse | FileCheck %s --check-prefix=STREAM

// The maximum keeps lanes, and which of them met a NaN; its last vector is made of the last elements. The sum of
// exponentials is half as wide, and its loop, the last one that reads the row, fetches the row after the next.

// CHECK-LABEL: func.func @softmax
// CHECK: scf.for %[[I:.*]] = %arg2 to %arg3
// CHECK: %[[END:.*]] = arith.select %{{.*}}, %arg4, %c0
// CHECK: scf.for %[[J:.*]] = %c0 to %[[END]] step %c32 iter_args(%[[M:.*]] = %{{.*}}, %[[MET:.*]] = %{{.*}}) -> (vector<32xf32>, vector<32xi32>)
// CHECK: %[[AT:.*]] = arith.minsi %[[J]], %{{.*}}
// CHECK-NEXT: %[[V:.*]] = vector.load %arg1[%[[I]], %[[AT]]]
// CHECK-NEXT: arith.cmpf ogt, %[[V]], %[[M]]
// CHECK-NEXT: arith.cmpf uno, %[[V]], %[[V]]
// CHECK: arith.ori %[[MET]],
// CHECK: vector.reduction <maximumf>, %{{.*}} fastmath<nnan,nsz> : vector<32xf32> into f32
// CHECK: vector.reduction <or>
// CHECK: scf.for %{{.*}} = %[[END]] to %arg4 step %c1
// CHECK: arith.maximumf
// CHECK: scf.for %[[K:.*]] = %c0 to %{{.*}} step %c16 iter_args(%{{.*}} = %{{.*}}) -> (vector<16xf32>)
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c2
// CHECK-NEXT: memref.prefetch %arg1[%[[NEXT]], %[[K]]], read, locality<2>, data
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK: vector.store
// CHECK: vector.reduction <add>, %{{.*}} fastmath<reassoc>
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c32
// CHECK-NOT: memref.prefetch
// CHECK: arith.divf %{{.*}} : vector<32xf32>
// CHECK: vector.store %{{.*}} : memref<?x?xf32>, vector<32xf32>
// CHECK: arith.divf %{{.*}} : f32

// QUIET-LABEL: func.func @softmax
// QUIET: vector<32xf32>
// QUIET-NOT: memref.prefetch
func.func @softmax(%y: memref<?x?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %m = scf.for %j = %c0 to %n step %c1 iter_args(%held = %low) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %t = arith.maximumf %held, %u : f32
      scf.yield %t : f32
    }
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.subf %u, %m : f32
      %e = math.exp %d : f32
      memref.store %e, %y[%i, %j] : memref<?x?xf32>
      %t = arith.addf %held, %e fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %y[%i, %j] : memref<?x?xf32>
      %q = arith.divf %e, %s : f32
      memref.store %q, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// A sum alone in its loop over rows is LLVM's; sums that keep their order stay.

// CHECK-LABEL: func.func @sums
// CHECK-NOT: vector<
// CHECK: return
func.func @sums(%y: memref<?xf32>, %x: memref<?x?xf32>, %n: index, %m: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %t = arith.addf %held, %u fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %y[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %t = arith.addf %held, %u : f32
      scf.yield %t : f32
    }
    %r = scf.for %j = %c0 to %m step %c1 iter_args(%held = %s) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %t = arith.mulf %held, %u : f32
      scf.yield %t : f32
    }
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return
}

// Two arrays that the first loop reads: it waits for its own rows, so the loop behind it fetches a coming row of one
// array, and the last loop, which writes a row, that of the other; both only where the two rows are short.

// CHECK-LABEL: func.func @share_fetching
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: memref.prefetch
// CHECK: vector.reduction
// CHECK: scf.for {{.*}} step %c32{{.*}} iter_args
// CHECK: %[[SHORT:.*]] = arith.cmpi sle, %arg5, %c1024
// CHECK-NEXT: scf.if %[[SHORT]]
// CHECK-NOT: memref.prefetch %arg2
// CHECK: memref.prefetch %arg1
// CHECK: vector.reduction
// CHECK: scf.for {{.*}} step %c32
// CHECK-NOT: memref.prefetch %arg1
// CHECK: memref.prefetch %arg2
// CHECK: vector.store %{{.*}}, %arg0
// CHECK: return
func.func @share_fetching(%y: memref<?x?xf32>, %a: memref<?x?xf32>, %b: memref<?x?xf32>, %lo: index, %hi: index, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %row = memref.alloca() : memref<1024xf32>
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      %v = memref.load %b[%i, %j] : memref<?x?xf32>
      %w = arith.addf %u, %v : f32
      memref.store %w, %row[%j] : memref<1024xf32>
      %t = arith.addf %held, %w fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %row[%j] : memref<1024xf32>
      %d = arith.subf %u, %s : f32
      %t = arith.addf %held, %d fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %row[%j] : memref<1024xf32>
      %d = arith.mulf %u, %r : f32
      memref.store %d, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// A loop that hardly computes fetches a coming row only where it is short, of one array up to 16 KiB.

// CHECK-LABEL: func.func @fetch_short
// CHECK: vector.reduction
// CHECK: %[[SHORT:.*]] = arith.cmpi sle, %arg4, %c4096
// CHECK: scf.if %[[SHORT]]
// CHECK: memref.prefetch %arg1
// CHECK: vector.reduction
// CHECK: return
// CHECK-LABEL: func.func @fetch_no_long
// CHECK: vector.reduction
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @fetch_short(%y: memref<?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %t = arith.addf %held, %u fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.subf %u, %s : f32
      %t = arith.addf %held, %d fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return
}

func.func @fetch_no_long(%y: memref<?xf32>, %x: memref<?x4097xf32>, %lo: index, %hi: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4097 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x4097xf32>
      %t = arith.addf %held, %u fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x4097xf32>
      %d = arith.subf %u, %s : f32
      %t = arith.addf %held, %d fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return
}

// Where the last loop has a version with streaming stores, that one fetches too.

// STREAM-LABEL: func.func @streamed
// STREAM: vector.reduction <add>
// STREAM: scf.if
// STREAM: memref.prefetch %arg2
// STREAM: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// STREAM: scf.for {{.*}} = %c0 to
// STREAM: scf.for {{.*}} step %c32
// STREAM: memref.prefetch %arg2
// STREAM: vector.store
func.func @streamed(%y: memref<?x?xf32>, %a: memref<?x?xf32>, %b: memref<?x?xf32>, %lo: index, %hi: index, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %row = memref.alloca() : memref<1024xf32>
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      %v = memref.load %b[%i, %j] : memref<?x?xf32>
      %w = arith.addf %u, %v : f32
      memref.store %w, %row[%j] : memref<1024xf32>
      %t = arith.addf %held, %w fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %row[%j] : memref<1024xf32>
      %d = arith.subf %u, %s : f32
      %t = arith.addf %held, %d fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %row[%j] : memref<1024xf32>
      %d = arith.mulf %u, %r : f32
      memref.store %d, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// The place of the largest value: lanes keep it beside the value. Of equal ones the first counts, so that is the least
// place. What else the loop takes along is computed again for that place. A NaN in front keeps all others out.

// CHECK-LABEL: func.func @selection
// CHECK: %[[MANY:.*]] = arith.select %{{.*}}, %arg3, %c1
// CHECK: %[[END:.*]] = arith.select %{{.*}}, %[[MANY]], %c1
// CHECK: scf.for %[[J:.*]] = %c1 to %[[END]] step %c32 iter_args(%[[M:.*]] = %{{.*}}, %[[AT:.*]] = %cst{{.*}}) -> (vector<32xf32>, vector<32xi32>)
// CHECK: %[[V:.*]] = vector.load
// CHECK-NEXT: %[[BETTER:.*]] = arith.cmpf ogt, %[[V]], %[[M]]
// CHECK-NEXT: arith.select %[[BETTER]], %[[V]], %[[M]]
// CHECK: %[[HERE:.*]] = vector.broadcast %{{.*}} : i32 to vector<32xi32>
// CHECK-NEXT: arith.select %[[BETTER]], %[[HERE]], %[[AT]]
// CHECK: vector.reduction <maximumf>, %{{.*}} fastmath<nnan,nsz>
// CHECK: vector.reduction <minsi>
// CHECK: arith.cmpf ord
// CHECK: scf.if
// CHECK: memref.load %arg2[
// CHECK-NOT: vector.bitcast
// CHECK: scf.for %{{.*}} = %[[END]] to %arg3 step %c1
func.func @selection(%at: memref<?xindex>, %x: memref<?x?xf32>, %w: memref<?xf32>, %n: index, %i: index) -> f32 attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.load %x[%i, %c0] : memref<?x?xf32>
  %weight = memref.load %w[%c0] : memref<?xf32>
  %r:3 = scf.for %j = %c1 to %n step %c1 iter_args(%most = %first, %best = %c0, %taken = %weight) -> (f32, index, f32) {
    %v = memref.load %x[%i, %j] : memref<?x?xf32>
    %u = memref.load %w[%j] : memref<?xf32>
    %better = arith.cmpf ogt, %v, %most : f32
    %place = arith.select %better, %j, %best : index
    %along = arith.select %better, %u, %taken : f32
    %now = arith.select %better, %v, %most : f32
    scf.yield %now, %place, %along : f32, index, f32
  }
  memref.store %r#1, %at[%i] : memref<?xindex>
  return %r#2 : f32
}

// NumPy's argmin: the first NaN is the least. Lanes watch for one; where it came by, and where the least is a zero of
// unknown sign, the loop runs from its beginning.

// CHECK-LABEL: func.func @first_nan
// CHECK: scf.for {{.*}} -> (vector<16xf64>, vector<16xi32>, vector<16xi64>)
// CHECK: vector.reduction <minimumf>
// CHECK: %[[DOUBT:.*]] = arith.ori
// CHECK: %[[BEGIN:.*]] = arith.select %[[DOUBT]], %c0
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %arg1
func.func @first_nan(%x: memref<?xf64>, %n: index) -> (f64, i64) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %top = arith.constant 0x7FF0000000000000 : f64
  %zero = arith.constant 0 : i64
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%least = %top, %best = %zero) -> (f64, i64) {
    %v = memref.load %x[%j] : memref<?xf64>
    %better = arith.cmpf olt, %v, %least : f64
    %is_nan = arith.cmpf uno, %v, %v : f64
    %was_nan = arith.cmpf uno, %least, %least : f64
    %was_number = arith.xori %was_nan, %true : i1
    %first = arith.andi %is_nan, %was_number : i1
    %take = arith.ori %better, %first : i1
    %place = arith.index_cast %j : index to i64
    %now = arith.select %take, %v, %least : f64
    %at = arith.select %take, %place, %best : i64
    scf.yield %now, %at : f64, i64
  }
  return %r#0, %r#1 : f64, i64
}

// What is compared depends on what was taken: the loop keeps its order.

// CHECK-LABEL: func.func @in_order
// CHECK-NOT: vector<
// CHECK: return
func.func @in_order(%x: memref<?xf32>, %n: index, %start: f32) -> f32 attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%most = %start, %bias = %start) -> (f32, f32) {
    %u = memref.load %x[%j] : memref<?xf32>
    %v = arith.addf %u, %bias : f32
    %better = arith.cmpf ogt, %v, %most : f32
    %other = arith.select %better, %u, %bias : f32
    %now = arith.select %better, %v, %most : f32
    scf.yield %now, %other : f32, f32
  }
  return %r#0 : f32
}
