"""Benchmarks that come with pykern, for ``pykern bench --suite``: files of declarations like any user's."""
