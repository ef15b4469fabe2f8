"""What pykern keeps on disk between processes: one store for compiled kernels, drivers' binaries, timings and marks.

Read next: `store` (the front door), `entries` (what a file holds), `folders` (whose files are trusted).
"""
