"""Configurations of the library's functions for each architecture, as a table.

Comes in: nothing. Goes out: `TABLE`, from (architecture, kind of function) to a tile, and what an architecture allows.
Read next: `config`, which looks up, computes and checks.

Sources: on NVIDIA's chips the tiles are the largest whose accumulators and stages fit, in the forms of CUTLASS
(mma.sync) and of Mosaic GPU's matrix product for Hopper (128 by 256 by 64, four stages, two warpgroups that multiply
and one that copies); those of attention are FlashAttention-2's (arXiv 2307.08691, section 3.3) and FlashAttention-3's
(arXiv 2407.08608, section 4.1). On AMD's chips and in "fallback" they are the largest that fit by the same
arithmetic. On the CPU they are those of `pykern.passes.analysis.cost_model`.
"""

from __future__ import annotations

PRODUCT, ATTENTION, ROWS, ELEMENTS = "product", "attention", "rows", "elements"
KINDS = {
    "flash_attention": ATTENTION,
    "varlen_attention": ATTENTION,
    "paged_attention": ATTENTION,
    "layernorm_linear": PRODUCT,
    "swiglu_linear": PRODUCT,
    "linear_cross_entropy": PRODUCT,
    "grouped_linear": PRODUCT,
    "quantised_linear": PRODUCT,
    "residual_layernorm": ROWS,
    "residual_rmsnorm": ROWS,
    "rmsnorm_rope": ROWS,
    "softmax_dropout": ROWS,
    "group_norm": ROWS,
    "swiglu": ELEMENTS,
    "geglu": ELEMENTS,
    "embedding": ELEMENTS,
    "adamw": ELEMENTS,
}
"""What each function is like: its tile is of a product (rows, columns, inner), of attention (queries, keys, head), of
rows (rows, elements that a work-item has at a time, 1), or of elements (1, the same, 1)."""

ARCHITECTURES = {
    **dict.fromkeys(("sm_80", "sm_86"), "ampere"),
    "sm_89": "ada",
    **dict.fromkeys(("sm_90", "sm_90a"), "hopper"),
    **dict.fromkeys(("sm_100", "sm_100a", "sm_120", "sm_120a"), "blackwell"),
    **dict.fromkeys(("gfx90a", "gfx942", "gfx950"), "cdna3"),
    **dict.fromkeys(("gfx1100", "gfx1201"), "rdna3"),
}
"""Architectures by chip; gfx90a and gfx950 have the matrix instructions of CDNA3 that the table takes, gfx1201 those of
RDNA3. Another chip of a GPU is "fallback"."""

CHIPS = {
    "ampere": "sm_80", "ada": "sm_89", "hopper": "sm_90a", "blackwell": "sm_120a", "cdna3": "gfx942", "rdna3":
    "gfx1100",
}  # fmt: skip
"""The chip whose limits hold where an architecture alone is named: the smallest of Blackwell's."""

TABLE = {
    # architecture, kind: tile, subgroups, stages, instruction
    ("ampere", PRODUCT): ((128, 128, 32), 4, 4, "mma.sync"),
    ("ampere", ATTENTION): ((128, 64, 128), 8, 2, "mma.sync"),
    ("ada", PRODUCT): ((128, 128, 32), 4, 4, "mma.sync"),
    ("ada", ATTENTION): ((128, 32, 128), 4, 2, "mma.sync"),
    ("hopper", PRODUCT): ((128, 256, 64), 12, 4, "wgmma"),
    ("hopper", ATTENTION): ((128, 128, 128), 12, 2, "wgmma"),
    ("blackwell", PRODUCT): ((128, 128, 32), 4, 4, "mma.sync"),
    ("blackwell", ATTENTION): ((128, 32, 128), 4, 2, "mma.sync"),
    ("cdna3", PRODUCT): ((256, 128, 32), 4, 2, "mfma"),
    ("cdna3", ATTENTION): ((128, 64, 128), 4, 1, "mfma"),
    ("rdna3", PRODUCT): ((128, 128, 32), 8, 2, "wmma"),
    ("rdna3", ATTENTION): ((64, 64, 128), 4, 1, "wmma"),
    ("fallback", PRODUCT): ((64, 64, 16), 2, 2, "fma"),
    ("fallback", ATTENTION): ((32, 32, 64), 2, 1, "fma"),
    ("fallback", ROWS): ((1, 4, 1), 4, 1, "fma"),
    ("fallback", ELEMENTS): ((1, 4, 1), 4, 1, "fma"),
    ("cpu", PRODUCT): ((8, 32, 512), 1, 1, "fma"),
    ("cpu", ATTENTION): ((48, 256, 128), 1, 1, "fma"),
    ("cpu", ROWS): ((1, 16, 1), 1, 1, "fma"),
    ("cpu", ELEMENTS): ((1, 16, 1), 1, 1, "fma"),
}
"""What an architecture has no row for is as in "fallback"."""
