"""
A kernel on its way
===================

Where the time of a compilation goes, and which dialects the kernel is written in after each pass. No device
and no data are needed: arguments are described by `pk.spec`.
"""

# %%

import re

import matplotlib.pyplot as plt
import numpy as np

import pykern as pk


@pk.kernel
def blur(out, x):
    i, j = pk.index()
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        out[i, j] = (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] + 4 * x[i, j]) / 8


image = pk.spec(("n", "m"), pk.f32)
lowered = blur.lower(image, image, ndrange=("n", "m"))
print(lowered)

# %%
# A stage is text. The first is the `kern` dialect, which is a line of Python an op or two.

print(lowered.as_text("kern"))

# %%
# Counting the ops of each dialect shows what the stages are for.

stages = [s for s in lowered.stages if s.text.lstrip().startswith(("module", "#", "builtin"))]
dialects = ("kern", "arith", "math", "memref", "scf", "cf", "func", "llvm")
counts = np.array(
    [[len(re.findall(rf'(?:= |^ *|")"?{d}\.\w', s.text, re.MULTILINE)) for d in dialects] for s in stages]
)
names = [s.name.split("{")[0].split("(")[-1].split(",")[0] for s in stages]
names = [n if len(n) < 34 else n[:33] + "…" for n in names]
assert counts[0, dialects.index("kern")] > 0 and counts[-1, dialects.index("kern")] == 0
assert counts[-1, dialects.index("llvm")] > counts[0].sum()

figure, axes = plt.subplots(
    1, 2, figsize=(11, 0.24 * len(stages) + 1.6), sharey=True, layout="constrained", width_ratios=(1.6, 1)
)
place, left = np.arange(len(stages)), np.zeros(len(stages))
for column, dialect in enumerate(dialects):
    axes[0].barh(
        place, counts[:, column], left=left, label=dialect, color=plt.get_cmap("tab10")(column), height=0.8
    )
    left += counts[:, column]
axes[0].set(title="ops", xlabel="number", yticks=place, yticklabels=names, ylim=(len(stages) - 0.4, -0.6))
axes[0].legend(fontsize="small")
axes[1].barh(place, [s.ms for s in stages], color="0.5", height=0.8)
axes[1].set(title="time", xlabel="ms")
plt.show()
