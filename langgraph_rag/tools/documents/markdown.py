"""Converts Markdown to plain text, section by section: the visible text without markup."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from pathlib import PurePosixPath
from typing import ClassVar, NamedTuple

import yaml
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from langgraph_rag.normal_forms import words_of
from langgraph_rag.tools.documents.markdown_boxes import without_boxes
from langgraph_rag.tools.documents.markdown_marks import CUT, NOTE, POWER, SUBSTITUTIONS, parser, power_of
from langgraph_rag.tools.documents.rows import are_things_across
from langgraph_rag.tools.ingest.spans import fenced
from langgraph_rag.tools.ingest.splitting import turns_of

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL)
_METADATA = re.compile(  # of MultiMarkdown, Pelican and MkDocs, which begins without a rule
    r"\A(?=(?:[\w -]{1,40}:.*\n(?:[ \t]+\S.*\n)*){0,20}title:)"
    r"((?:[a-z][\w -]{0,39}:[ \t].*\n(?:[ \t]+\S.*\n)*)+)[ \t]*\n",
    re.IGNORECASE,
)
_TITLE_BLOCK = re.compile(  # of Pandoc: title, authors, date
    r"\A%[ \t]+(?P<title>\S.*(?:\n[ \t]+\S.*)*)(?:\n%(?P<author>.*(?:\n[ \t]+\S.*)*)(?:\n%(?P<date>.*))?)?\n[ \t]*\n"
)
_OF_MYST = re.compile(
    r"^(?:[`:]{3,}\{[\w-]|\([\w-]+\)=$|\+{3})|\{[\w:-]+\}`", re.MULTILINE
)  # where "%" begins a comment
_FIELD = re.compile(r"^([\w.-]+(?:[ ][\w.-]+){0,2})(?:[ \t]*=|:(?=\s|$))", re.MULTILINE)
_GOES_ON = re.compile(r"(?:\n|[ \t].*\n|-[ \t].*\n|#.*\n)*")
_NO_NUMBER = re.compile(  # dates, times, 0x1F: TOML would change how they are written
    r"^([ \t]*[\w.\"'-]+[ \t]*=[ \t]*)(?=[-+\d])(?!-?(?:[1-9]\d*|0)[ \t]*(?:#.*)?$)"
    r"([^\s#\"',\[\]{}]+(?: [\d:.Z+-]+)?)(?=[ \t]*(?:#.*)?$)",
    re.MULTILINE,
)
_BREAK = re.compile(r"<br\b", re.IGNORECASE)
_OF_PROPERTIES = re.compile(  # the headers of a table of properties, which may be empty
    r"(?:property|feature|field|attribute|parameter|specification|characteristic|)\|(?:values?|details?|)",
    re.IGNORECASE,
)
_LISTS = ("bullet_list", "ordered_list")
_COLONS = ":： "  # at the end of a label
_CHECKBOX = re.compile(r"\[[ xX]\](?:\s+|$)")
_UNREAD = frozenset("del s script strike style".split())
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-z]+)(?P<struck>[^>]*\bline-through\b)?", re.IGNORECASE)
_ALONE = re.compile(r"<(/?)(del|s|strike)\b[^<>]*>", re.IGNORECASE)
_SHOWN_IN_HTML = re.compile(r"(?:\A|>)[^<]*\w|\b(?:alt|label|title)=")
_SPACE_AT_CUT = re.compile(rf" ?{CUT}+(?=[\s.,;:!?)]|$)|{CUT}")
_NO_FIELDS = (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError, OverflowError)
"""Errors of front matter parsers: for an invalid date, an unknown tag, or lists that are nested too deeply."""
_LONGEST_FRONT_MATTER = 8_000  # characters: its parsers take quadratic time for nested values
_PARENTHESES = str.maketrans("()", "  ")
_LONGEST_NAME = 3  # words of the name of a field; more are a sentence
_UNDERLINED = 2  # lines of a heading: one of text and one rule
_LONGEST_HEADING = 200  # characters of a heading that is only marked by a rule below it
_STATING = 4  # minimum words of a heading that is a statement
_LONGEST_LABEL = 60  # characters of a list item that is a label for the items below it
_OF_PROJECT = re.compile(r"(?:project|path|inv):")  # links of MyST
_OF_ALL = ("contents", "table of contents")  # no heading of what stands below
_URL = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)


class Section(NamedTuple):
    """A part of a text with its headings, the highest first; the text has no markup."""

    headings: tuple[str, ...]
    text: str


def read_markdown(markdown: str, otherwise: str = "") -> tuple[str, list[Section], dict[str, object]]:
    """Return the title of a Markdown text, which may be empty, its sections, and the other fields of its front matter.

    The title is that of its front matter, or else the first heading or the one of the highest level, if it is the only
    one of its level, or else what is given as `otherwise`; it is not repeated in the headings of sections. A heading
    without text is not a section; it is added to the text of the section above if it is more than a name. If no section
    has text, all headings are the text. Rows of tables become lines with the names of their columns. Too deeply nested
    text stays unchanged.
    """
    fields, end = _front_matter(markdown)
    body = markdown[end:] if markdown[end:].strip() else markdown
    title = fields.pop(next((name for name in fields if str(name).lower() == "title"), "title"), None)
    named = "" if title is None else " ".join((str(title).lower() if isinstance(title, bool) else str(title)).split())
    body = without_boxes(body)
    try:
        return *_read(body, named, _substitutions(fields), otherwise), fields
    except RecursionError:
        return named or otherwise, [Section((), body)], fields


def _substitutions(fields: dict[str, object]) -> object:
    """Return the texts by name that front matter of MyST gives."""
    settings = fields.get("myst")
    substitutions = settings.get(SUBSTITUTIONS) if isinstance(settings, dict) else None
    return substitutions if isinstance(substitutions, dict) else {}


def _read(markdown: str, named: str, substitutions: object, otherwise: str) -> tuple[str, list[Section]]:
    written = SyntaxTreeNode(_by_turns(parser.parse(markdown, {SUBSTITUTIONS: substitutions}))).children
    blocks = [
        part for one in _unstruck(written) for part in (_of_html(one.content) if one.type == "html_block" else [one])
    ]
    for heading in filter(_is_heading, blocks):
        _without_pictures(heading)
    title, parts = named or _heading_that_titles(blocks) or otherwise, list(_parts(blocks))
    if not any(part.text for part in parts):
        return title, [Section((), "\n".join(map(_text, blocks)) or markdown)]
    return title, [Section(headings, text) for headings, text in _sections(parts, title) if text]


def _unstruck(blocks: Sequence[SyntaxTreeNode]) -> Iterator[SyntaxTreeNode]:
    """Yield the blocks that do not stand between `<del>` and `</del>`, each on a line of its own."""
    alone = {number: tag for number, one in enumerate(blocks) if (tag := _ALONE.fullmatch(one.content.strip()))}
    last = {tag[2].lower(): number for number, tag in alone.items() if tag[1]}
    hiding = ""
    for number, block in enumerate(blocks):
        tag = alone.get(number)
        if tag and not hiding and not tag[1] and last.get(tag[2].lower(), -1) > number:
            hiding = tag[2].lower()
        if not hiding:
            yield block
        elif tag and tag[1] and tag[2].lower() == hiding:
            hiding = ""


def _by_turns(tokens: list[Token]) -> list[Token]:
    """Return the tokens; the lines of a transcript stay lines, and raised sums are written as powers."""
    for token in tokens:
        children = token.children or []
        for before, tag, raised in zip(children, children[1:], children[2:], strict=False):
            if tag.content.lower() == "<sup>":
                raised.content = power_of(raised.content, before.content) or raised.content
        if "\n" in token.content and token.children and turns_of(token.content):
            for child in token.children:
                child.type = "hardbreak" if child.type == "softbreak" else child.type
    return tokens


def section_title(title: str, headings: Sequence[str]) -> str:
    """Return the title of a section: its heading, and in parentheses the title and the headings above it."""
    if not headings:
        return title
    above = (part.replace(" (", ", ").translate(_PARENTHESES) for part in (title, *headings[:-1]) if part)
    parts = [" ".join(part.split()) for part in above]
    return f"{headings[-1]} ({', '.join(parts)})" if parts else headings[-1]


def _front_matter(text: str) -> tuple[dict[str, object], int]:
    """Return the front matter of a text and its end; other text between two rules is no front matter."""
    if (block := _TITLE_BLOCK.match(text)) and not _OF_MYST.search(text):
        named = {name: " ".join(value.split()) for name, value in block.groupdict("").items()}
        return {name: value for name, value in named.items() if value}, block.end()
    if metadata := _METADATA.match(text):
        return _plain_fields(metadata[1]) or {}, metadata.end()
    found = _FRONT_MATTER.match(text)
    if found is None:
        return _json(text)
    if len(found[2]) > _LONGEST_FRONT_MATTER:
        return {}, 0
    try:
        fields = (_yaml if found[1] == "---" else _toml)(found[2])
        str(fields)  # a ValueError if a number has too many digits for Python
    except _NO_FIELDS:
        fields = _plain_fields(found[2])
    is_named = isinstance(fields, dict) and all(len(str(name).split()) <= _LONGEST_NAME for name in fields)
    return (fields, found.end()) if isinstance(fields, dict) and is_named else ({}, 0)


def _plain_fields(text: str) -> dict[str, object] | None:
    """Return fields that are invalid YAML together (often for a colon in a title); None if a line is of none.

    Each is read alone, and is plain text if it is invalid alone, too.
    """
    starts = [found.start() for found in _FIELD.finditer(text)]
    if not starts or _GOES_ON.fullmatch(text[: starts[0]]) is None:
        return None
    fields: dict[str, object] = {}
    for written in (text[start:end] for start, end in pairwise([*starts, len(text)])):
        field = _FIELD.match(written)
        first, _, others = written.partition("\n")
        if field is None or not _GOES_ON.fullmatch(f"{others}\n"):
            return None
        plain = " ".join(written[field.end() :].split()).strip("\"'")
        try:
            read = _yaml(written)
        except _NO_FIELDS:
            read = None
        fields[field[1]] = read[field[1]] if isinstance(read, dict) and field[1] in read else plain
    return fields


def _json(text: str) -> tuple[dict[str, object], int]:
    """Return the front matter that is an object of JSON with a title, as Hugo reads it."""
    if not text.startswith("{\n"):
        return {}, 0
    try:
        fields, end = json.JSONDecoder(parse_float=str).raw_decode(text[:_LONGEST_FRONT_MATTER])
    except (ValueError, RecursionError):
        return {}, 0
    return (fields, end) if "title" in fields else ({}, 0)


def _toml(text: str) -> object:
    return tomllib.loads(_NO_NUMBER.sub(r'\1"\2"', text), parse_float=str)


class _AsWritten(yaml.SafeLoader):  # type: ignore[misc]
    """Reads only whole numbers, `true` and `false` as such: `1.10`, `01234`, `12:30` and `no` stay what is written."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


