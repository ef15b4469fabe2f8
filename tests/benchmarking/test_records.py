"""Records: the schema, files that are read back, comparison of two runs, charts and pages."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import sys
import threading
from html.parser import HTMLParser

import numpy as np
import pytest

from pykern.benchmarking import charts, records, regression
from pykern.benchmarking.page import page
from pykern.benchmarking.samples import Samples, duration
from pykern.benchmarking.scoreboard import cells, scoreboard
from pykern.benchmarking.terminal import Style, bar, table
from pykern.errors import LaunchError


def record(median: float = 1e-3, line: str = "pykern", n: int = 4096, **more) -> records.Record:
    made = {
        "schema": records.SCHEMA, "benchmark": "saxpy", "line": line, "device": "cpu", "device_name": "a CPU",
        "clock": "host", "cache": "warm", "threads": 1, "config": {"n": n}, "allocates": False,
        **records.times(Samples((median * 0.9, median, median * 1.2))), "bytes": 12 * n, "flops": 2 * n,
        "versions": {"python": "3"}, "date": "2026-11-21T00:00:00+00:00", **more,
    }  # fmt: skip
    return made | records.rates(made, {"gb_per_s": 10.0, "gflop_per_s": 50.0})


def test_quantiles_are_numpys(rng):
    taken = rng.random(37)
    samples = Samples(tuple(taken))
    found = [samples.min, samples.p10, samples.median, samples.p90]
    np.testing.assert_allclose(found, [taken.min(), *np.quantile(taken, [0.1, 0.5, 0.9])])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.50 s"), (0.0123, "12.3 ms"), (4.56e-4, "456 us"), (7e-8, "70.0 ns"), (0, "0 ns")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_a_record_follows_the_schema_and_comes_back(tmp_path):
    assert records.problems(record()) == []
    path = tmp_path / "out.json"
    path.write_text(records.as_lines([record(), record(2e-3)]))
    assert records.read(str(path)) == [record(), record(2e-3)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"line": None}, "`line` is a NoneType"),
        ({"n": "many"}, "`n` is a str"),
        ({"threads": True}, "`threads` is a bool"),
        ({"surprise": 1}, "`surprise` is no field"),
        ({"kernel": None}, None),
    ],
)
def test_what_the_schema_says_of_others(change, said):
    assert records.problems(record() | change) == ([said] if said else [])


def test_missing_fields_are_named():
    short = record()
    del short["median_ns"]
    assert records.problems(short) == ["`median_ns` is missing"]


def test_rates_and_the_share_of_the_limit():
    one = record(1e-3, n=1_000_000)
    assert one["gb_per_s"] == pytest.approx(12.0)
    assert one["gflop_per_s"] == pytest.approx(2.0)
    assert one["bound"] == "memory"
    assert one["share_of_limit"] == pytest.approx(1.2)
    heavy = record() | {"flops": 10**9, "median_ns": 1e9}
    assert records.rates(heavy, {"gb_per_s": 10.0, "gflop_per_s": 2.0})["share_of_limit"] == pytest.approx(
        0.5
    )


@pytest.mark.parametrize(
    "text",
    [
        "{", '{"schema": "other"}', "[1]", "3", "", "\n", "[" * 100_000, '{"a":' * 50_000, "9" * 10_000,
        '{"machine_info": [], "benchmarks": [{"name": 1}]}', '{"machine_info": {}, "benchmarks": 5}',
        '{"machine_info": {}, "benchmarks": [{"name": "a", "stats": []}]}',
        '{"machine_info": {}, "benchmarks": [{"name": "a", "stats": {"rounds": 1e999}}]}',
        '{"machine_info": {"x": "' + "\\ud800",
    ],
)  # fmt: skip
def test_files_that_hold_no_results(tmp_path, text):
    path = tmp_path / "out.json"
    path.write_text(text)
    with pytest.raises(LaunchError, match=f"{path} holds no results|{path}, line 1 is no result"):
        records.read(str(path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"median_ns": 0.0}, "`median_ns` is 0.0, no time"),
        ({"min_ns": -1.0}, "`min_ns` is -1.0, no time"),
        ({"p90_ns": math.nan}, "`p90_ns` is nan, no time"),
        ({"p10_ns": math.inf}, "`p10_ns` is inf, no time"),
        ({"schema": "pykern-bench/9"}, "`schema` is 'pykern-bench/9', and 'pykern-bench/1' is read"),
    ],
)
def test_records_that_nothing_is_compared_with(tmp_path, change, said):
    path = tmp_path / "out.json"
    path.write_text(records.as_lines([record(), record() | change]))
    with pytest.raises(LaunchError, match="line 2 is no result") as caught:
        records.read(str(path))
    assert said in caught.value.reason


@pytest.mark.skipif(sys.platform != "linux", reason="named pipes and /dev/zero")
def test_pipes_and_devices(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, said in (
        (pipe, "nobody writes to it"),
        ("/dev/zero", "a device"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(LaunchError, match=said):
            records.read(str(path))
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with open(pipe, "w") as writer:  # somebody writes to it, a part of it later
        text = records.as_lines([record()])
        later = threading.Timer(0.05, lambda: (writer.write(text), writer.close()))
        later.start()
        assert records.read(str(pipe)) == [record()]
        later.join()
    os.close(reader)


def test_results_of_pytest_benchmark(tmp_path):
    path = tmp_path / "pytest.json"
    stats = {"rounds": 5, "median": 1e-3, "min": 9e-4, "q1": 9.5e-4, "q3": 2e-3}
    one = {"name": "test_a", "group": None, "stats": stats, "params": {"n": 3}, "extra_info": {"bytes": 1000}}
    path.write_text(json.dumps({"machine_info": {"machine": "x"}, "datetime": "now", "benchmarks": [one]}))
    (found,) = records.read(str(path))
    assert records.problems(found) == []
    assert (found["benchmark"], found["median_ns"], found["config"]) == ("test_a", 1e6, {"n": 3})
    assert found["gb_per_s"] == pytest.approx(1e-3)


def test_csv_has_a_column_for_what_varies():
    rows = list(csv.DictReader(io.StringIO(records.as_csv([record(n=7), record(n=8)]))))
    assert [row["config.n"] for row in rows] == ["7", "8"]
    assert rows[0]["n"] == "3"


# -- regressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "number"), [("5%", 0.05), ("0.05", 0.05), (" 12.5 %", 0.125)])
def test_shares(text, number):
    assert regression.share(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["five", "-5%", "5%%", ""])
def test_what_is_no_share(text):
    with pytest.raises(LaunchError):
        regression.share(text)


def test_what_became_slower_fails():
    old = [record(1e-3), record(1e-3, n=8), record(1e-3, line="numpy")]
    new = [record(1.2e-3), record(0.5e-3, n=8), record(1.01e-3, line="numpy"), record(n=99)]
    changes = regression.compared(old, new)
    assert [round(change.slower, 3) for change in changes] == [0.2, -0.5, 0.01]
    assert [change.fails(0.05) for change in changes] == [True, False, False]
    told = regression.told(changes, 0.05, Style())
    assert told.splitlines()[1].startswith("saxpy n=4096, pykern, 1 thread")
    assert told.count("slower") == 1


def test_one_slow_moment_is_no_regression():
    new = record(1.5e-3) | {"min_ns": record(1e-3)["min_ns"]}
    assert not regression.compared([record(1e-3)], [new])[0].fails(0.05)


# -- tables, charts, pages -----------------------------------------------------------------------


def test_bars_and_tables():
    assert bar(1, 4) == "████"
    assert bar(0.5, 4) == "██  "
    assert bar(0.03, 4) == "▏   "
    assert table(["", "b"], [["long", "1"]]) == "      b\nlong  1"


def test_the_best_peer_is_named():
    found = [
        record(1e-3), record(3e-3, line="numpy"), record(2e-3, line="jax", allocates=True),
        record(4e-3, allocates=True),
    ]  # fmt: skip
    given, fresh = (cells(found, allocates)[("saxpy 4096", 1)] for allocates in (False, True))
    assert (given.peer["line"], given.ratio) == ("jax", pytest.approx(2.0))
    assert (fresh.peer["line"], fresh.ratio) == ("jax", pytest.approx(0.5))
    text = scoreboard(found, [("saxpy 4096", "warp", "not installed (pip install warp-lang)")], Style())
    assert "jax*" in text
    assert "warp: not installed (pip install warp-lang)" in text


class _Page(HTMLParser):
    """Tags that are open, and whatever asks for something from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}
        self.outside: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.outside += [value for name, value in attrs if name in ("src", "href")]


