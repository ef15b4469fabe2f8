"""The module MLIR's bindings import for the namespace `kern`: every op class, registered."""

from __future__ import annotations

from pykern.dialect.atomics import *  # noqa: F403
from pykern.dialect.collectives import *  # noqa: F403
from pykern.dialect.differentiation import *  # noqa: F403
from pykern.dialect.fragments import *  # noqa: F403
from pykern.dialect.index_space import *  # noqa: F403
from pykern.dialect.launch import *  # noqa: F403
from pykern.dialect.matrices import *  # noqa: F403
from pykern.dialect.memory import *  # noqa: F403
from pykern.dialect.reports import *  # noqa: F403
from pykern.dialect.tape import *  # noqa: F403
from pykern.dialect.warpgroups import *  # noqa: F403
