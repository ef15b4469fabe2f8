"""The handler by which XLA calls a program on the CPU: `frame` says what XLA gives it, `handler` writes it."""
