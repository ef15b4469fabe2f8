"""Passes over the body of a kernel: work-items with loads and stores, before or instead of linalg.

Start with `expand_ndrange`, which turns an index space into loops. `work_groups` splits kernels at barriers,
`launch_bounds` finds accesses outside of arrays from the numbers of a launch.
"""
