"""Formulas of HTML as text in one line: MathML, and what KaTeX, MathJax, MediaWiki, LaTeXML and Sphinx make of them."""

import re
from collections.abc import Callable, Sequence

from bs4 import BeautifulSoup, Tag

from langgraph_rag.tools.documents.markdown_marks import OF_TEX

_RENDERED = re.compile(r"katex|katex-display|MathJax\w*|MJX\w*|mjx-\w+|mwe-math-element|mathjax\w*", re.IGNORECASE)
_SPACED = frozenset("=<>+-*:|") | frozenset(
    "\u2212\u2248\u2260\u2261\u2264\u2265\u00b1\u00d7\u00f7\u2208\u2192\u21d2\u221d"
)
_UNSEEN = dict.fromkeys(range(0x2061, 0x2065))  # operators such as "invisible times"
_APPLIED = "\u2061"  # stands between a function and its argument
_SIGN_FIRST = re.compile("(^|[(,]) ?([-+\u2212\u00b1]) ")
_ATOM = re.compile(r"[-+\u2212]?(?:\d[\d.]*|[^\W\d]+)|\W")
_BLANKS = re.compile(" {2,}")
_DELIMITED = re.compile(  # as MathJax finds them
    r"\\\((?P<within>.{1,500}?)\\\)|\\\[(?P<shown>.{1,2000}?)\\\]|\$\$(?P<dollars>[^$]{1,2000})\$\$"
    r"|(?<![\w\\$])\$(?![\s$])(?P<dollar>[^$\n]{1,300})(?<!\s)\$(?![\w$({])",
    re.DOTALL,
)
_EQUATIONS = "table:is(.ltx_eqn_table, .equation, .equation-star, .align, .align-star)"  # of LaTeXML and TeX4ht


def write_formulas(page: BeautifulSoup) -> None:
    """Replace MathML, and what KaTeX, MathJax and MediaWiki made of formulas, by text; others lose their delimiters."""
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
    _set_in_lines(page)
    for text in page.find_all(string=_DELIMITED):
        if not text.find_parent(["code", "pre", "script", "style"]):
            text.replace_with(_DELIMITED.sub(_undelimited, text))


def _set_in_lines(page: BeautifulSoup) -> None:
    """Make tables of equations lines, with the numbers that some of them have."""
    for equation in page.select(_EQUATIONS):
        for cell in equation.find_all(["td", "th"]):
            cell.insert_after(" ") if cell.get_text(strip=True) else cell.decompose()
        for part in equation.find_all(["tbody", "tr", "td", "th"]):
            part.name = "p" if part.name == "tr" else "div" if part.name == "tbody" else "span"
        equation.name = "div"
    for number in page.select(".eqno"):
        number.insert_after(" ")


def _undelimited(found: re.Match[str]) -> str:
    formula = found[found.lastgroup or 0]
    return formula.strip() if OF_TEX.search(formula) else found[0]


def _outermost(math: Tag) -> Tag:
    """Return what a script or a wiki made of a formula, in which it stands several times."""
    return [math, *(parent for parent in math.parents if _is_rendered(parent))][-1]


def _is_rendered(tag: Tag) -> bool:
    return any(_RENDERED.fullmatch(str(name)) for name in (tag.name, *tag.get_attribute_list("class")) if name)


def _line(node: Tag) -> str:
    """Return a formula, or a part of it, in one line."""
    name = node.name.rpartition(":")[2]
    children = [child for child in node.children if isinstance(child, Tag)]
    if name in ("mi", "mn", "mtext", "ms", "mo", "mspace"):
        return _written(node, name)
    if name == "semantics":
        return _line(children[0]) if children else ""
    if name in ("annotation", "annotation-xml", "mphantom"):
        return ""
    parts = [_line(child) for child in children]
    if name in FORMULAS and len(parts) >= FORMULAS[name][0]:
        return FORMULAS[name][1]([part.strip() for part in parts])
    if name == "mmultiscripts":
        return _with_scripts(children)
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


def _written(node: Tag, name: str) -> str:
    """Return a name, number, sign or words of a formula, with the spaces around it."""
    given = node.get_text()
    text = " ".join(given.split()).translate(_UNSEEN)
    if name == "mtext" and text:
        before, after = (" " if end.isspace() else "" for end in (given[0], given[-1]))
        return f"{before}{text}{after}"
    if name == "mo" and _APPLIED in given:
        following = node.find_next_sibling()
        return "" if following and following.get_text().lstrip().startswith(("(", "[")) else " "
    if name == "mspace" or name == "mo" and text in _SPACED:
        return f" {text} "
    return f"{text} " if text in (",", ";") else text


def _with_scripts(children: Sequence[Tag]) -> str:
    """Return a sign with lowered and raised ones in turn behind it, and after a mark, before it."""
    written = {False: "", True: ""}
    before, kind = False, "_"
    for child in children[1:]:
        if child.name.endswith("mprescripts"):
            before, kind = True, "_"
            continue
        if part := _line(child).strip():
            written[before] += f"{kind}{grouped(part)}"
        kind = "^" if kind == "_" else "_"
    return f"{written[True]}{_line(children[0]).strip() if children else ''}{written[False]}"


def grouped(part: str) -> str:
    """Return a part of a formula as it stands beside others: in parentheses, unless it is one number or name."""
    return part if _ATOM.fullmatch(part) else f"({part})"


FORMULAS: dict[str, tuple[int, Callable[[Sequence[str]], str]]] = {
    "mfrac": (2, lambda of: f"{grouped(of[0])}/{grouped(of[1])}"),
    "mover": (2, lambda of: of[0]),
    "mroot": (2, lambda of: f"{grouped(of[0])}^(1/{of[1]})"),
    "msub": (2, lambda of: f"{of[0]}_{grouped(of[1])}"),
    "msubsup": (3, lambda of: f"{of[0]}_{grouped(of[1])}^{grouped(of[2])}"),
    "msup": (2, lambda of: f"{grouped(of[0])}^{grouped(of[1])}"),
    "munder": (2, lambda of: f"{of[0]}_{grouped(of[1])} "),
    "munderover": (3, lambda of: f"{of[0]}_{grouped(of[1])}^{grouped(of[2])} "),
}
"""How elements with children of their own meaning are written, and how many they need."""
