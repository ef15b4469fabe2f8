"""The command of a file of workloads: a process for each number of threads, a table, JSON lines, plots.

Comes in: workloads and peers, declared in ``benchmarks/``. Goes out: `Run`, printed and written. Each child process is
bound to as many processors as it has threads, before any library is loaded, and all libraries are told the
number (`threads`). Read next: `contest`, what happens in the child.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pykern.benchmarking import records, threads
from pykern.benchmarking.interleaved import Effort
from pykern.benchmarking.processes import ChildFailed, messages
from pykern.benchmarking.progress import Progress
from pykern.benchmarking.records import Record
from pykern.benchmarking.scoreboard import scoreboard
from pykern.benchmarking.terminal import style_of
from pykern.benchmarking.workload import Case, Peer, Workload
from pykern.environment.installation import no_plots

LONGEST_REST = 0.5
"""Seconds: threads that are awake for longer after their work are not waited for."""
Plots = Callable[[Sequence[Record], str], None]
"""Draws records into files whose names begin with the path given."""


@dataclass
class Run:
    """What was measured, which peers are missing and why, and what of pykern's own is wrong."""

    found: list[Record] = field(default_factory=list)
    missing: list[tuple[str, str, str]] = field(default_factory=list)
    wrong: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Suite:
    """The workloads of one command: ``Suite("cpu", file=__file__, ...).main()``."""

    name: str
    file: str
    workloads: Sequence[Workload]
    peers: Sequence[Peer]
    effort: Effort = field(default_factory=Effort)
    plots: Plots | None = None
    threads: str = ""
    description: str = ""

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run the command; gives the exit code: 1 where pykern is wrong or a process failed."""
        if "--child" in (sys.argv[1:] if arguments is None else arguments):
            return self._child()
        chosen = self._chosen(arguments)
        run, status = Run(), 130
        try:
            status = self._measured(chosen, run)
        except KeyboardInterrupt:
            print(f"\n{self.name}: stopped; {len(run.found)} results are kept", file=sys.stderr)
        print(scoreboard(run.found, run.missing, style_of(sys.stdout)))
        for title, name, why in run.wrong:
            print(f"WRONG: {title}, {name}: {why}", file=sys.stderr)
        self._write(run, chosen)
        return status or int(bool(run.wrong) or not run.found)

    def _chosen(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        parser = argparse.ArgumentParser(
            description=self.description, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        most = len(threads.processors())
        default = self.threads or ",".join(map(str, sorted({1, most})))
        parser.add_argument("--threads", default=default, metavar="N,M", help=f"or `all`; default: {default}")
        parser.add_argument("--only", default="", metavar="WORD", help="workloads whose name holds this")
        parser.add_argument("--peers", default="", metavar="A,B", help="these peers only; default: all")
        parser.add_argument(
            "--json",
            metavar="FILE",
            help="JSON lines; default: results/NAME.json beside the command; with --quick results/quick/NAME.json",
        )
        parser.add_argument("--csv", metavar="FILE")
        parser.add_argument("--html", metavar="FILE")
        parser.add_argument("--quick", action="store_true", help="few rounds: a try, no figures to quote")
        parser.add_argument("--no-plots", action="store_true")
        chosen = parser.parse_args(arguments)
        try:
            chosen.threads = threads.counts(chosen.threads)
        except ValueError as error:
            parser.error(f"--threads: {error}")
        if not any(chosen.only in one.title for one in self.workloads):
            parser.error(f"no workload has a name like {chosen.only!r}")
        return chosen

    def _measured(self, chosen: argparse.Namespace, run: Run) -> int:
        """Fill `run`; gives the exit code."""
        status = 0
        titles = [one.title for one in self.workloads if chosen.only in one.title]
        progress = Progress(self.name, len(titles) * len(chosen.threads))
        path = self._path(chosen)
        for count in chosen.threads:
            job = {
                "threads": count, "only": chosen.only, "peers": chosen.peers, "quick": chosen.quick,
                "without": [], "done": [],
            }  # fmt: skip
            with tempfile.TemporaryDirectory(prefix="pykern-bench-") as cache:
                while (failed := self._child_failed(job, cache, run, progress, path)) is not None:
                    title, name, error = failed
                    if name in ("pykern", *job["without"]):
                        print(f"\n{self.name}: {title}, {count} threads: {error}", file=sys.stderr)
                        status = 1
                        if title not in titles or title in job["done"]:
                            break
                        run.wrong.append((title, name, str(error)))
                        job["done"].append(title)  # the others are measured all the same
                        progress.step(title)
                        continue
                    run.missing.append((title, name, f"{error}; left out from here on, see above"))
                    job["without"].append(name)
        progress.end()
        return status

    def _child_failed(
        self, job: dict[str, Any], cache: str, run: Run, progress: Progress, path: str
    ) -> tuple[str, str, ChildFailed] | None:
        """Measure what is not done. Where the process fails: the workload and whose round it was.

        Peers may end the process; the next one goes on without them.
        """
        trying = ("", "pykern")
        try:
            for kind, what in messages(job, job["threads"], cache, (self.file, "--child")):
                if kind == "record":
                    run.found.append(what)
                elif kind == "trying":
                    trying = tuple(what)
                elif kind == "done":
                    job["done"].append(what)
                    self._keep(run, path)
                    progress.step(f"{what}  {job['threads']} thread{'s' * (job['threads'] > 1)}")
                else:
                    kept = run.missing if kind == "missing" else run.wrong
                    kept += [tuple(what)] if tuple(what) not in kept else []
        except ChildFailed as error:
            return trying[0], trying[1], error
        return None

    def _path(self, chosen: argparse.Namespace) -> str:
        """Tries are kept apart: they overwrite no figures."""
        folder = os.path.join(os.path.dirname(os.path.abspath(self.file)), "results")
        return chosen.json or os.path.join(folder, "quick" if chosen.quick else "", f"{self.name}.json")

    def _keep(self, run: Run, path: str) -> None:
        """Write what there is: a run that is stopped later loses nothing."""
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(records.as_lines(run.found))

    def _write(self, run: Run, chosen: argparse.Namespace) -> None:
        path = self._path(chosen)
        self._keep(run, path)
        if chosen.csv:
            with open(chosen.csv, "w", encoding="utf-8") as file:
                file.write(records.as_csv(run.found))
        if chosen.html:
            from pykern.benchmarking.page import page

            with open(chosen.html, "w", encoding="utf-8") as file:
                file.write(page(run.found, run.missing))
        if self.plots and run.found and not chosen.no_plots:
            try:
                self.plots(run.found, path.removesuffix(".json"))
            except ModuleNotFoundError as error:
                print(no_plots(error), file=sys.stderr)

    # -- the child ---------------------------------------------------------------------------------

    def _child(self) -> int:
        """Measure in this process; JSON lines to standard output, what libraries print to standard error."""
        out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        job = json.loads(sys.stdin.read())
        threads.bind(job["threads"])

        def send(kind: str, what: Any) -> None:
            out.write(json.dumps({kind: what}, default=lambda value: value.item()) + "\n")
            out.flush()

        from pykern.benchmarking import facts, limits
        from pykern.benchmarking.contest import contest

        wanted = set(filter(None, job["peers"].split(",")))
        wanted = (wanted or {p.name for p in self.peers}) - set(job["without"])
        loaded = {}
        for peer in (p for p in self.peers if p.name in wanted):
            send("trying", ["loading", peer.name])
            loaded[peer.name] = peer.load(job["threads"])
        send("trying", ["the limits", "pykern"])
        effort = self.effort_for(job["threads"], job["quick"])
        shared = facts.run(os.path.dirname(os.path.abspath(self.file)))
        for workload in self.workloads:
            if job["only"] not in workload.title or workload.title in job["done"]:
                continue
            case = Case(workload, workload.make(), job["threads"])
            roof = limits.measured("cpu", workload.dtype)
            for kind, what in contest(case, loaded, roof, effort, shared):
                send(kind, what)
            send("done", workload.title)
        return 0

    def effort_for(self, count: int, quick: bool) -> Effort:
        """Every round waits until the threads of the others sleep, JAX's pool included, which is there with one too."""
        e = self.effort
        if quick:
            return Effort(2, 0.05, 0.001, LONGEST_REST)
        return Effort(e.repeat, e.budget, e.at_least, LONGEST_REST)
