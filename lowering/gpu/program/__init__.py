"""Array programs for GPU-like devices: kernels for the device and a plan for the host. Start with `target`."""
