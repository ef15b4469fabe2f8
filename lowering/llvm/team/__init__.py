"""The team of threads that launches on the CPU share, in LLVM IR: one image for all of a process.

`state` is the memory it has, `work` how chunks are taken, `workers` the threads, `fork` how a launch gives chunks out
and waits for them, `calls` how Ctrl-C ends one, `interrupts` and `watch` how it does so in the midst of a chunk,
`memory_blocks` what becomes of memory then. Read first: `code`, which puts them together.
"""
