"""Loops for a linalg.generic on buffers: the function in which they stand, and partial results of reductions."""
