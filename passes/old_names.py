"""Names that passes had in earlier versions: they still work, and go with the next release.

Comes in: the name of a pass, from a command line or a pipeline as text. Goes out: the name it has now.
"""

from __future__ import annotations

from collections.abc import Mapping

OLD_NAMES: Mapping[str, str] = {
    "kern-hold-fusion": "kern-add-fusion-barriers",
    "kern-own-sums": "kern-privatise-reductions",
    "kern-release-fusion": "kern-remove-fusion-barriers",
    "kern-return-into": "kern-destination-passing",
    "kern-rotate-buffers": "kern-multi-buffer",
    "kern-use-arena": "kern-plan-memory",
}


def current(name: str) -> str:
    """The name of a pass as it is now."""
    return OLD_NAMES.get(name, name)
