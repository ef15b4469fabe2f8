"""The table of operations that array programs take: ATen's overload to the rule that writes it.

Comes in: a node of a graph. Goes out: lines of the program, by `pykern.torch.backend.writer`. One file a family.
"""

from __future__ import annotations

import operator

from pykern.torch.backend.framework import Node
from pykern.torch.backend.ops import elementwise, forms, normalisation, pooling, products, reductions
from pykern.torch.backend.writer import Rule, Writer


def _item(w: Writer, node: Node) -> str:
    """One result of an operation that has several."""
    of, place = node.args
    return w.names(of)[place]


TABLE: dict[object, Rule] = {
    **elementwise.RULES, **reductions.RULES, **forms.RULES, **products.RULES, **normalisation.RULES, **pooling.RULES,
    operator.getitem: _item,
}  # fmt: skip
VIEWS = forms.VIEWS
SELECTIONS = frozenset(forms.PARTS)
"""Views of a part of a tensor."""
COMPOSITE = normalisation.COMPOSITE | {*pooling.RULES}
LONG = elementwise.FUNCTIONS | {*reductions.RULES}
"""Operations that pay alone where they go over large tensors."""
ELEMENTWISE = frozenset(elementwise.RULES)
NEW = forms.NEW
FREE = VIEWS | NEW | {operator.getitem}
"""Operations that compute nothing, or numbers that are known."""
