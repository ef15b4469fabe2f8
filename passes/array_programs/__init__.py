"""Passes over array programs: functions on tensors, and what bufferization makes of them.

Start with `hold_fusion` (before fusion), `fresh_inserts` (before bufferization), then `forward_copies`,
`rotate_buffers`, `return_into`, `nests` and `arena`, in the order in which they run.
"""
