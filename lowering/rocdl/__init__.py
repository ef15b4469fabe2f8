"""AMD GPUs: `chips` (what each has), `options` (names of targets), `pipeline`, `target`, `codegen`, `metadata`.

Comes in: a module on the kern stage. Goes out: a code object (hsaco), made without any part of ROCm.
"""
