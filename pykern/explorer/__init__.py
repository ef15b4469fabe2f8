"""The explorer: a kernel's stages beside its Python, as one HTML page or as text.

`explore` is the way in; `data` is what both show, `page` makes the HTML, `text` the terminal's view.
"""
