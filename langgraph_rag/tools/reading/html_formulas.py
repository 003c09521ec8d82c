"""Writes the formulas of HTML pages as text, each once: `E = mc^2`, `a/(b + c)`."""

import re
from collections.abc import Callable, Sequence

from bs4 import BeautifulSoup, Tag

_RENDERED = re.compile(r"katex|katex-display|MathJax\w*|MJX\w*|mjx-\w+|mwe-math-element|mathjax\w*", re.IGNORECASE)
_SPACED = frozenset("=<>+-*:|") | frozenset(
    "\u2212\u2248\u2260\u2261\u2264\u2265\u00b1\u00d7\u00f7\u2208\u2192\u21d2\u221d"
)
_UNSEEN = dict.fromkeys(range(0x2061, 0x2065))  # operators such as "invisible times"
_SIGN_FIRST = re.compile("(^|[(,]) ?([-+\u2212\u00b1]) ")
_ATOM = re.compile(r"[-+\u2212]?(?:\d[\d.]*|[^\W\d]+)|\W")
_BLANKS = re.compile(" {2,}")


def write_formulas(page: BeautifulSoup) -> None:
    """Replace MathML, and what KaTeX, MathJax and MediaWiki made of formulas, by text; other TeX stays as it is."""
    for source in page.select("script[type^='math/']"):
        shown = source.previous_sibling
        if isinstance(shown, Tag) and _is_rendered(shown) and shown.get_text(strip=True):
            source.decompose()
        else:
            source.replace_with(source.get_text())
    for math in page.find_all(re.compile(r"^(?:\w+:)?math$")):
        if not math.decomposed and not math.find_parent(math.name):
            _outermost(math).replace_with(_line(math) or str(math.get("alttext", "")))
    for formula in page.select(".katex, mjx-container"):
        if not formula.decomposed:
            formula.replace_with(formula.get_text())


def _outermost(math: Tag) -> Tag:
    """Return what a script or a wiki made of a formula, in which it stands several times."""
    return [math, *(parent for parent in math.parents if _is_rendered(parent))][-1]


def _is_rendered(tag: Tag) -> bool:
    return any(_RENDERED.fullmatch(str(name)) for name in (tag.name, *tag.get_attribute_list("class")) if name)


def _line(node: Tag) -> str:
    """Return a formula, or a part of it, in one line."""
    name = node.name.rpartition(":")[2]
    children = [child for child in node.children if isinstance(child, Tag)]
    if name in ("mi", "mn", "mtext", "ms", "mo"):
        text = " ".join(node.get_text().split()).translate(_UNSEEN)
        return f" {text} " if name == "mo" and text in _SPACED else f"{text} " if text in (",", ";") else text
    if name == "semantics":
        return _line(children[0]) if children else ""
    if name in ("annotation", "annotation-xml", "mphantom"):
        return ""
    parts = [_line(child) for child in children]
    if name in _WRITTEN and len(parts) >= _WRITTEN[name][0]:
        return _WRITTEN[name][1]([part.strip() for part in parts])
    if name == "mtable":
        return "; ".join(part.strip() for part in parts)
    if name in ("mtr", "mlabeledtr"):
        return ", ".join(part.strip() for part in parts)
    text = _SIGN_FIRST.sub(r"\1\2", "".join(parts))
    if name == "msqrt":
        within = text.strip()
        return f"\u221a{within}" if within.isalnum() else f"\u221a({within})"
    if name == "mfenced":
        return f"{node.get('open', '(')}{', '.join(part.strip() for part in parts)}{node.get('close', ')')}"
    return _BLANKS.sub(" ", text).strip() if name in ("math", "mrow") else text


def _group(part: str) -> str:
    return part if _ATOM.fullmatch(part) else f"({part})"


_WRITTEN: dict[str, tuple[int, Callable[[Sequence[str]], str]]] = {
    "mfrac": (2, lambda of: f"{_group(of[0])}/{_group(of[1])}"),
    "mover": (2, lambda of: of[0]),
    "mroot": (2, lambda of: f"{_group(of[0])}^(1/{of[1]})"),
    "msub": (2, lambda of: f"{of[0]}_{_group(of[1])}"),
    "msubsup": (3, lambda of: f"{of[0]}_{_group(of[1])}^{_group(of[2])}"),
    "msup": (2, lambda of: f"{_group(of[0])}^{_group(of[1])}"),
    "munder": (2, lambda of: f"{of[0]}_{_group(of[1])} "),
    "munderover": (3, lambda of: f"{of[0]}_{_group(of[1])}^{_group(of[2])} "),
}
"""How elements with children of their own meaning are written, and how many they need."""