_AsWritten.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"(?:-?[1-9]\d*|0)$"), [*"-0123456789"])
_AsWritten.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("(?:true|false)$"), [*"tf"])
_AsWritten.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("(?:~|null|)$"), ["~", "n", ""])


def _yaml(text: str) -> object:
    """Parse YAML; with aliases, which can expand to more than fits in memory, only its strings."""
    fields = yaml.load(text, _AsWritten)
    if isinstance(fields, dict) and any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
        return {name: value for name, value in fields.items() if isinstance(value, str)}
    return fields


def _heading_that_titles(blocks: Sequence[SyntaxTreeNode]) -> str:
    headings = [block for block in blocks if _is_heading(block)]
    opening = [block.tag for block in blocks[:1] if _is_heading(block)]
    for level in (*opening, "h1"):
        of_level = {_line(heading) for heading in headings if heading.tag == level}
        if len(of_level) == 1:
            return of_level.pop()
    return ""


def _is_heading(block: SyntaxTreeNode) -> bool:
    """Return whether a block is a heading; a paragraph right above a rule is not, although CommonMark says so."""
    if block.type != "heading" or block.markup.startswith("#"):
        return bool(block.type == "heading")
    text, (first, end) = _text(block), block.map or (0, 0)
    return end - first == _UNDERLINED and len(text) <= _LONGEST_HEADING and not text.endswith((".", "!", "\u3002"))


