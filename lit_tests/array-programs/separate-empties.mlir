// RUN: %pykern-opt %s --kern-separate-empties | FileCheck %s

// CHECK-LABEL: func.func @loop
// CHECK-NOT: tensor.empty
// CHECK: scf.for
// CHECK: tensor.empty
// CHECK: call @one
// CHECK: tensor.empty
// CHECK: call @two
func.func @loop(%n: index) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    func.call @one1(%e) : (tensor<4xf32>) -> ()
    func.call @two1(%e) : (tensor<4xf32>) -> ()
  }
  return
}

func.func private @one1(tensor<4xf32>)
func.func private @two1(tensor<4xf32>)

// A fill that the body of another op reads from stays outside of that body.
// CHECK-LABEL: func.func @gathered
// CHECK: %[[FILL:.*]] = linalg.generic {{.*}} outs
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xindex>)
// CHECK-NOT: linalg.generic
// CHECK-NOT: tensor.empty
// CHECK: tensor.extract %[[FILL]]
func.func @gathered(%i: tensor<4xindex>) -> tensor<4xi64> attributes {kern.program} {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xi64>
  %fill = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%e : tensor<4xi64>) {
  ^bb0(%out: i64):
    linalg.yield %zero : i64
  } -> tensor<4xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<4xindex>) outs(%e : tensor<4xi64>) {
  ^bb0(%in: index, %out: i64):
    %v = tensor.extract %fill[%in] : tensor<4xi64>
    linalg.yield %v : i64
  } -> tensor<4xi64>
  return %r : tensor<4xi64>
}

// Look-ups in a loop read one fill in front of it; what writes into the fill has its own.
// CHECK-LABEL: func.func @looked_up
// CHECK: %[[FILL:.*]] = linalg.generic
// CHECK: scf.for
// CHECK-NOT: linalg.generic
// CHECK: tensor.extract %[[FILL]]
// CHECK: %[[OWN:.*]] = linalg.generic
// CHECK: tensor.insert %{{.*}} into %[[OWN]]
func.func @looked_up(%n: index) -> tensor<4xi64> attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xi64>
  %fill = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%e : tensor<4xi64>) {
  ^bb0(%out: i64):
    linalg.yield %zero : i64
  } -> tensor<4xi64>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (i64) {
    %v = tensor.extract %fill[%i] : tensor<4xi64>
    %t = arith.addi %s, %v : i64
    scf.yield %t : i64
  }
  %r = tensor.insert %sum into %fill[%c0] : tensor<4xi64>
  return %r : tensor<4xi64>
}

// An array whose elements are looked up in another one is no fill: it is computed once for all that read it.

// CHECK-LABEL: func.func @turned
// CHECK: linalg.generic
// CHECK: tensor.extract
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @turned(%x: tensor<9xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {kern.program} {
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<9xf32>
  %turned = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%e : tensor<9xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %k = arith.subi %c8, %i : index
    %v = tensor.extract %x[%k] : tensor<9xf32>
    linalg.yield %v : f32
  } -> tensor<9xf32>
  %a = tensor.extract_slice %turned[0] [4] [1] : tensor<9xf32> to tensor<4xf32>
  %b = tensor.extract_slice %turned[5] [4] [1] : tensor<9xf32> to tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
