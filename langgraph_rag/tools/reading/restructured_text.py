"""Reads reStructuredText as Markdown: its headings, and its text without roles, links and directives."""

import re
from collections.abc import Iterator, Sequence

_MARK = "[=~^\"'#*+`-]"
_UNDERLINED = re.compile(
    rf"^(?:(?P<over>{_MARK})(?P=over){{2,}}[ \t]*\n)?[ \t]*(?P<text>\S.*)\n(?P<under>{_MARK})(?P=under){{2,}}[ \t]*$",
    re.MULTILINE,
)
_ROLE = re.compile(r":[\w:+.-]{1,60}:`[~!]?([^`<]+?)(?:\s*<[^`<>]*>)?`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^`<>]+>`__?")
_REFERENCE = re.compile(r"(?<!`)`([^`]+)`__?")
_DIRECTIVE = re.compile(r"\.\. (?:\|[^|\n]+\| )?([\w:+.-]{1,60})::[ \t]*(.*)")
_EXPLICIT = re.compile(r"\.\.(?:[ \t]|$)")  # a target, a footnote, a comment
_NOTED = re.compile(r"\.\. \[[^\]\n]+\]\s+(?=\S)")
_OPTION = re.compile(r":[\w-]+:(?:\s|$)")
_ITEM = re.compile(r"(?:[-*+•]|\(?(?:\d{1,3}|[a-zA-Z#])[.)])[ \t]+(?=\S)")
_TABLE = re.compile(r"[=+|][-=+| ]")
_CODE = frozenset(
    "code code-block sourcecode parsed-literal literalinclude console prompt doctest testcode testsetup testoutput "
    "productionlist math graphviz digraph".split()
)
_NO_TEXT = frozenset(
    "contents currentmodule default-domain figure highlight image include index module raw sectionauthor toctree title "
    "meta only".split()
)
_ADMONITIONS = frozenset(
    "note warning caution danger error hint important tip attention seealso admonition topic sidebar rubric".split()
)
_VERSIONS = {
    "versionadded": "New in version {}:",
    "versionchanged": "Changed in version {}:",
    "deprecated": "Deprecated since version {}:",
    "versionremoved": "Removed in version {}:",
}
_LITERAL = re.compile(r"::[ \t]*$")
_HEADING = re.compile("#{1,6} ")


def restructured_text_to_markdown(text: str) -> str:
    """Return reStructuredText as Markdown; what has no such form, such as a table of marks, stays as it is.

    Terms are lines of their own, and their descriptions quotes below them; so are the arguments of directives and their
    contents.
    """
    text = text.expandtabs() if text.endswith("\n") else f"{text.expandtabs()}\n"
    marks = [*dict.fromkeys(_level(found) for found in _UNDERLINED.finditer(text))]  # of the levels, from the first on
    text = _UNDERLINED.sub(lambda found: f"\n{'#' * (marks.index(_level(found)) + 1)} {found['text'].strip()}\n", text)
    for markup in (_ROLE, _LINK, _REFERENCE):
        text = markup.sub(r"\1", text)
    return "\n".join(_blocks(text.split("\n")))


def _level(heading: re.Match[str]) -> tuple[str, bool]:
    """Return what tells the level of a heading: its mark, and whether that is also above it."""
    return heading["under"], heading["over"] is not None


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of Markdown for lines of one indentation and what is indented below them."""
    number, literal = 0, False
    while number < len(lines):
        line = lines[number]
        body, after = _indented(lines, number + 1)
        directive = _DIRECTIVE.match(line)
        if line[:1] == " ":  # a quote or, after "::", a literal block
            body, number = _indented(lines, number)
            yield from _fenced(_dedented(body)) if literal else _quoted(body)
            literal = False
            continue
        if directive:
            following = next((line for line in lines[after:] if line.strip()), "")
            yield from _directive(directive[1], directive[2], body, following)
        elif _EXPLICIT.match(line):
            noted = _NOTED.match(line)
            yield from [line[noted.end() :], *_blocks(_dedented(body)), ""] if noted else []
        elif item := _ITEM.match(line):
            inner = [line[item.end() :], *_dedented(body, item.end())]
            first, *others = _blocks(inner) or [""]
            yield from [
                item[0] + first,
                *(" " * item.end() + line if line else "" for part in others for line in part.split("\n")),
            ]
        elif line.startswith(">>> "):
            after = next((end for end in range(number, len(lines)) if not lines[end].strip()), len(lines))
            yield from _fenced(lines[number:after])
        elif body and body[0].strip() and not literal and not _TABLE.match(line):
            yield from ["", line, "", *_quoted(body)]  # a term with its description
        else:
            literal = line.rstrip().endswith("::") or literal and not line.strip()
            yield _LITERAL.sub(":", line)
            after = number + 1
        number = after


def _directive(name: str, argument: str, body: Sequence[str], following: str) -> Iterator[str]:
    """Yield the text of a directive; one without content right above a heading is only its anchor."""
    options = next((n for n, line in enumerate(body) if not _OPTION.match(line.strip())), len(body))
    content = _dedented(body[options:])
    if name in _NO_TEXT:
        return
    if name in _CODE:
        yield from _fenced(content)
        return
    if name in _VERSIONS:
        version, _, rest = argument.partition(" ")
        argument, content = "", [f"{_VERSIONS[name].format(version)} {rest}".strip(), *content]
    elif name in _ADMONITIONS:
        argument, content = "", [argument, *content]
    is_anchor = not any(line.strip() for line in content) and _HEADING.match(following)
    if argument and not is_anchor:
        yield from ["", argument, ""]
    yield from _quoted(content) if argument else ["", *_blocks(content), ""]


def _indented(lines: Sequence[str], start: int) -> tuple[list[str], int]:
    """Return the indented lines from a position on, with blank ones between, and the position after them."""
    end = last = start
    while end < len(lines) and (not lines[end].strip() or lines[end][:1] == " "):
        end += 1
        last = end if lines[end - 1].strip() else last
    return list(lines[start:last]), end if last > start else start


def _dedented(lines: Sequence[str], most: int = 1_000) -> list[str]:
    own = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    indent = min([*own, most])
    return [line[indent:] for line in lines]


def _quoted(body: Sequence[str]) -> list[str]:
    return ["", *(f"> {line}".rstrip() for part in _blocks(_dedented(body)) for line in part.split("\n")), ""]


def _fenced(code: Sequence[str]) -> list[str]:
    written = "\n".join(code).strip("\n").rstrip()
    return ["", "```", written, "```", ""] if written else []
