"""Structured operations on buffers become code: loops for the CPU, kernels for devices."""
