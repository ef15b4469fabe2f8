"""Array programs for devices: what is left on buffers becomes kernels and launches of them.

Comes in: a program on buffers. Goes out: a program that launches kernels, and holds scalars, views, loops and
copies for the host. Start with `make_kernels`.
"""
