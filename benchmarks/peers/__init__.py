"""What pykern is measured beside: one module a peer, with a function for each workload it has a form of.

A new peer is a module here and a line in `PEERS`. A function takes a `Case` and gives `Contender`s; peers that are not
installed, or cannot be used, are named with the reason and left out.
"""

from __future__ import annotations

from pykern.benchmarking.workload import Peer

PEERS = (
    Peer("numpy", "peers.with_numpy", "numpy"),
    Peer("numba", "peers.with_numba", "numba"),
    Peer("torch", "peers.with_torch", "torch"),
    Peer("torch.compile", "peers.with_torch_compile", "torch"),
    Peer("jax", "peers.with_jax", "jax"),
    Peer("warp", "peers.with_warp", "warp", "warp-lang"),
    Peer("taichi", "peers.with_taichi", "taichi"),
    Peer("iree", "peers.with_iree", "iree", "iree-base-compiler iree-base-runtime"),
)
