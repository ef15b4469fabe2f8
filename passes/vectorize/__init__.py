"""Loops over work-items written as vectors: streamed stores, and what the loop passes share.

Start with `vectorize_streams` (the pass); `affine` reads index arithmetic, `effects` says what may move.
"""
