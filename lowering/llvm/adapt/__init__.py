"""`pk_adapt`: what stands between the compiled entries and Python, for calls in another form than entries know.

Entries take NumPy arrays, by their places, and Python integers as `ndrange`. A call that gives arguments by name, other
libraries' arrays, objects with a buffer, or NumPy's integers is put into that form and tried again; where that is not
possible the call goes to Python as it came. Read first: `calls`; then `arrays`.
"""
