"""`torch.compile(model, backend="pykern")`.

`compiler` is the backend, `summary` says what it did. Parts of a graph become array programs: `support` says which
operations can, `partition` which parts, `writer` and `ops` write the text, `program` compiles it, `part` runs it.
"""

from __future__ import annotations

from pykern.torch.backend.compiler import backend as backend
from pykern.torch.backend.summary import Summary as Summary
from pykern.torch.backend.summary import summary as summary
