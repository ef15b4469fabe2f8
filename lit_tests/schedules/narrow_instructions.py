# RUN: %python %s x86-64-v3 i8 i8 | FileCheck %s --check-prefix=AVX2
# RUN: %python %s x86-64-v4 u8 u8 | FileCheck %s --check-prefix=AVX512
# RUN: %python %s sapphirerapids i16 i8 | FileCheck %s --check-prefix=VNNI
# RUN: %python %s sapphirerapids u8 i8 | FileCheck %s --check-prefix=BYTES
# RUN: %python %s sapphirerapids i8 i8 | FileCheck %s --check-prefix=LIFTED
# RUN: %python %s sapphirerapids bf16 bf16 | FileCheck %s --check-prefix=BF16
# RUN: %python %s neoverse-v1 i8 i8 | FileCheck %s --check-prefix=SDOT
# RUN: %python %s neoverse-v1 u8 u8 | FileCheck %s --check-prefix=UDOT
# RUN: %python %s neoverse-v1 i8 u8 | FileCheck %s --check-prefix=USDOT
# RUN: %python %s neoverse-v1 bf16 bf16 | FileCheck %s --check-prefix=BFDOT
"""Instructions that sum pairs and quads of narrow terms, where the processor has them."""

import sys

import pykern as pk


@pk.kernel
def summed(c, a, b):
    i, j = pk.index()
    total = pk.i32(0)
    for k in range(a.shape[1]):
        total += pk.i32(a[i, k]) * pk.i32(b[k, j])
    c[i, j] = total


@pk.jit
def integers(a, b):
    c = pk.zeros((a.shape[0], b.shape[1]), pk.i32)
    summed(c, a, b, ndrange=c.shape)
    return c


@pk.jit
def floats(a, b):
    return a @ b


# Bytes are pairs of i16 here: two products and their sum an instruction.
# AVX2: vpbroadcastd
# AVX2: vpmaddwd	{{.*}}%ymm
# AVX2-NEXT: vpaddd
# AVX2-NOT: vpmulld
# AVX512: vpmaddwd	{{.*}}%zmm
# VNNI: vpdpwssd	{{.*}}%zmm
# BYTES: vpdpbusd	{{.*}}%zmm
# Both have a sign: the left factor's bytes are turned over, and 128 times the sums of the columns are taken off.
# LIFTED: vpxor
# LIFTED: vpdpbusd	{{.*}}%zmm
# LIFTED-NOT: vpdpwssd
# LIFTED: vpsubd	%zmm
# BF16: vdpbf16ps	{{.*}}%zmm
# BF16-NOT: vfmadd
# SDOT: sdot	v{{[0-9]+}}.4s, v{{[0-9]+}}.16b, v
# UDOT: udot	v{{[0-9]+}}.4s, v{{[0-9]+}}.16b, v
# USDOT: usdot	v{{[0-9]+}}.4s, v{{[0-9]+}}.16b, v
# BFDOT: bfdot	v{{[0-9]+}}.4s, v{{[0-9]+}}.8h, v
# BFDOT-NOT: fmla
target, left, right = sys.argv[1:]
program = floats if left == "bf16" else integers
a, b = pk.spec((96, 512), getattr(pk, left)), pk.spec((512, 128), getattr(pk, right))
stages = program.lower(a, b, target=f"llvm:{target}").stages
print(next(s.text for s in stages if s.name == "llvm-emit"))
