"""Links from the documentation to files of the repository: the site does not have those, so it only names them."""

import re
from typing import Any

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")


class Naming(Preprocessor):
    """Leave the text of such links, without the link."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of a page without links that leave it for the repository."""
        return _OUTSIDE.sub(r"\1", "\n".join(lines)).split("\n")


class Outside(Extension):
    """Name files of the repository instead of linking to them."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Work on the text of a page before anything else."""
        md.preprocessors.register(Naming(md), "outside", 100)


def makeExtension(**kwargs: Any) -> Outside:
    """Return the extension (the name Markdown calls)."""
    return Outside(**kwargs)
