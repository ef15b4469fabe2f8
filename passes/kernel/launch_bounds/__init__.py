"""Accesses outside of their arrays, found from the numbers of a launch alone.

`find` goes through a kernel and picks work-items at the ends of the index space; `slopes` says which end makes an index
large or small; `point` follows one work-item to an access and writes down what it touches.
"""
