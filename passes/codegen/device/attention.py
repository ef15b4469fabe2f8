"""Attention on a device: a group takes queries of one batch and meets the keys block by block.

Comes in: a call that stands for attention. Goes out: a kernel and its launch. Scores are never in memory as a whole:
what is done with a block of them, a running maximum and sum, is told in `codegen.cpu.attention.tiles`. Read next:
`fma_attention` (by multiply-adds), `matrix_attention` (by tensor cores), `wave_attention` (by matrix cores of AMD),
`warpgroup_attention` (by four subgroups together, on Hopper).
"""

from __future__ import annotations

from pykern.passes.analysis.cost_model.devices import ATTENTION_KEYS
from pykern.passes.codegen.device.attention_elements import AttentionElements
from pykern.passes.codegen.device.fma_attention import AttentionTile, FmaAttention
from pykern.passes.codegen.device.kernel import Kernel, KernelContext
from pykern.passes.codegen.device.matrix_attention import (
    MatrixAttention,
    MatrixAttentionTile,
    why_not_attention,
)
from pykern.passes.codegen.device.warpgroup_attention import WarpgroupAttention, warpgroup_boxes
from pykern.passes.codegen.device.wave_attention import WaveAttention
from pykern.passes.fusion.attention.calls import AttentionCall
from pykern.passes.remarks import remark


def launch_attention(place: KernelContext, found: AttentionCall) -> None:
    """Put launches in the place of a call that stands for attention."""
    reason = why_not_attention(found, place.matrix_unit)
    if reason is None:
        remark(found.call, "attention uses tensor cores")
        _by_matrices(place, found)
    else:
        remark(found.call, f"attention does not use tensor cores: {reason}")
        _by_multiply_adds(place, found)
    found.call.erase()


def _by_matrices(place: KernelContext, found: AttentionCall) -> None:
    tile = MatrixAttentionTile.of_call(found, place.aligned, place.matrix_unit)
    boxes = warpgroup_boxes(found, tile, place.aligned) if place.warpgroup_unit else None
    blocks = -(-found.shape.queries // tile.queries)
    ndrange = found.shape.batch_count * tile.panels, blocks, tile.items
    with Kernel(place, found.call, ndrange, (1, 1, tile.items)) as kernel:
        elements = AttentionElements(kernel, found, tile.keys)
        if tile.instruction.groups:
            WaveAttention(elements, tile, place.matrix_unit).emit(blocks)
        elif boxes is not None:
            WarpgroupAttention(elements, tile, boxes).emit(blocks)
        else:
            MatrixAttention(elements, tile).emit(blocks)


def _by_multiply_adds(place: KernelContext, found: AttentionCall) -> None:
    tile = AttentionTile.of_shape(found.shape)
    blocks = -(-found.shape.queries // tile.queries)
    ndrange = found.shape.batch_count * tile.panels, blocks, tile.items
    with Kernel(place, found.call, ndrange, (1, 1, tile.items)) as kernel:
        FmaAttention(AttentionElements(kernel, found, ATTENTION_KEYS), tile).emit(blocks)
