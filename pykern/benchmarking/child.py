"""A process that measures: ``python -m pykern.benchmarking.child`` (for `processes`, not for people).

Comes in: a job as JSON on standard input. Goes out: JSON lines on standard output, each ``{"say": text}``,
``{"record": ...}``, ``{"missing": ...}`` or ``{"first": ...}``. What libraries print goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from pykern.benchmarking import threads


def main() -> int:
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    job = json.loads(sys.stdin.read())

    def send(kind: str, what: Any) -> None:
        out.write(json.dumps({kind: what}, default=_plain) + "\n")
        out.flush()

    if job["threads"]:
        threads.bind(job["threads"])
    from pykern.benchmarking import suite
    from pykern.errors import KernelError

    try:
        found = suite.chosen(suite.sweeps_of(job["file"]), job["only"])
        if job["first"]:
            send("first", suite.first_calls(found))
            return 0
        for sweep in found:
            for name, reason in sweep.missing.items():
                send("missing", [sweep.name, name, reason])
        folder = os.path.dirname(os.path.abspath(job["file"].partition("::")[0]))
        records = suite.run(
            found, job["threads"], job["cold"], folder, job["limits"], lambda text: send("say", text)
        )
        for record in records:
            send("record", record)
    except (KernelError, AssertionError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's; anything else as its text."""
    return value.item() if hasattr(value, "item") else str(value)


if __name__ == "__main__":
    raise SystemExit(main())
