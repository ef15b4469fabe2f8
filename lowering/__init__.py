"""From raised or looped IR to a target's code: one folder per target family."""

if __name__ != "pykern.lowering":
    raise ImportError("import this package as pykern.lowering, not as lowering")
