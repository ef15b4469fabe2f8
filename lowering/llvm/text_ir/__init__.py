"""LLVM IR, written as text: what pykern writes itself rather than lowers to, the team of threads and the like.

`values` has types and constants, `module` what a text consists of, `function` its instructions, `body` the loops and
tests of those who write. LLVM's own parser and verifier see every text before it is compiled. Read first: `body`.
"""