def test_a_page_holds_lines_a_roofline_and_nothing_from_outside():
    found = [
        record(1e-6 * n**0.5, line=line, n=n, benchmark="<script>alert(1)</script>")
        for n in (10, 100, 1000)
        for line in ("pykern", "numpy & co")
    ]
    text = page(found, [("saxpy", "<ghost>", "not installed")])
    parsed = _Page()
    parsed.feed(text)
    assert parsed.tags["svg"] == 2
    assert parsed.tags["polyline"] >= 5  # two lines, two frames, a roof
    assert "script" not in parsed.tags
    assert not parsed.outside
    assert "numpy &amp; co" in text
    assert "&lt;ghost&gt;: not installed" in text
    assert "var(--paper)" in text  # the skin of the explorer


def test_lines_go_where_the_numbers_are():
    drawn = charts.lines([record(1e-3, n=10), record(1e-3, n=1000), record(1e-3, n=100)])
    points = re.search(r'class="line c0" points="([^"]+)"', drawn)
    assert points is not None
    xs, ys = zip(*((float(a) for a in p.split(",")) for p in points[1].split()), strict=True)
    assert xs == tuple(sorted(xs))
    assert xs[1] == pytest.approx((xs[0] + xs[2]) / 2, abs=0.2)  # powers of ten, evenly
    assert ys == tuple(sorted(ys, reverse=True))  # rates grow upwards


def test_nothing_to_draw():
    assert charts.lines([record() | {"config": {"size": "a x b"}}]) == ""
    assert charts.roofline([record() | {"limits": None}]) == ""
