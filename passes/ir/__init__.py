"""One view of the IR for all passes: what a structured op reads and writes, along which loops, and how one is built."""
