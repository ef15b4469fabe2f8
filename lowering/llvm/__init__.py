"""The CPU: loops to LLVM, an object, a shared object with a CPython entry.

The way: `pipeline` and `loop_pipeline` (the passes down to the llvm dialect), `codegen` (LLVM's optimiser and
assembler), `launcher` and `entry` (what the runtime calls, written by `text_ir`), `linker`.
"""
