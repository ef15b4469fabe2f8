# RUN: %python %s aarch64 | FileCheck %s --check-prefix=NEON
# RUN: %python %s x86-64-v4 | FileCheck %s --check-prefix=AVX512
# RUN: %python %s x86-64-v3 | FileCheck %s --check-prefix=AVX2
"""The instructions of a product's innermost loop: multiply-adds on whole registers, and no spilled sum between them."""

import sys

import pykern as pk


@pk.jit
def product(a, b):
    return a @ b


# A tile of 7 rows and 3 vectors: elements of the left factor are lanes of a register.
# NEON: product.nest2:
# NEON: fmla	v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.s[0]
# NEON-NOT: [sp
# NEON-COUNT-10: fmla
# NEON-NOT: fmul

# Eight rows and three vectors, read where they are: a vector is a line of the cache.
# AVX512: product.nest0:
# AVX512: vfmadd231ps	%zmm
# AVX512-NOT: (%rsp)
# AVX512: vfmadd231ps	%zmm{{[0-9]+}}, %zmm{{[0-9]+}}, %zmm{{[0-9]+}}

# Six rows and two vectors: one broadcast for two multiply-adds.
# AVX2: product.nest2:
# AVX2: vbroadcastss
# AVX2: vfmadd231ps	%ymm
# AVX2-NEXT: vfmadd231ps	%ymm
# AVX2-NEXT: vbroadcastss
# AVX2-NOT: (%rsp)
# AVX2: vfmadd231ps
spec = pk.spec((384, 384), pk.f32)
print(
    next(
        s.text
        for s in product.lower(spec, spec, target=f"llvm:{sys.argv[1]}").stages
        if s.name == "llvm-emit"
    )
)
