// RUN: %pykern-opt %s --kern-flatten-memory --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-flatten-memory=slots-in-memory=true --canonicalize --cse | FileCheck %s --check-prefix=WORDS
// RUN: %pykern-opt %s --kern-flatten-memory=small=true --canonicalize --cse | FileCheck %s --check-prefix=SMALL
// RUN: %pykern-opt %s '--kern-flatten-memory=small=true alike=true products-last=true short-slots=true' --canonicalize --cse | FileCheck %s --check-prefix=ALIKE

// Memory, then its lengths; scalars are words. Where positions fit in 32 bits, the low half of each part decides.

// CHECK-LABEL: func.func @matrix
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %{{.*}}: i64, %[[M:.*]]: i64, %[[A:.*]]: i64)
// CHECK-SAME: kern.arguments = ["memory", "slot", "slot", "slot"]
// CHECK: %[[WIDTH:.*]] = arith.index_cast %[[M]]
// CHECK: %[[LOW:.*]] = arith.trunci %[[A]] : i64 to i32
// CHECK: %[[VALUE:.*]] = arith.bitcast %[[LOW]] : i32 to f32
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %[[WIDTH]]
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %{{.*}}
// CHECK: memref.store %[[VALUE]], %[[X]][%[[AT]]]
// SMALL-LABEL: func.func @matrix
// SMALL-SAME: (%[[X:.*]]: memref<?xf32>, %{{.*}}: i64, %[[M:.*]]: i64, %{{.*}}: i64)
// SMALL: %[[WIDTH:.*]] = arith.index_cast %[[M]] {kern.range = array<i64: 0, 2147481600>}
// SMALL: %[[I:.*]] = arith.index_cast %{{.*}} : index to i32
// SMALL: %[[STRIDE:.*]] = arith.index_cast %[[WIDTH]] : index to i32
// SMALL: %[[ROW:.*]] = arith.muli %[[I]], %[[STRIDE]] overflow<nsw> : i32
// SMALL: %[[J:.*]] = arith.index_cast %{{.*}} : index to i32
// SMALL: %[[AT:.*]] = arith.addi %[[ROW]], %[[J]] overflow<nsw> : i32
// SMALL: %[[PLACE:.*]] = arith.index_cast %[[AT]] : i32 to index
// SMALL: memref.store %{{.*}}, %[[X]][%[[PLACE]]]
// WORDS-LABEL: func.func @matrix
// WORDS-SAME: (%{{.*}}: memref<?xf32>, %[[W:.*]]: memref<?xi64>)
// WORDS: memref.load %[[W]][%c1]
// WORDS: memref.load %[[W]][%c2]
func.func @matrix(%x: memref<?x?xf32>, %a: f32) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = gpu.thread_id y
  %j = gpu.thread_id x
  memref.store %a, %x[%i, %j] : memref<?x?xf32>
  return
}

// Known lengths are constants, strided arrays bring their strides.

// CHECK-LABEL: func.func @known
// CHECK-SAME: (%{{.*}}: memref<?xi32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: memref<?xi32>, %{{.*}}: i64, %[[S:.*]]: i64)
// CHECK: %[[STRIDE:.*]] = arith.index_cast %[[S]]
// CHECK: arith.muli %{{.*}}, %c16
// CHECK: arith.muli %{{.*}}, %[[STRIDE]]
func.func @known(%x: memref<8x16xi32>, %y: memref<?xi32, strided<[?], offset: ?>>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = gpu.thread_id y
  %j = gpu.thread_id x
  %v = memref.load %x[%i, %j] : memref<8x16xi32>
  memref.store %v, %y[%i] : memref<?xi32, strided<[?], offset: ?>>
  return
}

// What memory does not hold: bool is a byte, bf16 its bits.

// CHECK-LABEL: func.func @types
// CHECK-SAME: (%[[B:.*]]: memref<?xi8>, %{{.*}}: i64, %[[H:.*]]: memref<?xi16>, %{{.*}}: i64)
// CHECK: %[[BYTE:.*]] = memref.load %[[B]]
// CHECK: arith.cmpi ne, %[[BYTE]], %c0_i8
// CHECK: arith.bitcast %{{.*}} : bf16 to i16
func.func @types(%b: memref<?xi1>, %h: memref<?xbf16>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = gpu.thread_id x
  %one = arith.constant 1.0 : bf16
  %v = memref.load %h[%i] : memref<?xbf16>
  %t = memref.load %b[%i] : memref<?xi1>
  %w = arith.select %t, %v, %one : bf16
  memref.store %w, %h[%i] : memref<?xbf16>
  return
}

