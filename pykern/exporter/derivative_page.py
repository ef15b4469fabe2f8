"""What a live page of a kernel's derivative runs, and what its arrays begin with.

Comes in: `pk.autodiff` of a kernel, and a call of it. Goes out: the kernel with shadows as parameters, their values,
and the page. The reverse adds to its gradients, so each run of it begins with the arrays as they were. Read next:
`live_page`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from pykern.data.source import ArraySpec, KernelSource
from pykern.derivatives.autodiff import Autodiff
from pykern.errors import LaunchError
from pykern.exporter.live_page import LivePage
from pykern.launching.specs import Spec
from pykern.lowering.source.argument_names import named_leaves


def derivative_page(
    derivative: Autodiff, args: tuple[Any, ...], target: str, page: LivePage, keywords: dict[str, Any]
) -> tuple[Any, dict[str, Any], dict[str, Any], LivePage]:
    """The kernel to lower, the values of its parameters, the options of its launch, and the page.

    Where only the type of a shadow is known, it begins with ones if the kernel writes its array and is run in reverse,
    which gives the gradient of the sum, or if the kernel reads it and is run forward; others with zeros.
    """
    flat, listed, options = derivative.flattened(args, dict(keywords))
    values = dict(zip(flat.signature.parameters, listed, strict=True))
    primal = derivative.kernel
    shadows = _shadows(list(values), list(primal.signature.parameters))
    lowered = primal.lower(
        *(value for name, value in values.items() if name not in shadows), target=target, **options
    )
    written = _written(lowered)
    is_reverse = derivative.mode == "reverse"
    for name, of in shadows.items():
        given = values[name]
        lengths = [n for n in given.shape if isinstance(n, int)] if isinstance(given, Spec) else []
        if isinstance(given, Spec) and len(lengths) == len(given.shape):  # others are refused later
            import numpy as np  # here: `import pykern` alone loads no NumPy

            begun = np.ones if (of in written) == is_reverse else np.zeros
            values[name] = begun(lengths, given.dtype.numpy)
    if is_reverse and page.swap:
        raise LaunchError(
            "a reverse derivative begins each run with its arrays as they were, so none change places",
            hint="leave swap out, or export the kernel itself",
        )
    shown = [name for name, of in shadows.items() if (of in written) != is_reverse]
    return flat, values, options, replace(page, show=page.show or (shown or list(shadows))[0])


def _shadows(names: list[str], own: list[str]) -> dict[str, str]:
    """Each shadow, and what it is the shadow of: the parameter before it."""
    return {name: before for before, name in pairwise(names) if name not in own}


def _written(lowered: Any) -> set[str]:
    """Names of the arrays that a kernel writes."""
    source = lowered.source
    assert isinstance(source, KernelSource)
    arrays = [name for name, spec in named_leaves(source) if isinstance(spec, ArraySpec)]
    return {name for name, use in zip(arrays, lowered.artifact.uses, strict=True) if use.writes}
