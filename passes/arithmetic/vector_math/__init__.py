"""Functions of numbers as branch-free arithmetic, so that loops which call them vectorise.

`expand_math` is the pass and its table of rules; a family of functions has a file, written over `emit.Real`,
which makes the ops read as mathematics. `minimax` is where the polynomials come from. What is not in the
table is called from libm, one value at a time.
"""
