// RUN: %pykern-opt %s --kern-keep-roundings | FileCheck %s
// RUN: %pykern-opt %s --kern-keep-roundings --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @between
// CHECK: %[[NARROW:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf %[[NARROW]]{{.*}} : bf16 to f32
// CHECK: arith.mulf %{{.*}} fastmath<contract> : f32
// FOLDED-LABEL: func.func @between
// FOLDED: arith.truncf
// FOLDED: arith.extf
func.func @between(%x: f32, %y: f32) -> f32 {
  %sum = arith.addf %x, %y fastmath<contract> : f32
  %narrow = arith.truncf %sum fastmath<contract> : f32 to bf16
  %wide = arith.extf %narrow fastmath<contract> : bf16 to f32
  %product = arith.mulf %wide, %y fastmath<contract> : f32
  return %product : f32
}
