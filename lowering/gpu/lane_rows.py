"""Exchanges between lanes of AMD's GPUs without an address: an operand that comes from another lane (DPP).

Comes in: a word of 32 bits that is the same in each aligned stretch of `step` lanes. Goes out: that of the stretch
beside it, which is `step` lanes away. AMD, "RDNA3 Instruction Set Architecture" and "CDNA3 Instruction Set
Architecture", data parallel processing: lanes stand in rows of 16, and the instruction that computes names a pattern
within a row. `gpu.shuffle` would send the word through the unit of shared memory.
Read next: `subgroups`, whose reductions call this.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, rocdl

_QUAD_1032, _QUAD_2301 = 0xB1, 0x4E
_HALF_MIRROR, _MIRROR = 0x141, 0x140
_PATTERNS = {1: _QUAD_1032, 2: _QUAD_2301, 4: _HALF_MIRROR, 8: _MIRROR}
"""Of each step, the pattern within a row: a mirror reads another lane of the right stretch, which holds the same."""
_ALL = 0xF
_SWAP_16 = 0x401F
"""Of `ds_swizzle`: a lane reads the one whose number differs in bit 4. It takes no address, but the same unit."""


def exchanged(word: ir.Value, step: int, has_row_exchange: bool) -> ir.Value | None:
    """The word `step` lanes away; None where rows of lanes do not help. RDNA exchanges rows (`v_permlanex16`)."""
    kind = word.type
    if step in _PATTERNS:
        return rocdl.DPPUpdateOp(kind, word, word, _PATTERNS[step], _ALL, _ALL, True).result
    if step != 16:
        return None
    i32 = ir.IntegerType.get_signless(32)
    if has_row_exchange:  # any lane of the other row holds the value
        first = arith.ConstantOp(i32, 0).result
        return rocdl.permlanex16(kind, word, word, first, first, True, False)
    return rocdl.ds_swizzle(kind, word, arith.ConstantOp(i32, _SWAP_16).result)
