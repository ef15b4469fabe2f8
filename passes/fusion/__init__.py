"""Which tensor operations become one, and which stay apart.

Start with `hold_fusion`, which runs before upstream's fusion. `attention` recognises attention.
"""
