"""Formulas of Word in one line, as those of HTML are written."""

from typing import Any

from lxml import etree

from langgraph_rag.tools.documents.html_formulas import FORMULAS, grouped
from langgraph_rag.tools.documents.office import NS, name

_KINDS = {
    "f": ("mfrac", ("num", "den")),
    "limLow": ("munder", ("e", "lim")),
    "limUpp": ("mover", ("e", "lim")),
    "sPre": ("msubsup", ("e", "sub", "sup")),
    "sSub": ("msub", ("e", "sub")),
    "sSubSup": ("msubsup", ("e", "sub", "sup")),
    "sSup": ("msup", ("e", "sup")),
}
_SEPARATED = {"eqArr": "; ", "m": "; ", "mr": ", "}  # lines and cells


def formula(node: Any) -> str:
    """Return a formula, or a part of it, in one line."""
    kind = etree.QName(node).localname
    if kind == "t":
        return str(node.text or "")
    if kind.endswith("Pr"):
        return ""
    if kind in _KINDS:
        written, parts = _KINDS[kind]
        return FORMULAS[written][1]([_part(node, part) for part in parts])
    if kind == "rad":
        within, root = _part(node, "e"), _part(node, "deg")
        return FORMULAS["mroot"][1]([within, root]) if root else f"\u221a{grouped(within)}"
    if kind == "nary":
        ends = {"_": _part(node, "sub"), "^": _part(node, "sup")}
        reach = "".join(f"{sign}{grouped(end)}" for sign, end in ends.items() if end)
        return f"{_sign(node, 'chr', chr(0x222B))}{reach} {_part(node, 'e')}"
    if kind == "d":
        within = ", ".join(map(formula, node.findall("m:e", NS)))
        return f"{_sign(node, 'begChr', '(')}{within}{_sign(node, 'endChr', ')')}"
    if kind == "func":
        named, of = _part(node, "fName"), _part(node, "e")
        return f"{named}{'' if of.startswith('(') else ' '}{of}"
    return _SEPARATED.get(kind, "").join(filter(None, map(formula, node.iterchildren(etree.Element))))


def _part(node: Any, kind: str) -> str:
    found = node.find(f"m:{kind}", NS)
    return "" if found is None else formula(found).strip()


def _sign(node: Any, kind: str, usual: str) -> str:
    """Return a sign that a property names; one without a value has none."""
    found = node.find(f"*/m:{kind}", NS)
    return usual if found is None else str(found.get(name("m:val"), ""))