def _without_pictures(heading: SyntaxTreeNode) -> None:
    """Take logos and badges out of a heading that has other text."""
    pictures = [node for node in heading.walk() if node.type == "image"]
    described = {id(part) for picture in pictures for part in picture.walk()}
    written = [node for node in heading.walk() if node.type in ("text", "code_inline") and id(node) not in described]
    if pictures and any(node.content.strip() for node in written):
        for picture in pictures:
            linked = picture.parent if picture.parent and picture.parent.type == "link" else picture
            if linked.parent:
                linked.parent.children = [node for node in linked.parent.children if node is not linked]


def _notes(block: SyntaxTreeNode) -> Iterator[str]:
    """Yield the notes that stand within a block, each below a blank line."""
    for note in block.walk():
        if note.type == NOTE:
            yield from ("", "".join(_text(part) for part in note.children).strip())


class _Part(NamedTuple):
    """A heading with its level, h1 to h6, and the text up to the next heading; the first part has no heading."""

    level: str
    heading: str
    text: str


def _parts(blocks: Sequence[SyntaxTreeNode]) -> Iterator[_Part]:
    level, heading, texts = "", "", list[str]()
    for block in blocks:
        if _is_heading(block):
            yield _Part(level, heading, "\n\n".join(filter(None, texts)))
            level, heading, texts = block.tag, _line(block), ["\n".join(_notes(block)).strip()]
        else:
            texts.append("\n".join(_lines(block)))
    yield _Part(level, heading, "\n\n".join(filter(None, texts)))