// Both ends of a copy, and where matrices are loaded from.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: (%[[A:.*]]: memref<?xf16>, %{{.*}}: i64, %[[N:.*]]: i64, %{{.*}}: i64)
// CHECK: %[[SHARED:.*]] = "kern.shared"() : () -> memref<512xi32, #gpu.address_space<workgroup>>
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %{{.*}} : index
// CHECK: "kern.copy_async"(%{{.*}}, %[[SHARED]], %{{.*}}, %[[A]], %[[AT]]) : (i32, memref<512xi32, #gpu.address_space<workgroup>>, index, memref<?xf16>, index) -> ()
// CHECK: "kern.load_matrices"(%[[SHARED]], %{{.*}}) {transposed = false}
func.func @copies(%a: memref<?x?xf16>, %i: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %count = arith.constant 16 : i32
  %shared = "kern.shared"() : () -> memref<512xi32, #gpu.address_space<workgroup>>
  "kern.copy_async"(%count, %shared, %i, %a, %i, %i) : (i32, memref<512xi32, #gpu.address_space<workgroup>>, index, memref<?x?xf16>, index, index) -> ()
  %w:4 = "kern.load_matrices"(%shared, %i) {transposed = false} : (memref<512xi32, #gpu.address_space<workgroup>>, index) -> (i32, i32, i32, i32)
  return
}

// Neighbours share what comes before the constants of their indices. The sum before a row is added may be outside of the
// array and wrap; a few columns more lead nowhere.

// SMALL-LABEL: func.func @neighbours
// SMALL: %[[ROW:.*]] = arith.muli %{{.*}}, %[[STRIDE:.*]] : i32
// SMALL: %[[HERE:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
// SMALL: %[[AT:.*]] = arith.subi %[[HERE]], %[[STRIDE]] : i32
// SMALL: %[[NEXT:.*]] = arith.addi %[[AT]], %c2_i32 overflow<nsw> : i32
// SMALL: %[[PLACE:.*]] = arith.index_cast %[[NEXT]] : i32 to index
// SMALL: memref.load %{{.*}}[%[[PLACE]]]
func.func @neighbours(%x: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i = gpu.thread_id y
  %j = gpu.thread_id x
  %above = arith.subi %i, %c1 : index
  %right = arith.addi %j, %c2 : index
  %value = memref.load %x[%above, %right] : memref<?x?xf32>
  memref.store %value, %x[%i, %j] : memref<?x?xf32>
  return
}

// A constant that leads far along a row: the sum before it is added may not fit, and nothing is said of it.

// SMALL-LABEL: func.func @far_column
// SMALL-NOT: overflow
// SMALL: return
func.func @far_column(%x: memref<?x?xf32>, %y: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %c = arith.constant 1000000000 : index
  %i = gpu.thread_id y
  %j = gpu.thread_id x
  %left = arith.subi %j, %c : index
  %value = memref.load %x[%i, %left] : memref<?x?xf32>
  memref.store %value, %y[%j] : memref<?xf32>
  return
}

// Arrays of one shape share the lengths of the first; a slot that fits in 32 bits is taken as one. The product is added
// to the index that no length multiplies.

// ALIKE-LABEL: func.func @two
// ALIKE-SAME: (%[[X:.*]]: memref<?xf32>, %{{.*}}: i32, %[[M:.*]]: i32, %[[Y:.*]]: memref<?xf32>, %{{.*}}: i32, %{{.*}}: i32)
// ALIKE: %[[ROW:.*]] = arith.muli %{{.*}}, %[[M]] overflow<nsw> : i32
// ALIKE: %[[AT:.*]] = arith.addi %{{.*}}, %[[ROW]] overflow<nsw> : i32
// ALIKE: %[[PLACE:.*]] = arith.index_cast %[[AT]] : i32 to index
// ALIKE: %[[V:.*]] = memref.load %[[X]][%[[PLACE]]]
// ALIKE: memref.store %[[V]], %[[Y]][%[[PLACE]]]
func.func @two(%x: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = gpu.thread_id y
  %j = gpu.thread_id x
  %v = memref.load %x[%i, %j] : memref<?x?xf32>
  memref.store %v, %y[%i, %j] : memref<?x?xf32>
  return
}
