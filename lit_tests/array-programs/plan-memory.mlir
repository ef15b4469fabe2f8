// RUN: %pykern-opt %s --kern-plan-memory | FileCheck %s

// The first and the last buffer do not live at the same time: they lie over one another.

// CHECK-LABEL: func.func @three(%arg0: memref<128xi8>)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[A:.*]] = memref.view %arg0[%c0{{.*}}][] : memref<128xi8> to memref<16xf32>
// CHECK-DAG: %[[B:.*]] = memref.view %arg0[%c64{{.*}}][] : memref<128xi8> to memref<16xf32>
// CHECK-NOT: memref.alloc
// CHECK: call @use
func.func @three() attributes {kern.program, arg_attrs = []} {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  func.call @use2(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  %c = memref.alloc() : memref<16xf32>
  func.call @use2(%b, %c) : (memref<16xf32>, memref<16xf32>) -> ()
  return
}

func.func private @use2(memref<16xf32>, memref<16xf32>)
