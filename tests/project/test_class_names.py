"""A class has one name in `passes/`, and no other class there has it.

Whoever searches for a class finds one, and an error or a debugger that names it says where it comes from.
"""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.project.tree import modules, nodes


def test_class_names_are_unique_in_passes():
    places = defaultdict(list)
    for name, path in modules().items():
        if name.startswith("pykern.passes."):
            for node in nodes(path):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(f"{name}:{node.lineno}")
    assert places, "no class is found: this test looks at nothing"
    assert not {name: found for name, found in places.items() if len(found) > 1}
