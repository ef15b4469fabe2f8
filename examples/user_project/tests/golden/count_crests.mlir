module {
  func.func @count_crests(%arg0: memref<1xi64> {kern.name = "count"}, %arg1: memref<?xf32> {kern.name = "u"}) attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
    %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
    %c0 = arith.constant 0 : index
    %1 = arith.cmpi slt, %c0, %0 : index
    %c0_0 = arith.constant 0 : index
    %dim = memref.dim %arg1, %c0_0 : memref<?xf32>
    %c1 = arith.constant 1 : index
    %2 = arith.subi %dim, %c1 : index
    %3 = arith.cmpi slt, %0, %2 : index
    %4 = arith.andi %1, %3 : i1
    %5 = scf.if %4 -> (i1) {
      %7 = memref.load %arg1[%0] : memref<?xf32>
      %c1_1 = arith.constant 1 : index
      %8 = arith.subi %0, %c1_1 : index
      %9 = memref.load %arg1[%8] : memref<?xf32>
      %10 = arith.cmpf ogt, %7, %9 : f32
      scf.yield %10 : i1
    } else {
      scf.yield %4 : i1
    }
    %6 = scf.if %5 -> (i1) {
      %7 = memref.load %arg1[%0] : memref<?xf32>
      %c1_1 = arith.constant 1 : index
      %8 = arith.addi %0, %c1_1 : index
      %9 = memref.load %arg1[%8] : memref<?xf32>
      %10 = arith.cmpf ogt, %7, %9 : f32
      scf.yield %10 : i1
    } else {
      scf.yield %5 : i1
    }
    scf.if %6 {
      %c0_1 = arith.constant 0 : index
      %c1_i64 = arith.constant 1 : i64
      %7 = "kern.atomic_rmw"(%c1_i64, %arg0, %c0_1) {kind = "add"} : (i64, memref<1xi64>, index) -> i64
    }
    return
  }
}
