"""``pykern bench FILE.py``: the benchmarks a file declares, or ``--suite cpu``, those that come with pykern.

Exit codes: 0 measured, 1 a benchmark failed or became slower than ``--fail-above`` allows, 2 usage.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib import resources
from typing import Any

from pykern.api.user_file import UnreadableFile, UsageError
from pykern.benchmarking import records, regression, report
from pykern.benchmarking.processes import ChildFailed, messages
from pykern.benchmarking.progress import Progress
from pykern.benchmarking.records import Record
from pykern.benchmarking.terminal import style_of
from pykern.benchmarking.threads import counts
from pykern.tools.output import write

SUITES = ("cpu", "devices")


def run(chosen: argparse.Namespace) -> int:
    """Run the command; gives the exit code."""
    try:
        threads = counts(chosen.threads) if chosen.threads else [None]
        above = regression.share(chosen.fail_above) if chosen.fail_above else None
        if above is not None and chosen.compare is None:
            raise UsageError("--fail-above compares with an older run", hint="add --compare OLD.json")
        old = records.read(chosen.compare) if chosen.compare is not None else []
        path = _file(chosen)
    except ValueError as error:
        print(f"pykern bench: {error}", file=sys.stderr)
        return 2
    found, missing, status = _measured(path, chosen, threads)
    if found or missing or not status:
        _show(found, missing, chosen)
    if old:
        changes = regression.compared(old, found)
        style = style_of(sys.stdout)
        print(regression.told(changes, above, style), file=sys.stderr if chosen.json == "-" else sys.stdout)
        if above is not None and (not changes or any(change.fails(above) for change in changes)):
            status = status or 1
    return status


def _file(chosen: argparse.Namespace) -> str:
    """The file to measure. Raises `UsageError` where none, or two, are named."""
    if bool(chosen.file) == bool(chosen.suite):
        raise UsageError("name a file of benchmarks, or a suite", hint=f"--suite {' or '.join(SUITES)}")
    if chosen.suite:
        return str(resources.files("pykern.benchmarking.suites").joinpath(f"{chosen.suite}.py"))
    if not os.path.isfile(chosen.file.partition("::")[0]):
        raise UnreadableFile(f"there is no file `{chosen.file.partition('::')[0]}`")
    return chosen.file


def _measured(
    path: str, chosen: argparse.Namespace, threads: list[Any]
) -> tuple[list[Record], list[tuple[str, str, str]], int]:
    """Records, lines that are missing with the reason, and an exit code. What was measured before a failure is kept."""
    found: list[Record] = []
    missing: dict[tuple[str, str, str], None] = {}
    job = {"file": path, "only": chosen.only, "limits": not chosen.no_limits, "cold": {}, "first": False}
    progress = Progress("measuring", 0)
    with tempfile.TemporaryDirectory(prefix="pykern-bench-") as cache:
        try:
            if not chosen.no_compile:
                progress.say("compiling")
                for _, first in messages(job | {"first": True, "threads": threads[0]}, threads[0], cache):
                    job["cold"] = first
            for count in threads:
                for kind, what in messages(job | {"threads": count}, count, cache):
                    if kind == "record":
                        found.append(what)
                    elif kind == "missing":
                        missing[tuple(what)] = None
                    else:
                        progress.total += 1
                        progress.step(what if count is None else f"{what}  {count} threads")
        except ChildFailed as error:
            progress.end()
            if found or error.status != 1:  # with 1 it has told why
                print(f"pykern bench: {path}: {error}; {len(found)} results are kept", file=sys.stderr)
            return found, list(missing), 1
        except KeyboardInterrupt:
            progress.end()
            print(f"pykern bench: stopped; {len(found)} results are kept", file=sys.stderr)
            return found, list(missing), 130
    progress.end()
    return found, list(missing), 0


def _show(found: list[Record], missing: list[tuple[str, str, str]], chosen: argparse.Namespace) -> None:
    """Files first, then the table: ``-`` is standard output, and then there is no table."""
    if chosen.json and chosen.json != "-":
        write(chosen.json, records.as_lines(found), append=True)  # runs append
    if chosen.csv:
        write(chosen.csv, records.as_csv(found))
    if chosen.html:
        from pykern.benchmarking.page import page

        write(chosen.html, page(found, missing))
    if chosen.json == "-":
        print(records.as_lines(found), end="")
        return
    print(report.text(found, missing, style_of(sys.stdout)))
