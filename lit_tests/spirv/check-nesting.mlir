// RUN: %pykern-opt %s --kern-check-nesting=most=1 --split-input-file --verify-diagnostics

spirv.module Logical GLSL450 {
  spirv.func @flat(%c: i1) "None" {
    spirv.mlir.selection {
      spirv.BranchConditional %c, ^then, ^merge
    ^then:
      spirv.Branch ^merge
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 {
  spirv.func @nested(%c: i1) "None" {
    spirv.mlir.selection {
      spirv.BranchConditional %c, ^then, ^merge
    ^then:
      // expected-error @+1 {{conditions are nested more than 1 deep, and lavapipe computes something else beyond that}}
      spirv.mlir.selection {
        spirv.BranchConditional %c, ^inner, ^end
      ^inner:
        spirv.Branch ^end
      ^end:
        spirv.mlir.merge
      }
      spirv.Branch ^merge
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }
}

// -----

// Of a kernel that is printed, too.
func.func @printed(%c: i1) attributes {kern.kernel} {
  scf.if %c {
    // expected-error @below {{conditions are nested more than 1 deep}}
    scf.if %c {
    }
  }
  return
}
