// RUN: %pykern-opt %s --kern-allow-negative-strides | FileCheck %s

// A stride may be negative: addresses wrap around as unsigned numbers, and nothing promises that they do not.

// CHECK-LABEL: llvm.func @strided
// CHECK: llvm.mul %arg1, %arg2 overflow<nsw> : i64
// CHECK: llvm.add %{{.*}}, %arg1 overflow<nsw> : i64
// CHECK: llvm.getelementptr inbounds %arg0[%{{.*}}] :
llvm.func @strided(%p: !llvm.ptr, %i: i64, %stride: i64) -> f32 attributes {kern.kernel, kern.strided} {
  %offset = llvm.mul %i, %stride overflow<nsw, nuw> : i64
  %place = llvm.add %offset, %i overflow<nsw, nuw> : i64
  %address = llvm.getelementptr inbounds|nuw %p[%place] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %value = llvm.load %address : !llvm.ptr -> f32
  llvm.return %value : f32
}

// Elements that stand side by side have no stride that could be negative.

// CHECK-LABEL: llvm.func @dense
// CHECK: llvm.mul %arg1, %arg2 overflow<nsw, nuw> : i64
// CHECK: llvm.getelementptr inbounds|nuw %arg0
llvm.func @dense(%p: !llvm.ptr, %i: i64, %columns: i64) -> f32 attributes {kern.kernel} {
  %place = llvm.mul %i, %columns overflow<nsw, nuw> : i64
  %address = llvm.getelementptr inbounds|nuw %p[%place] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %value = llvm.load %address : !llvm.ptr -> f32
  llvm.return %value : f32
}
