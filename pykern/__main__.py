"""``python -m pykern``: the same as ``pykern`` on the command line, where that is not on the path."""

from __future__ import annotations

import sys

from pykern.tools.cli import main

if __name__ == "__main__":
    sys.exit(main())
