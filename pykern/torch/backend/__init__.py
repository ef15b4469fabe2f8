"""`torch.compile(model, backend="pykern")`.

`compiler` is the backend, `summary` says what it did. Parts of a graph become array programs: `support` says which
operations can, `partition` which parts, `writer` and `ops` write the text, `program` compiles it, `part` runs it.
"""

from __future__ import annotations

from pykern.torch.backend.compiler import backend as backend
from pykern.torch.backend.framework import registry

if "pykern" not in registry.list_backends():  # the package is not installed: its entry point would say so
    registry.register_backend(backend, name="pykern")
