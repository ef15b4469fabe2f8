"""What type checkers see in place of names that are made while Python runs; none of these modules is ever imported.

`dtypes`: the element types, so that ``x: pk.f32[:, :]`` is a type. `anything`: the same for mypy, which takes such an
annotation for Any. `kernels`: the decorators. `language`: every function of the kernel language by its name.
`tests/typing` compares all of them with what is there at run time.
"""
