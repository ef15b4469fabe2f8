"""What users import from `pykern`: decorators, the names of array programs, and views of what was compiled.

Start with `kernel` and `jit`. The public names are listed in `pykern/__init__.py`.
"""
