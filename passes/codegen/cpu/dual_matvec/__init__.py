"""A matrix times vectors from both sides goes by once.

Comes in: products of one matrix, `A @ x` and `w @ A`. Goes out: one function for both. Read `find`, then `emit`.
"""
