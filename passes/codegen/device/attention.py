"""Attention on a device: a group takes queries of one batch and meets the keys block by block.

Comes in: a program on buffers with calls that stand for attention. Goes out: a kernel and its launch for each. Scores
are never in memory as a whole: what is done with a block of them, a running maximum and sum, is told in
`codegen.cpu.attention.tiles`. Read next: `fma_attention` (by multiply-adds).
"""

from __future__ import annotations

from pykern.passes.codegen.attention_calls import AttentionCall, attention_calls, erase_functions
from pykern.passes.codegen.device.attention_elements import AttentionElements
from pykern.passes.codegen.device.fma_attention import AttentionTile, FmaAttention
from pykern.passes.codegen.device.kernel import Kernel, KernelContext


def launch_attentions(place: KernelContext) -> None:
    """Put launches in the place of all calls that stand for attention, and erase what they call."""
    found = attention_calls(place.module, place.program)
    for each in found:
        _by_multiply_adds(place, each)
        each.call.erase()
    erase_functions(found)


def _by_multiply_adds(place: KernelContext, found: AttentionCall) -> None:
    tile = AttentionTile.of_shape(found.shape)
    blocks = -(-found.shape.queries // tile.queries)
    ndrange = found.shape.batch_count * tile.panels, blocks, tile.items
    with Kernel(place, found.call, ndrange, (1, 1, tile.items)) as kernel:
        FmaAttention(AttentionElements(kernel, found), tile).emit(blocks)
