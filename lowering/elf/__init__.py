"""A linker: objects of LLVM's become shared objects, in the compiler's own process and without any file.

`objects` reads what LLVM emits, `x86_64`, `aarch64` and `amdgpu` know relocations, `writer` writes ELF files.
`shared_object` links code for the CPU, in the form that `pykern.runtime.loader` maps, and dlopen too; `code_object`
links code for AMD's devices.
"""
