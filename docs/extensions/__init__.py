"""What the documentation takes from the sources: one file a page."""
