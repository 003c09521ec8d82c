"""Recognises the markup in which a plain text is written: Markdown, reStructuredText, HTML, or none."""

import re
from collections.abc import Mapping

MARKUP = {"html": ".html", "markdown": ".md", "rst": ".rst", "text": ".txt"}
"""The names of what a text can be written in, with the endings of files with such texts."""
_SEEN = 200_000  # characters
_SURE = 2  # signs of different kinds, or one that nothing else has
_ATX = re.compile(r"(?:\A|\n[ \t]*\n)(#{1,6}) [^\n]*\S[^\n]*(?=\n[ \t]*(?:\n|\Z)|\Z)")
_UNDERLINED = re.compile(r"(?:\A|\n)[ \t]*(?P<text>\S[^\n]{0,99})\n(?P<rule>([=\-~^\"'#*+`:._])\3{2,})[ \t]*(?=\n|\Z)")
_MARKDOWN = {
    re.compile(r"\[[^\]\n]{1,200}\]\((?:https?:|#|\.{0,2}/|[\w./-]+\.(?:md|html?|png|jpe?g|svg)\b)[^()\s]*\)"): 2,
    re.compile(r"^(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE): 1,
    re.compile(r"(?<!\*)\*\*\w[^*\n]{0,200}\*\*(?!\*)"): 1,
    re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*){1,50}\|?[ \t]*$", re.MULTILINE): 2,
    re.compile(r"^[ \t]*[-*] \[[ xX]\] \S", re.MULTILINE): 1,
}
_RST = {
    re.compile(r"^[ \t]*\.\. (?:\|[^|\n]{1,60}\| )?[a-z][\w:+.-]{0,60}::(?:[ \t]|$)", re.MULTILINE): 2,
    re.compile(r"^[ \t]*\.\. _[^:\n]{1,200}:(?:[ \t]|$)", re.MULTILINE): 2,
    re.compile(r":[a-z][\w:+.-]{0,60}:`[^`\n]{1,200}`"): 2,
    re.compile(r"`[^`<\n]{1,200}<[^<>`\n]{1,300}>`__?"): 2,
    re.compile(r"(?<!`)``[^`\n]{1,200}``(?!`)"): 1,
    re.compile(r"\w::[ \t]*\n[ \t]*\n[ \t]+\S"): 1,
    re.compile(r"^={2,}(?:[ \t]{1,9}={2,}){1,50}[ \t]*$|^\+(?:[-=]{3,}\+){1,50}[ \t]*$", re.MULTILINE): 1,
}
_HTML = re.compile(r"\s*(?:<!doctype html|<html[\s>])", re.IGNORECASE)


def ending_of(text: str) -> str:
    """Return the ending that a file with a text should have: ".md", ".rst", ".html", or ".txt" if it has no markup."""
    text = text[:_SEEN]
    if _HTML.match(text):
        return ".html"
    headings = _underlined(text)
    markdown, rst = _signs(_MARKDOWN, text), _signs(_RST, text) + min(headings, _SURE)
    levels = {found[1] for found in _ATX.finditer(text)}
    markdown += min(len(levels), _SURE)
    if max(markdown, rst) < _SURE:
        return ".txt"
    return ".rst" if rst >= markdown else ".md"


def _signs(kinds: Mapping[re.Pattern[str], int], text: str) -> int:
    return sum(weight for sign, weight in kinds.items() if sign.search(text))


def _underlined(text: str) -> int:
    """Return how many lines have a rule of their own length below them."""
    rules = ((found["text"].rstrip(), found["rule"]) for found in _UNDERLINED.finditer(text))
    return sum(abs(len(rule) - len(heading)) <= 1 for heading, rule in rules)
