"""Reads reStructuredText as Markdown: its headings, and its text without roles, links and directives."""

import re

_MARK = "[=~^\"'#*+`-]"
_OVERLINE = re.compile(rf"^({_MARK})\1{{2,}}[ \t]*\n(?=[ \t]*\S.*\n\1{{3,}}[ \t]*$)", re.MULTILINE)
_UNDERLINED = re.compile(rf"^[ \t]*(\S.*)\n({_MARK})\2{{2,}}[ \t]*$", re.MULTILINE)
_ROLE = re.compile(r":[\w:+.-]{1,60}:`[~!]?([^`<]+?)(?:\s*<[^`<>]*>)?`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^`<>]+>`__?")
_REFERENCE = re.compile(r"(?<!`)`([^`]+)`__?")
_DIRECTIVE = re.compile(r"^([ \t]*)\.\. (?:\|[^|\n]+\| )?[\w:+.-]{1,60}::[ \t]*(.*)\n(?:[ \t]+:[\w-]+:.*\n)*", re.M)
_TARGET = re.compile(r"^[ \t]*\.\. (?:_[^\n]*:.*|\[[^\]\n]+\]\s*)$", re.MULTILINE)
_LITERAL = re.compile(r"::[ \t]*$", re.MULTILINE)


def restructured_text_to_markdown(text: str) -> str:
    """Return reStructuredText as Markdown; what has no such form, such as a table of marks, stays as it is."""
    text = _OVERLINE.sub("", text if text.endswith("\n") else f"{text}\n")
    marks = [*dict.fromkeys(found[2] for found in _UNDERLINED.finditer(text))]  # of the levels, from the first on
    text = _UNDERLINED.sub(lambda found: f"{'#' * (marks.index(found[2]) + 1)} {found[1].strip()}\n", text)
    text = _TARGET.sub("", _DIRECTIVE.sub(r"\1\2\n", text))
    for markup in (_ROLE, _LINK, _REFERENCE):
        text = markup.sub(r"\1", text)
    return _LITERAL.sub(":", text)
