"""Every number that decides whether or how something is done, each once, with its unit and the reason.

The files group them by what they measure: `threads` (work worth sharing, and the parts that it is cut into), `caches`
(bytes and distances in memory), `registers` (tiles, vectors and cycles), `lengths` (how long a loop has to be for a
form), `operations` (what one operation costs beside another), `memory` (bytes of scratch), `code_size` (how much is
looked at and written, for the sake of compile time), `devices` (groups and work-items). They are numbers alone and
import only each other. Measurements that they rest on stand in `benchmarks/NOTES.md`.
"""
