"""Rules of products of matrices by a wave (MFMA, WMMA)."""
