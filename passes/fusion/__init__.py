"""Which tensor operations become one, and which stay apart.

Start with `add_fusion_barriers`, which runs before upstream's fusion. `attention` recognises attention.
"""
