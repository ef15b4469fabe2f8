"""Measuring: `pk.benchmark` for users, and the harness of this project's own benchmarks.

Comes in: functions and their inputs. Goes out: times with their spread, records in JSON lines, pages and plots.
Read in this order: `samples`, `interleaved` and `clock` (how time is taken), `agreement` (are the results the same),
`benchmark` (the front door), `sweep` and `records` (declared benchmarks), `harness` (workloads beside peers).
"""
