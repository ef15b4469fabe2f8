"""What tests of kernels and passes need: lit suites and the check of their CHECK lines.

`lit` sets a lit suite up in three lines; `filecheck` finds directives that FileCheck would pass over.
Nothing is imported here: `lit` is there only where tests run (``pip install lit``).
"""
