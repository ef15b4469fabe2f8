"""The operations that are taken apart before a graph is divided.

Comes in: nothing. Goes out: rules for `aot_autograd`, PyTorch's own, for the operations below. What is taken apart
has to become array programs, or what stays in PyTorch would be slower than the operation it was: so this is no whole
set such as `core_aten_decompositions`, but those whose parts have rules in `pykern.torch.backend.ops`.
"""

from __future__ import annotations

import functools
from typing import Any

from pykern.torch.backend.framework import aten, core_aten_decompositions

_NAMES = (
    # arithmetic
    "addcdiv", "addcmul", "addr", "lerp", "rsub", "square", "frac", "sgn", "xlogy", "logaddexp", "logaddexp2", "sinc",
    "deg2rad", "rad2deg", "nan_to_num", "heaviside", "isfinite", "isneginf", "isposinf", "clamp_min", "clamp_max",
    "masked_fill", "where", "fill", "max", "min", "dot", "mv", "outer", "ger", "baddbmm", "special_entr", "logit",
    # functions of networks
    "celu", "selu", "elu_backward", "gelu_backward", "glu", "glu_backward", "hardshrink", "hardsigmoid",
    "hardsigmoid_backward", "hardswish", "hardswish_backward", "hardtanh_backward", "leaky_relu_backward",
    "log_sigmoid_forward", "log_sigmoid_backward", "mish", "mish_backward", "_prelu_kernel", "_prelu_kernel_backward",
    "relu6", "sigmoid_backward", "silu", "silu_backward", "softplus", "softplus_backward", "softshrink",
    "tanh_backward", "threshold", "threshold_backward", "native_dropout_backward",
    # norms and what is summed
    "_softmax_backward_data", "_log_softmax_backward_data", "_safe_softmax", "logsumexp", "native_layer_norm_backward",
    "native_group_norm_backward", "native_batch_norm_backward", "norm", "std", "std_mean", "var", "var_mean", "sum",
    "all", "aminmax", "nansum", "count_nonzero", "_fused_rms_norm", "_fused_rms_norm_backward",
    # losses
    "binary_cross_entropy", "binary_cross_entropy_backward", "binary_cross_entropy_with_logits", "huber_loss",
    "huber_loss_backward", "mse_loss", "mse_loss_backward", "smooth_l1_loss", "smooth_l1_loss_backward",
    "soft_margin_loss", "soft_margin_loss_backward",
    # forms
    "t", "transpose", "squeeze", "stack", "split", "unbind", "detach", "_unsafe_view", "_reshape_alias",
    "expand_copy", "unsqueeze_copy", "squeeze_copy", "t_copy", "transpose_copy", "zeros", "ones", "zeros_like",
    "ones_like", "new_zeros", "new_ones", "new_full", "eye", "tril", "triu", "arange", "hann_window",
)  # fmt: skip


@functools.cache
def decompositions() -> dict[Any, Any]:
    """PyTorch's rules by operation. To list them takes a tenth of a second."""
    known = core_aten_decompositions()
    wanted = {getattr(aten, name) for name in _NAMES}
    return {op: rule for op, rule in known.items() if getattr(op, "overloadpacket", None) in wanted}
