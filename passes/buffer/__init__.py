"""Passes over array programs on buffers: where each array lies, and which copies are left out.

In the order in which they run: `forward_copies`, `multi_buffer`, `destination_passing`, `plan_memory`.
"""
