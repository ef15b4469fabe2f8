"""The parts of a live page: its text, its style, and the script that runs the kernel."""
