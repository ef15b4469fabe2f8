"""Array programs, and kernels that are operations on whole arrays, as Python source over JAX, PyTorch or NumPy.

Comes in: a program on tensors. Goes out: the text of a function that needs nothing of pykern. Start with `target`;
`printer` walks the operations, `generics` prints those of linalg, `libraries` is what the libraries differ in.
"""
