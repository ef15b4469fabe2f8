# RUN: %python %s | FileCheck %s

"""A product in Metal's language: 8x8 matrices of subgroups, whose factors come through memory of the group."""

import pykern as pk


@pk.jit
def product(a, b):
    return a @ b


given = pk.spec((70, 50), pk.f16), pk.spec((50, 90), pk.f16)
print(product.lower(*given, target="source:msl+simd").compile().source)

# CHECK: threadgroup half
# CHECK: threadgroup half
# CHECK: threadgroup float
# CHECK: simdgroup_float8x8 [[SUMS:.*]][4];
# CHECK: simdgroup_half8x8 [[LEFT:.*]][2];
# CHECK: simdgroup_half8x8 [[RIGHT:.*]][2];
# CHECK: [[SUMS]][n] = make_filled_simdgroup_matrix<float, 8, 8>(0);
# CHECK: threadgroup_barrier
# CHECK: simdgroup_load([[LEFT]][n]
# CHECK: simdgroup_load([[RIGHT]][n]
# CHECK: simdgroup_multiply_accumulate([[SUMS]][r * 2 + c], [[LEFT]][r], [[RIGHT]][c], [[SUMS]][r * 2 + c]);
# CHECK: threadgroup_barrier
# CHECK: simdgroup_store([[SUMS]][n]
# CHECK: threadgroup_barrier
