"""Array programs for the CPU: start with `target`, then `pipeline`."""
