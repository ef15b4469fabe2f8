"""The process and the machine that pykern runs in: settings, paths, other packages, caches of the processor."""
