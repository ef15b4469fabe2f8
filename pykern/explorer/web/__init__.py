"""The page itself: HTML, style and scripts, which `pykern.explorer.page` puts into one file."""
