# RUN: %python %s | FileCheck %s
"""With the option `lines` PTX tells the line of Python of each instruction: in a function that is called, its own."""

import pykern as pk

f32 = pk.spec(None, pk.f32)


@pk.func
def read(x, i):
    return x[i]


@pk.kernel
def gather(out, x, at):
    i = pk.index()
    out[i] = read(x, at[i])


# CHECK-LABEL: .visible .entry kern_gather(
# CHECK: .loc 1 17 22
# CHECK: ld.global.nc.b32
# CHECK-NEXT: .loc 1 11 12
# CHECK: ld.global.nc.b32
# CHECK-NEXT: .loc 1 17 5
# CHECK: st.global.b32
# CHECK: .file 1 "{{.*}}lines.py"
# CHECK-LABEL: .visible .entry kern_gather(
# CHECK-NOT: .loc
text = gather.lower(
    f32, f32, pk.spec(None, pk.i32), ndrange="n", target="nvvm:sm_80+ptx+lines"
).artifact.binary
print(text.decode())
text = gather.lower(f32, f32, pk.spec(None, pk.i32), ndrange="n", target="nvvm:sm_80+ptx").artifact.binary
print(text.decode())