def _sections(parts: Sequence[_Part], title: str) -> Iterator[tuple[tuple[str, ...], str]]:
    path: dict[str, str] = {}  # by level
    texts: list[str] = []
    for part, following in zip_longest(parts, parts[1:]):
        above = {level: heading for level, heading in path.items() if level < part.level}
        leads = part.text or following and following.level > part.level
        own = {part.level: part.heading} if leads and part.heading not in ("", title) else {}
        above = {level: heading for level, heading in above.items() if heading.lower() not in _OF_ALL}
        text = part.text if leads or part.heading == title else _if_it_states(part.heading)
        if leads or above != path:
            yield tuple(path.values()), "\n\n".join(filter(None, texts))
            path, texts = above | own, []
        texts.append(text)
    yield tuple(path.values()), "\n\n".join(filter(None, texts))


def _if_it_states(heading: str) -> str:
    """Return a heading that is a statement, such as "1883: Ada built it", and nothing for a mere name."""
    return heading if len(words_of(heading)) >= _STATING else ""


def _lines(block: SyntaxTreeNode) -> Iterator[str]:
    """Yield the lines of a block and its nested blocks."""
    match block.type:
        case "paragraph" | "heading":
            yield _text(block).removeprefix(": ")  # of a caption
            yield from _notes(block)
        case "math_block":
            yield block.content
        case "fence" | "code_block":
            fence = block.markup or "```"  # an indented block has none
            yield fenced(block.content.rstrip("\n"), fence, block.info)
        case "html_block":
            yield "\n\n".join("\n".join(_lines(each)) for each in _of_html(block.content))
        case kind if kind in _LISTS:
            for item, number in zip(block.children, _numbers(block), strict=True):
                yield from _item(item, number)
        case "table":
            yield from _rows(block)
            yield from _notes(block)
        case "blockquote" | "dl" | "footnote_reference":
            yield _paragraphs(block)
        case _:
            for child in block.children:
                yield from _lines(child)


def _paragraphs(block: SyntaxTreeNode) -> str:
    parts = _definitions(block) if block.type == "dl" else ("\n".join(_lines(child)) for child in block.children)
    text = "\n\n".join(filter(None, parts))
    return _indented(text) if block.type == "blockquote" else text  # as a description stands below its term


def _definitions(block: SyntaxTreeNode) -> Iterator[str]:
    """Yield terms with their descriptions: `Term: description`; what takes several lines stands below its term."""
    told = ""
    for part in block.children:
        text = _paragraphs(part)
        if part.type == "dt":
            yield told
            text = _line(part)
            told = text if text.endswith((".", "?", "!")) else f"{text.rstrip(':')}:"
        elif "\n" in text or told.endswith((".", "?", "!")) and not told.count("\n"):
            yield told
            told = _indented(text)
        else:
            told = f"{told} {text}"
    yield told


def _item(item: SyntaxTreeNode, number: str) -> Iterator[str]:
    lines = [line for child in item.children for line in _lines(child)]
    own = bool(lines) and item.children[0].type not in _LISTS
    text = _CHECKBOX.sub("", lines[0], count=1) if own else ""
    if text:
        yield f"- {number}{text}"
    yield from (_below(text, line) if text else line for line in lines[own:])  # without text, all of it is struck


def _numbers(block: SyntaxTreeNode) -> list[str]:
    """Return the numbers of items as they are written, which may be dates ("12. May 1870"); if all are one, counted."""
    written = [item.info for item in block.children]
    if block.type == "ordered_list" and len(set(written)) == 1:
        written = [str(number) for number in range(int(written[0]), int(written[0]) + len(written))]
    return [f"{number}{item.markup} " if number else "" for number, item in zip(written, block.children, strict=True)]


def _below(item: str, line: str) -> str:
    """Return a line of a list item; an item below a label begins with the label: `- Mill: built in 1883`."""
    if not line.startswith("- "):
        return _indented(line)
    label = item.rstrip(_COLONS)
    labelled = len(label) <= _LONGEST_LABEL and not label.endswith((".", "!", "?"))
    return f"- {label}: {line[2:]}" if labelled else line


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.split("\n"))


