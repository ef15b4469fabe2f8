"""Passes over array programs while values are tensors, before bufferization."""
