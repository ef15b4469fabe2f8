"""The backend of `torch.compile`: ``torch.compile(model, backend="pykern")``.

Comes in: a graph that Dynamo has captured. Goes out: a function that runs it. AOTAutograd makes a forward and a
backward graph of ATen operations without mutation; parts of both become array programs (`partition`, `part`), the
rest is called in PyTorch. Read next: `support` (what is taken), `writer` (how it is written), `summary`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pykern.torch.backend.decompositions import decompositions
from pykern.torch.backend.destinations import destinations
from pykern.torch.backend.framework import (
    GraphModule,
    aot_autograd,
    make_boxed_func,
    min_cut_rematerialization_partition,
)
from pykern.torch.backend.part import Part, compile_ahead
from pykern.torch.backend.partition import partitioned
from pykern.torch.backend.results import give_own_results
from pykern.torch.backend.shared_factors import join_products
from pykern.torch.backend.summary import GraphSummary, Summary, summary_of_caller
from pykern.torch.backend.support import Support
from pykern.torch.backend.writes import (
    forget_what_is_overwritten,
    give_what_is_written,
    keep_what_is_saved,
    update_in_place,
    writes_elsewhere,
)


def backend(graph: GraphModule, inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """Compile a graph that Dynamo has captured, its gradient included."""
    compiling = summary_of_caller()
    compile_with = aot_autograd(
        fw_compiler=functools.partial(_compiled, compiling, "forward"),
        bw_compiler=functools.partial(_compiled, compiling, "backward"),
        inference_compiler=functools.partial(_compiled, compiling, "inference"),
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return compile_with(graph, inputs, **options)


def _compiled(compiling: Summary, kind: str, graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """One graph with its parts replaced."""
    support = Support()
    parts: list[Part] = []
    if kind == "forward":
        keep_what_is_saved(graph)
    give_what_is_written(graph)
    forget_what_is_overwritten(graph)
    if not writes_elsewhere(graph):
        join_products(graph)
        graph, names = partitioned(graph, support)
        places = destinations(graph, names)
        compile_ahead((graph.get_submodule(name), places[name]) for name in names)
        for name in names:
            part = Part(graph.get_submodule(name), places[name])
            parts.append(part)
            setattr(graph, name, part)
        update_in_place(graph)
    compiling.add(GraphSummary.of(kind, graph, parts, support.reasons))
    give_own_results(graph)
    return make_boxed_func(graph.forward)
