"""``pykern test [PATHS]``: the user's lit tests, with or without a ``lit.cfg.py``.

Exit codes: 0 every test passed, 1 some failed, 2 a path is wrong or holds no test, 3 lit is not there or gives up.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from dataclasses import asdict

from pykern.testing import lit_run
from pykern.testing.lit_run import LitError, Outcome
from pykern.testing.update import AMBIGUOUS, NO_OUTPUT, NO_TEXT, Update, update


def run(chosen: argparse.Namespace) -> int:
    """Run the command; gives the exit code."""
    params = dict(param.partition("=")[::2] for param in chosen.param)
    try:
        found = lit_run.find(chosen.paths)
    except FileNotFoundError as error:
        print(f"pykern test: {error}", file=sys.stderr)
        return 2
    if not found:
        print(f"pykern test: no file with RUN lines in {', '.join(chosen.paths)}", file=sys.stderr)
        return 2
    try:
        updates = update(found, params, chosen.filter) if chosen.update else []
        outcomes = lit_run.run(found, params, chosen.filter, chosen.jobs)
    except LitError as error:
        print(f"pykern test: {error}", file=sys.stderr)
        return 3
    if not outcomes:
        print(f"pykern test: no test has a name like {chosen.filter!r}", file=sys.stderr)
        return 2
    if chosen.json:
        print(json.dumps(_as_json(updates, outcomes), indent=1))
    else:
        _show(updates, outcomes, chosen.verbose)
    not_written = any(one.what in (AMBIGUOUS, NO_OUTPUT, NO_TEXT) for one in updates)
    return int(not_written or any(one.failed for one in outcomes))


def _show(updates: list[Update], outcomes: list[Outcome], verbose: bool) -> None:
    for one in updates:
        print(f"{os.path.relpath(one.test)}: {one.prefix} lines {one.what}")
    for one in outcomes:
        if one.failed:
            print(f"FAILED   {one.name}\n{textwrap.indent(one.text, '  ')}\n")
            if "no check strings found" in one.text:
                print("  help: `pykern test --update` writes CHECK lines from what is printed now\n")
        elif one.not_run:
            print(f"not run  {one.name}: {one.text}")
        elif verbose:
            print(f"passed   {one.name}  {one.seconds:.2f} s")
    failed = [one for one in outcomes if one.failed]
    not_run = [one for one in outcomes if one.not_run]
    counts = [f"{len(outcomes) - len(failed) - len(not_run)} passed"]
    counts += [f"{len(failed)} failed"] if failed else []
    counts += [f"{len(not_run)} not run"] if not_run else []
    print(", ".join(counts))


def _as_json(updates: list[Update], outcomes: list[Outcome]) -> dict[str, object]:
    tests = [
        {"name": one.name, "result": one.code, "seconds": one.seconds, "output": one.text} for one in outcomes
    ]
    return {"tests": tests, "updates": [{**asdict(one), "test": str(one.test)} for one in updates]}
