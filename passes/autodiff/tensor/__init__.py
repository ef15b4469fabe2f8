"""Differentiation of tensor programs: functions on tensors of static shape, before bufferization.

Comes in: a `func.func` whose body is linalg, tensor, arith, math and scf on tensors and scalars. Goes
out: beside it `@f.vjp` (primal results, then cotangents) or `@f.jvp` (primal results, then tangents).
Read next: `reverse` and `forward`, the two entries; `structured` for what linalg ops are reduced to.
"""
