# Sphinx: `./dev docs` makes build/docs of this folder.
import os
import sys

project = "basal"
copyright = "the basal authors"
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import public_api  # noqa: E402

extensions = ["myst_parser", "from_code", "breathe"]
breathe_default_project = "basal"
html_theme = "furo"
html_title = "basal"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
highlight_language = "cpp"
myst_heading_anchors = 3

# Debian 12's furo comes without its own dark colours.
html_theme_options = {
    "dark_css_variables": {
        "color-foreground-primary": "#ffffffcc",
        "color-foreground-secondary": "#9ca0a5",
        "color-foreground-muted": "#81868d",
        "color-foreground-border": "#666666",
        "color-background-primary": "#131416",
        "color-background-secondary": "#1a1c1e",
        "color-background-hover": "#1e2124",
        "color-background-border": "#303335",
        "color-background-item": "#444444",
        "color-brand-primary": "#2b8cee",
        "color-brand-content": "#368ce2",
        "color-inline-code-background": "#1a1c1e",
    },
}


def read_comments(app, config):
    """For the reference of the API: doxygen reads the public headers, breathe shows them."""
    output = os.path.join(app.outdir, ".doxygen")
    for problem in public_api.read(os.path.join(app.srcdir, ".."), output):
        raise ValueError(problem)
    public_api.simplify(output)
    config.breathe_projects = {"basal": os.path.join(output, "xml")}


def setup(app):
    app.connect("config-inited", read_comments, priority=1)
