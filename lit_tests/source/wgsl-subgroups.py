# RUN: %python %s source:wgsl+subgroups8 | FileCheck %s --check-prefixes=CHECK,TINT
# RUN: %python %s source:wgsl+words+subgroups8 | FileCheck %s --check-prefixes=CHECK,NAGA
"""A sum of a subgroup where eight work-items exchange values: browsers want a line that wgpu refuses."""

import sys

import pykern as pk


@pk.kernel(workgroup=64)
def summed(out, x):
    i = pk.index()
    out[i] = pk.subgroup_reduce(x[i], "add")


spec = pk.spec((64,), pk.i32)
print(summed.lower(spec, spec, ndrange=64, target=sys.argv[1]).compile().source)

# TINT: enable subgroups;
# TINT-NEXT: // The adapter's `subgroupMinSize` and `subgroupMaxSize` must both be 8.
# NAGA-NOT: enable
# CHECK: var<workgroup> memory: array<i32, 8>;
# CHECK: subgroupShuffleXor({{.*}}, 4u)
# CHECK: subgroupShuffleXor({{.*}}, 2u)
# CHECK: subgroupShuffleXor({{.*}}, 1u)
# CHECK: storageBarrier(); workgroupBarrier();
