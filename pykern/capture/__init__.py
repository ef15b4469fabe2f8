"""From a live Python function to plain data: its source text, and what the names in it mean.

Start with `functions`; `guards` notices when a name has come to mean something else.
"""
