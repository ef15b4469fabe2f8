"""Arithmetic that machines lack, or do differently from Python: expanded into what they have.

`vector_math` holds the elementary functions; the other files expand single operations and types.
"""
