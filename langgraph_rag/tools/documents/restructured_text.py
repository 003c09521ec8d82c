"""Reads reStructuredText with docutils, also with directives and roles that only Sphinx or a project knows."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, singledispatchmethod
from html import escape
from itertools import pairwise, zip_longest
from textwrap import dedent
from typing import Any

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Parser, directives, states
from docutils.parsers.rst.directives import body, misc, tables
from docutils.statemachine import StringList

from langgraph_rag.tools.documents import sphinx

_LONGEST = 5_000_000  # characters of a text, and of a line: beyond, it is read as plain text, as docutils needs seconds
_LONGEST_LINE = 50_000
_MOST_EXPANDED = 10_000  # substitutions of a text: they may hold each other
_WIDEST = 80  # characters of a line that is filled
_DEEPEST = 6  # level of headings in HTML


class _AnyOption(dict[str, Any]):
    """The options of a directive; others are taken as they stand."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


_DOCUTILS = {
    name: type(kind.__name__, (kind,), {"option_spec": _AnyOption(kind.option_spec or {})})
    for name, kind in {
        "csv-table": tables.CSVTable,
        "list-table": tables.ListTable,
        "parsed-literal": body.ParsedLiteral,
        "replace": misc.Replace,
        "table": tables.RSTTable,
        "unicode": misc.Unicode,
    }.items()
}
_RAISED = {"sub": nodes.subscript, "sup": nodes.superscript}
_ROLE = re.compile(r"([\w.+:-]+)(?:\s*\(\s*([\w-]+)\s*\))?")  # "name(base)", as it is declared
_HEADING = re.compile(r"(?:(?P<over>\W)(?P=over)*\n)?[ \t]*(?P<text>\S.*)\n(\W)\3+")
_MARKED = re.compile(r"`|(?<![\w*])(\*\*?)[^\s*][^*()]*(?<!\s)\1(?![\w*])|\|\w[^|()]*\|")
_ESCAPED = re.compile(r"\\([*_`|\\])")
_OF_FILES = frozenset("orphan tocdepth nocomments nosearch".split())  # fields that set how Sphinx shows a file


def restructured_text_to_html(text: str, *, by_lines: bool = False) -> str:
    """Return reStructuredText as HTML; `by_lines` keeps the lines that end before the next word would have to.

    No file is read, and no directive is run. Directives that are not docutils' own become prose (admonitions, notes
    about versions), code, nothing (contents, settings), or a term with its description; one without content right above
    a heading is only its anchor. What docutils cannot parse stays as it is written; so does a text that is too long or
    nested too deeply.
    """
    if len(text) > _LONGEST or any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        return _plain(text)
    try:
        document = _parsed(text.replace("\\", "\\\\") if by_lines else text)  # a path, for which nothing is escaped
        width = min(max(map(len, text.split("\n"))), _WIDEST) if by_lines else 0
        return "".join(_Writer(document, width).html(document))
    except RecursionError:
        return _plain(text)


def _plain(text: str) -> str:
    return "".join(f"<p>{'<br>'.join(escape(part).split(chr(10)))}</p>" for part in re.split(r"\n\s*\n", text))


