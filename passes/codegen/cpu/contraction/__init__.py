"""Schedules of contractions: what is tiled, packed and shared how, as data apart from the recipe.

`product` recognises a contraction, `cost_model` picks a `Schedule`, `nests` and `packing` make the functions,
`apply_schedules` writes the transform script that tiles them, `register_tile` turns the smallest tiles into vectors.
"""
