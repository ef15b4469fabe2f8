"""Elementwise ops some of whose inputs lie along another dimension than the result: transpositions, and what is fused
with them.

Read `find` (which ops, and the rule), `squares` (what is transposed in registers), `direct` and `staged` (the two
forms).
"""
