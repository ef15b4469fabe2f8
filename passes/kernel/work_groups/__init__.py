"""Work-items of a group as loops, split where they meet.

The way: `demote` puts what differs between work-items and lives across a barrier into slots, one
cell a work-item; `segments` cuts the kernel into stretches without a barrier or collective; `emit` wraps each
stretch into loops over the local ids and puts the groups around. Uniform values stay SSA.
"""
