"""The CPU: loops to LLVM, an object, a shared object with a CPython entry.

The way: `pipeline` (passes down to the llvm dialect; `reports`, `atomics`, `arguments` are its own),
`codegen` (LLVM's optimiser and assembler), `launcher` and `entry` (what the runtime calls), `linker`.
"""
