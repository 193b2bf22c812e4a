"""Sphinx directives that make tables from the sources, so that the reference is what the code says.

    ```{enum} path name       the enumerators of `enum class name` and their comments
    ```{warnings} path        the warnings that `describe(warning_kind)` returns
    ```{metrics} path         the metrics that a scrape begins

A path begins at the project's root. What cannot be read, or has no text, is an error.
"""
import os

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import read_code

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


class FromCode(SphinxDirective):
    required_arguments = 1

    def run(self):
        path = os.path.join(ROOT, self.arguments[0])
        self.env.note_dependency(os.path.abspath(path))
        try:
            with open(path, encoding="utf-8") as file:
                head, rows = self.read(file.read())
        except (OSError, ValueError) as problem:
            raise self.error(f"{self.arguments[0]}: {problem}")
        return [table(head, rows)]


def table(head, rows):
    def row(cells, literal):
        made = nodes.row()
        for i, cell in enumerate(cells):
            text = nodes.literal(text=cell) if literal and i == 0 else nodes.Text(cell)
            made += nodes.entry("", nodes.paragraph("", "", text))
        return made

    group = nodes.tgroup(cols=len(head))
    for _ in head:
        group += nodes.colspec(colwidth=1)
    group += nodes.thead("", row(head, False))
    group += nodes.tbody("", *[row(cells, True) for cells in rows])
    return nodes.table("", group, classes=["colwidths-auto"])


class Enum(FromCode):
    required_arguments = 2

    def read(self, text):
        return ("name", "meaning"), read_code.enumerators(text, self.arguments[1])


class Warnings(FromCode):
    def read(self, text):
        return ("warning", "meaning", "remedy"), read_code.warnings(text)


class Metrics(FromCode):
    def read(self, text):
        return ("metric", "kind", "meaning"), read_code.metrics(text)


def setup(app):
    app.add_directive("enum", Enum)
    app.add_directive("warnings", Warnings)
    app.add_directive("metrics", Metrics)
    return {"parallel_read_safe": True}
