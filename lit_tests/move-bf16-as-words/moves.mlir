// RUN: %pykern-opt %s --kern-move-bf16-as-words --canonicalize | FileCheck %s

// CHECK-LABEL: llvm.func @one
// CHECK: %[[X:.*]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK-NOT: bf16
// CHECK: llvm.store %[[X]], %{{.*}} : i16, !llvm.ptr
// CHECK: llvm.return
llvm.func @one(%p: !llvm.ptr, %q: !llvm.ptr) {
  %x = llvm.load %p {alignment = 2 : i64} : !llvm.ptr -> bf16
  llvm.store %x, %q : bf16, !llvm.ptr
  llvm.return
}

// Vectors, whole and masked; what is used as bf16 stays so.

// CHECK-LABEL: llvm.func @vectors
// CHECK: llvm.intr.masked.load %{{.*}}, %{{.*}}, %{{.*}} {alignment = 2 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xi16>) -> vector<8xi16>
// CHECK: %[[Y:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xi16>
// CHECK: %[[Z:.*]] = llvm.bitcast %[[Y]] : vector<8xi16> to vector<8xbf16>
// CHECK: llvm.fneg %[[Z]]
// CHECK: llvm.intr.masked.store %{{.*}} : vector<8xi16>, vector<8xi1> into !llvm.ptr
llvm.func @vectors(%p: !llvm.ptr, %m: vector<8xi1>) -> vector<8xi16> {
  %zero = llvm.mlir.constant(dense<0.0> : vector<8xbf16>) : vector<8xbf16>
  %x = llvm.intr.masked.load %p, %m, %zero {alignment = 2 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xbf16>) -> vector<8xbf16>
  %bits = llvm.bitcast %x : vector<8xbf16> to vector<8xi16>
  %y = llvm.load %p : !llvm.ptr -> vector<8xbf16>
  %z = llvm.fneg %y : vector<8xbf16>
  llvm.intr.masked.store %z, %p, %m {alignment = 2 : i32} : vector<8xbf16>, vector<8xi1> into !llvm.ptr
  llvm.return %bits : vector<8xi16>
}

// Choices, what other blocks are given, and functions.

// CHECK: llvm.func @given(i16) -> i16
llvm.func @given(bf16) -> bf16

// CHECK-LABEL: llvm.func @blocks
// CHECK-SAME: (%{{.*}}: !llvm.ptr, %{{.*}}: i1, %[[X:.*]]: i16) -> i16
// CHECK: %[[L:.*]] = llvm.load
// CHECK: %[[S:.*]] = llvm.select %{{.*}}, %[[L]], %[[X]] : i1, i16
// CHECK: llvm.cond_br %{{.*}}, ^bb1(%[[S]] : i16), ^bb2
// CHECK: ^bb1(%[[A:.*]]: i16):
// CHECK-NEXT: llvm.store %[[A]], %{{.*}} : i16, !llvm.ptr
// CHECK: %[[G:.*]] = llvm.call @given(%[[X]]) : (i16) -> i16
// CHECK: llvm.return %[[G]] : i16
llvm.func @blocks(%p: !llvm.ptr, %c: i1, %x: bf16) -> bf16 {
  %y = llvm.load %p : !llvm.ptr -> bf16
  %s = llvm.select %c, %y, %x : i1, bf16
  llvm.cond_br %c, ^one(%s : bf16), ^end
^one(%a: bf16):
  llvm.store %a, %p : bf16, !llvm.ptr
  llvm.br ^end
^end:
  %g = llvm.call @given(%x) : (bf16) -> bf16
  llvm.return %g : bf16
}

// f64 in two steps.

// CHECK-LABEL: llvm.func @wide
// CHECK: %[[B:.*]] = llvm.zext %{{.*}} : i16 to i32
// CHECK: %[[M:.*]] = llvm.shl %[[B]], %{{.*}} : i32
// CHECK: %[[F:.*]] = llvm.bitcast %[[M]] : i32 to f32
// CHECK: llvm.fpext %[[F]] : f32 to f64
llvm.func @wide(%p: !llvm.ptr) -> f64 {
  %x = llvm.load %p : !llvm.ptr -> bf16
  %y = llvm.fpext %x : bf16 to f64
  llvm.return %y : f64
}
