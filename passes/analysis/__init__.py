"""What an op or a kernel computes, and what it costs: questions that passes of several levels ask."""