_TAGS: dict[type[nodes.Node], str] = {
    nodes.block_quote: "blockquote",
    nodes.bullet_list: "ul",
    nodes.caption: "p",
    nodes.citation: "dl",
    nodes.definition: "dd",
    nodes.definition_list: "dl",
    nodes.description: "dd",
    nodes.doctest_block: "pre",
    nodes.entry: "td",
    nodes.enumerated_list: "ol",
    nodes.field_body: "dd",
    nodes.field_list: "dl",
    nodes.field_name: "dt",
    nodes.line_block: "div",
    nodes.list_item: "li",
    nodes.literal: "code",
    nodes.literal_block: "pre",
    nodes.option_group: "dt",
    nodes.option_list: "dl",
    nodes.row: "tr",
    nodes.subscript: "sub",
    nodes.superscript: "sup",
    nodes.table: "table",
    nodes.tbody: "tbody",
    nodes.thead: "thead",
}
_ENUMERATED = {"arabic": "1", "loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}


class _Writer:
    """Writes a parsed document as HTML whose headings are not nested in sections."""

    def __init__(self, document: nodes.document, width: int) -> None:
        self._substitutions = document.substitution_defs
        self._width = width
        self._expanded = 0
        self._level = 0
        self._end_of_line = "\n"

    @singledispatchmethod
    def html(self, node: nodes.Node) -> Iterator[str]:
        """Yield the HTML of a node and those within it."""
        tag = _TAGS.get(type(node), "")
        yield f"<{tag}{_attributes(node)}>" if tag else ""
        for child in node.children:
            yield from self.html(child)
        yield f"</{tag}>" if tag else ""

    @html.register
    def _(self, text: nodes.Text) -> Iterator[str]:
        yield _escaped(text).replace("\n", self._end_of_line)

    @html.register
    def _(self, paragraph: nodes.paragraph) -> Iterator[str]:
        in_section = isinstance(paragraph.parent, nodes.section | nodes.document)
        self._end_of_line = "<br>" if in_section and _is_of_lines(paragraph.rawsource, self._width) else "\n"
        yield from ("<p>", *(part for child in paragraph.children for part in self.html(child)), "</p>")
        self._end_of_line = "\n"

    @html.register(nodes.colspec | nodes.comment | nodes.substitution_definition)
    def _(self, _: nodes.Node) -> Iterator[str]:
        yield from ()

    @html.register
    def _(self, _: nodes.footnote_reference) -> Iterator[str]:
        yield "<sup>[1]</sup>"  # whatever its number

    @html.register
    def _(self, field: nodes.field) -> Iterator[str]:
        name, body = field.children
        written = name.astext()
        if written not in _OF_FILES:
            said = sphinx.field_name(written)
            yield from self.html(name) if said == written else [f"<dt>{escape(said, quote=False)}</dt>"]
            yield from self.html(body)

    @html.register
    def _(self, rubric: nodes.rubric) -> Iterator[str]:
        if not _is_anchor(rubric):
            yield from ("<p>", *(part for child in rubric.children for part in self.html(child)), "</p>")

    @html.register
    def _(self, label: nodes.label) -> Iterator[str]:
        if isinstance(label.parent, nodes.citation):
            yield f"<dt>[{_escaped(label)}]</dt>"

    @html.register
    def _(self, line: nodes.line) -> Iterator[str]:
        following = line.next_node(descend=False, siblings=True)
        for child in line.children:
            yield from self.html(child)
        if not line.children:  # between two stanzas
            yield "</div><div>"
        elif isinstance(following, nodes.line) and following.children:
            yield "<br>"

    @html.register
    def _(self, reference: nodes.citation_reference) -> Iterator[str]:
        yield f"[{_escaped(reference)}]"

    @html.register
    def _(self, item: nodes.definition_list_item) -> Iterator[str]:
        *terms, description = item.children
        for term, following in zip_longest(terms, terms[1:]):
            yield "" if isinstance(term, nodes.classifier) else "<dt>"
            yield from self.html(term)
            yield " : " if isinstance(following, nodes.classifier) else "</dt>"
        yield from self.html(description)

    @html.register
    def _(self, option: nodes.option) -> Iterator[str]:
        yield f"{'' if option is option.parent[0] else ', '}{_escaped(option)}"

    @html.register
    def _(self, image: nodes.image) -> Iterator[str]:
        yield escape(image.get("alt", ""), quote=False)

    @html.register
    def _(self, section: nodes.section) -> Iterator[str]:
        self._level += 1
        for child in section.children:
            yield from self.html(child)
        self._level -= 1

    @html.register
    def _(self, title: nodes.title) -> Iterator[str]:
        tag = f"h{min(self._level, _DEEPEST)}" if isinstance(title.parent, nodes.section) else "caption"
        yield f"<{tag}>"
        for child in title.children:
            yield from self.html(child)
        yield f"</{tag}>"

    @html.register
    def _(self, message: nodes.system_message) -> Iterator[str]:
        """Yield what docutils could not parse as it is written, or as a heading that skips levels."""
        for written in (child.astext() for child in message.children if isinstance(child, nodes.literal_block)):
            heading = _HEADING.fullmatch(written.strip("\n"))
            if heading and message["level"] <= utils.Reporter.WARNING_LEVEL:  # its rule is only too short
                continue
            tag, text = (f"h{min(self._level + 1, _DEEPEST)}", heading["text"]) if heading else ("pre", written)
            yield f"<{tag}>{escape(text, quote=False)}</{tag}>"

    @html.register
    def _(self, reference: nodes.substitution_reference) -> Iterator[str]:
        definition = self._substitutions.get(nodes.fully_normalize_name(reference.astext()))
        self._expanded += 1
        if definition is None or self._expanded > _MOST_EXPANDED:
            yield _escaped(reference)
        else:
            for child in definition.children:
                yield from self.html(child)


def _is_of_lines(text: str, width: int) -> bool:
    """Return whether most lines of a paragraph end although the next word would have fitted."""
    lines = text.split("\n")
    early = [len(line) + 1 + len(after.split()[0]) <= width for line, after in pairwise(lines) if after.strip()]
    return sum(early) > len(early) / 2


def _escaped(node: nodes.Node) -> str:
    return escape(node.astext(), quote=False)


def _attributes(node: nodes.Node) -> str:
    if isinstance(node, nodes.enumerated_list):
        return f' type="{_ENUMERATED[node["enumtype"]]}" start="{node.get("start", 1)}"'
    if isinstance(node, nodes.entry):
        return f' colspan="{node.get("morecols", 0) + 1}" rowspan="{node.get("morerows", 0) + 1}"'
    return ""


def _is_anchor(rubric: nodes.rubric) -> bool:
    """Return whether only the like of it stands between a line and the next heading."""
    following: nodes.Node | None = rubric
    while isinstance(following, nodes.rubric | nodes.target | nodes.comment | nodes.system_message):
        following = following.next_node(descend=False, siblings=True, ascend=True)
    return isinstance(following, nodes.section)


def _parsed(text: str) -> nodes.document:
    settings = frontend.get_default_settings(Parser)
    settings._disable_config = True
    settings.file_insertion_enabled = settings.raw_enabled = settings.warning_stream = False
    settings.line_length_limit = _LONGEST_LINE
    settings.report_level = settings.halt_level = utils.Reporter.SEVERE_LEVEL + 1
    document = utils.new_document("", settings)
    inliner: Any = states.Inliner()
    declared: dict[str, str] = {}
    inliner.interpreted = partial(_of_role, declared)  # not in a subclass, whose patterns would be incomplete
    inliner.declared = declared
    parser = Parser(inliner=inliner)
    parser.state_classes = _STATES
    parser.parse(text, document)
    return document


class _Directives(states.RSTState):
    """What all states of the parser share: how directives are read."""

    nested_sm_cache: list[Any] = []  # not shared with other uses of docutils in this process

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def explicit_construct(self, match: re.Match[str]) -> Any:
        body: Any = super()
        found = _DIRECTIVE.match(match.string)
        return self.directive(found) if found else body.explicit_construct(match)

    def directive(self, match: re.Match[str], **presets: Any) -> tuple[list[nodes.Node], bool]:
        """Return the nodes of a directive, and whether a blank line follows; `presets` are those of substitutions."""
        body: Any = self
        machine = body.state_machine
        name = sphinx.name_of(match[1])
        begin = machine.line_offset
        if name in _DOCUTILS:
            found, ended = body.run_directive(_DOCUTILS[name], match, name, presets)
            if presets or not any(isinstance(node, nodes.system_message) for node in found):
                return found, ended
            machine.goto_line(begin + machine.input_offset)
        block, _, offset, ended = machine.get_first_known_indented(match.end(), strip_top=False)
        arguments, options, content = _taken_apart(block)
        if presets:
            alt = "\n".join(sphinx.prose_of(name, [], options, [])).strip()
            return ([nodes.image(alt=alt)] if name == "image" else []), ended
        return list(self._read(name, arguments, options, content, offset)), ended

    def _read(
        self, name: str, arguments: list[str], options: list[str], content: list[str], lineno: int
    ) -> Iterator[nodes.Node]:
        if name == "role" and (role := _ROLE.match(" ".join(arguments))):
            inliner: Any = self.inliner
            inliner.declared[role[1].lower()] = (role[2] or "").lower()
        if name in sphinx.NO_TEXT:
            return
        if sphinx.is_code(name, arguments, content):
            if caption := sphinx.caption_of(options):
                yield nodes.paragraph(caption, "", *self._inline(caption, lineno))
            written = "\n".join([*arguments[1:], *content])
            yield nodes.literal_block(written, written)
            return
        within = nodes.container()
        lines = sphinx.prose_of(name, arguments, options, content)
        self.nested_parse(StringList(lines, source=""), lineno, within)
        titles = sphinx.titles_of(name, arguments, content)
        if not titles:
            yield from within.children
        elif not within.children:
            yield from (nodes.rubric(title, "", *self._inline(title, lineno)) for title in titles)
        else:
            terms = [nodes.term(title, "", *self._inline(title, lineno)) for title in titles]
            item = nodes.definition_list_item("", *terms, nodes.definition("", *within.children))
            yield nodes.definition_list("", item)

    def _inline(self, title: str, lineno: int) -> list[nodes.Node]:
        """Return a title; a signature has no markup, though it may have asterisks."""
        if _MARKED.search(title):
            return list(self.inline_text(title, lineno)[0])
        return [nodes.Text(_ESCAPED.sub(r"\1", title))]


def _taken_apart(block: StringList) -> tuple[list[str], list[str], list[str]]:
    """Return the lines of arguments of a directive, those of its options, and its content."""
    lines = list(block)
    if not lines or not lines[0].strip():
        first = begin = 1 if lines else 0
    else:
        begin = 1
        while begin < len(lines) and lines[begin].strip() and not sphinx.OPTION.match(lines[begin].strip()):
            begin += 1
        first = 0
    end = begin
    while end < len(lines) and lines[end].strip() and (sphinx.OPTION.match(lines[end]) or end > begin):
        end += 1
    arguments = _signatures([line.strip().rstrip("\\").rstrip() for line in lines[first:begin] if line.strip()])
    while end < len(lines) and not lines[end].strip():
        end += 1
    options = [line.strip() for line in lines[begin:end] if line.strip()]
    return arguments, options, dedent("\n".join(lines[end:])).split("\n")


def _signatures(lines: Sequence[str]) -> list[str]:
    """Return one signature a line, though one may stand in several."""
    whole: list[str] = []
    for line in lines:
        if whole and whole[-1].count("(") > whole[-1].count(")"):
            whole[-1] += f" {line}"
        else:
            whole.append(line)
    return whole


_BODY: Any = states.Body
_DIRECTIVE: re.Pattern[str] = _BODY.explicit.constructs[-1][1]
_STATES = tuple(type(state.__name__, (_Directives, state), {}) for state in states.state_classes)


def _of_role(
    declared: Mapping[str, str], rawsource: str, text: str, role: str, lineno: int
) -> tuple[list[nodes.Node], list[Any]]:
    """Return the node of a role, as docutils' `Inliner.interpreted` does; `declared` are the bases of a file's own."""
    name = sphinx.name_of(role)
    name = declared.get(name, name)
    text = utils.unescape(text)
    if raised := sphinx.RAISED.get(name):
        return [_RAISED[raised](rawsource, text)], []
    return [nodes.inline(rawsource, sphinx.role_text(name, text))], []
