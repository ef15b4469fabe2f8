"""Attention as loops over tiles of queries and keys, with a running maximum and sum."""