def _rows(table: SyntaxTreeNode) -> Iterator[str]:
    """Yield each row with the names of its columns: `- Product: HX-200; Price: 400`.

    A table of properties describes one thing and has one property per row: `- Weight: 2 kg`. One that compares several
    things names each of them: `- HX-200: Weight: 2 kg`.
    """
    head, *bodies = table.children
    columns = [_line(cell).rstrip(_COLONS) for row in head.children for cell in row.children]
    of_properties = _OF_PROPERTIES.fullmatch("|".join(columns))
    rows = [[_line(cell) for cell in row.children] for body in bodies for row in body.children]
    if are_things_across([columns, *rows]):
        for name, *cells in rows:
            for thing, cell in zip(columns[1:], cells, strict=False):
                if cell:
                    yield f"- {': '.join(filter(None, (thing, name.rstrip(_COLONS), cell)))}"
        return
    for cells in rows:
        named = [(column, cell) for column, cell in zip(columns, cells, strict=False) if cell]
        fields = [f"{column}: {cell}" if column else cell for column, cell in named]
        of_one = [cells[0].rstrip(_COLONS), *cells[1:]]
        if fields:  # else all of them are struck
            yield "- " + (": ".join(filter(None, of_one)) if of_properties else "; ".join(fields))


def _line(node: SyntaxTreeNode) -> str:
    return " ".join(_text(node).split())


def _text(node: SyntaxTreeNode, following: SyntaxTreeNode | None = None) -> str:
    """Return the inline text; of a link, only its text; nothing of what is struck."""
    if node.type in {"text", "code_inline"}:
        return str(node.content)
    if node.type == "softbreak":
        return " "
    if node.type in ("s", NOTE) or node.type == "html_inline" and _is_unread(_tag(node)):
        return CUT
    if node.type == "html_inline" and node.content.lower() == "<sup>" and following:
        return "^" if POWER.match(following.content) else ""
    if node.type == "hardbreak" or (node.type == "html_inline" and _BREAK.match(node.content)):
        return "\n"
    text = "".join(_text(child, after) for child, after in _shown(node.children))
    if node.type == "link" and (not text or node.info == "auto"):
        text = _of_link(text, str(node.attrs.get("href", "")))
    return _SPACE_AT_CUT.sub("", text).replace("\n ", "\n").strip() if node.type == "inline" else text


def _of_link(text: str, target: str) -> str:
    """Return the text of a link that may have none: the name of the heading or file within the project it links to."""
    if text and not _OF_PROJECT.match(target) or not text and _URL.match(target) and not _OF_PROJECT.match(target):
        return text
    path, _, heading = _OF_PROJECT.sub("", target).partition("#")
    return heading or PurePosixPath(path).stem or CUT


def _tag(node: SyntaxTreeNode) -> re.Match[str] | None:
    return _TAG.match(node.content)


def _is_unread(tag: re.Match[str] | None) -> bool:
    return tag is not None and (tag["name"].lower() in _UNREAD or tag["struck"] is not None)


def _shown(nodes: Sequence[SyntaxTreeNode]) -> Iterator[tuple[SyntaxTreeNode, SyntaxTreeNode | None]]:
    """Yield the nodes outside struck parts, scripts and styles of HTML, and their tags, each with the node after it."""
    tags = {number: tag for number, node in enumerate(nodes) if node.type == "html_inline" and (tag := _tag(node))}
    unclosed = Counter(tag["name"].lower() for tag in tags.values() if tag["end"])
    hiding = ""
    for number, (node, following) in enumerate(zip_longest(nodes, nodes[1:])):
        tag = tags.get(number)
        if tag and tag["end"]:
            unclosed[tag["name"].lower()] -= 1
            hiding = "" if tag["name"].lower() == hiding else hiding
        elif not hiding:
            yield node, following
            hiding = tag["name"].lower() if tag and _is_unread(tag) and unclosed[tag["name"].lower()] > 0 else ""


def _of_html(html: str) -> list[SyntaxTreeNode]:
    """Return the blocks in a block of HTML; none if it has no text."""
    if not _SHOWN_IN_HTML.search(html):
        return []
    from langgraph_rag.tools.documents.html import read_html  # takes a while

    try:
        return SyntaxTreeNode(parser.parse(read_html(html).markdown)).children
    except ValueError:
        return []
