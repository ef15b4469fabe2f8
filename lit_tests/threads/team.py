# RUN: %python %s x86-64-v2 | FileCheck %s --check-prefixes=CHECK,X86
# RUN: %python %s aarch64 | FileCheck %s --check-prefixes=CHECK,ARM
"""The team of threads compiles for both machines whose Linux it knows, and needs no thread-local memory."""

import sys

from pykern.data.abi import TEAM_FUNCTIONS
from pykern.lowering.llvm.codegen import generate
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.machines import ELSEWHERE
from pykern.lowering.llvm.team.code import team_text

host, _ = ELSEWHERE[sys.argv[1]]
code = generate(team_text(host), (), TEAM_FUNCTIONS, host, texts=True)
print(code.llvm_ir, code.assembly)
print("linked", len(link_shared(*code.objects, host=host)) > 0)

# CHECK-NOT: thread_local
# CHECK: define i64 @pk_now() noinline
# X86: call void @llvm.x86.sse2.pause()
# ARM: call void @llvm.aarch64.isb(i32 15)
# X86: {{^}}pk_fork:
# X86: pause
# ARM: {{^}}pk_fork:
# ARM: isb
# CHECK: linked True
