"""Kernels differentiated as they are, work-item by work-item, whatever control flow they have.

The plan, from plain to detailed:

- `reverse_kernel` / `forward_kernel`: the passes. In: a kernel. Out: the kernel with a shadow behind each argument
  that is differentiated.
- `activity`: which values and buffers carry a derivative. `sharing`: which cells belong to one
  work-item alone, and so which kernels can be differentiated right at all.
- `copying`: the forward sweep. `sweep`: the reverse sweep over straight-line code; `structured` over
  branches and loops; `primal_values` finds a value of the forward sweep again: alive, recomputed or taped.
"""
