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
