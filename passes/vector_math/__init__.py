"""Functions of numbers as branch-free arithmetic, so that loops which call them vectorise.

`expand` is the pass; `exponential`, `logarithm`, `trigonometric`, `error_function` hold a family
each, written over `emit.Real`, which makes the ops read as mathematics. What is not here is called
from libm, one value at a time.
"""
