"""The partial derivatives of scalar operations: one table a dialect, one line a rule.

Read `arith` and `math` for the rules, `expression` for how a line becomes IR, `table` for look-up.
"""
