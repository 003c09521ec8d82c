"""Draw the diagrams of the pages while the site is built, so that it needs no script from elsewhere to show them."""

from typing import Any

import mermaidx


def as_svg(source: str, language: str, css_class: str, options: dict[str, Any], md: Any, **_: Any) -> str:
    """Return the picture of a fenced Mermaid block (a custom fence of `pymdownx.superfences`)."""
    return f'<div class="{css_class}">{mermaidx.render(source).svg()}</div>'
