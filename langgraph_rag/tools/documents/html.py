"""HTML becomes Markdown: its content without navigation, its lists, notes and marks as text."""

import re
import warnings
from collections.abc import Container, Mapping
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from bs4.dammit import EncodingDetector
from bs4.element import Comment, NavigableString, PageElement
from lxml.html import defs
from markdownify import MarkdownConverter
from webencodings import lookup

from langgraph_rag.characters import decoded
from langgraph_rag.tools.documents.html_formulas import write_formulas
from langgraph_rag.tools.documents.html_styles import KINDS, first_block, numeral, struck_by_style, write_counters
from langgraph_rag.tools.documents.html_tables import make_tables, simplify_generated, simplify_tables
from langgraph_rag.tools.documents.markdown_marks import power_of

_NO_TEXT = (
    "script, style, template, noscript, svg, iframe, select, dialog, nav, footer, [role=navigation], [role=search], "
    "[role=banner], [role=contentinfo], [role=menu], [role=menubar], .skip-link, .skiplink, .headerlink, "
    ".viewcode-link, .navheader, .navfooter, .topNav, .subNav, .bottomNav, .skipNav, "
    ".mw-editsection, .mw-jump-link, .printfooter, .navbox, .catlinks, #catlinks, "  # of MediaWiki
    "#siteSub, .noprint, a.src, .hideme, #footer, body > .footer, "  # a.src of rustdoc
    "[class*='language-'] > .lang, "  # of VitePress
    ".md-feedback, .md-source-file, .linenos, .lineno, [role=doc-pagebreak], [rel=prev], [rel=next], rt, rp, rtc"
)
_STRUCK = "s, strike, del, [style*='line-through' i], .line-through, .strikethrough, .strike"
_HIDDEN = (
    "[hidden]:not([hidden='until-found']), [aria-hidden=true], [style*='display:none' i], [style*='display: none' i]"
)
_MARKED = ["s", "strike", "del", "sup", "img"]
_LINE_NUMBERS = ["lineno", "linenos", "gutter"]
_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_BLOCKS = ["p", "div", "section", "blockquote", "figure", "pre", *_HEADINGS]
_INLINE = frozenset("a abbr b big cite code em font i ins kbd mark q samp small span strong sub sup tt u var".split())
_WORD = re.compile(r"\w")
_SENTENCE = re.compile(r"(?:\w+\s+){3}\w{2,}[.!?](?:\s|$)")
_NAME = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_NAVIGATING = frozenset(
    "bottomlang breadcrumb breadcrumbs contents language languages menu menubar nav navbar navfooter navheader "
    "navigation navlist pager pagination prev related rellinks sidebar sphinxsidebar sitemap tableofcontents toc "
    "toctree toplang".split()
)
_LEADING = frozenset("contents home index modules next prev previous top up".split())
_CONTENT = "body, main, [role=main], article, h1"  # what holds one is named after the menu beside it
_KEYS = frozenset("hnpu")  # of links to the first, next, previous page, and to the one above
_MOSTLY = 0.5  # of the letters of a part with such a name: in links
_TITLES = "h1, h2, h3, h4, h5, h6, .title, [id$=title]"
_TO_SOURCE = re.compile(
    r"\s*(?:edit|improve|show|suggest|view)\b.{0,30}\b(?:edits|this page|(?:page|the) source|on git(?:hub|lab))\W*",
    re.IGNORECASE,
)
_LONGEST_SIGN = 300  # characters of what holds links to the pages before and after
_UNFOLDING = frozenset(
    "accordion answer collapse collapsible expandable faq pane panel spoiler tab tabcontent tabpanel tabs".split()
)
_BOXES = frozenset(
    "admonition alert aside attention callout caution danger error hint important infobox note notice sidebar tip "
    "warning".split()
)
_UNDER_TITLES = frozenset("author corpauthor editor othercredit subtitle".split())  # of DocBook and Asciidoctor
_BOX_TITLE = re.compile(
    "attention|caution|danger|error|hint|important|info|note|notice|see also|tip|warning|hinweis|achtung|remarque",
    re.IGNORECASE,
)
_LONGEST_BASE = 50
_REFERENCE = re.compile(r"\s*\[[^][]{1,20}\]\s*")  # "[1]", "[note 2]"
_MARK = re.compile(r"\W*(?:\d{1,3}|[a-z]|[ivx]{1,4}|[*\u2020\u2021\u00a7\u00b6]{1,3})\W*")
_INWARD = re.compile("^#")
_NOTED = (
    "a[role~=doc-noteref], a[data-footnote-ref], a.footnote-ref, a.footnote-reference, a[rel=footnote], sup.footnote, "
    "a:is([href*='#_ftn'], [href*='#_edn']), "  # of Word, and back
    "sup.footnote-ref, .ltx_note_mark, .ltx_tag_note, label.margin-toggle"
)
_BACK = (
    "a[role~=doc-backlink], a[data-footnote-backref], .footnote-back, .footnote-backref, .reversefootnote, "
    "a[href^='#ftnt_ref'], a.sdfootnotesym, a.sdendnotesym, "  # of Google Docs and LibreOffice
    ".mw-cite-backlink, .fn-backref, .footnote > .label, .footnote > .fn-bracket, .footnote > a[href*=footnoteref]"
)
_NOTES = ".footnotes, div.footnote:has(> ol), .footnote-list, [role=doc-endnotes], #footnotes, ol.references"
_WITHIN_TEXT = ".ltx_note, span.sidenote, span.marginnote"
_STYLE = re.compile(rf"list-style(?:-type)?\s*:[^;]*?\b({'|'.join(KINDS)}|none)(?![\w-])", re.IGNORECASE)
_CLASSES = {"loweralpha": "a", "lowerroman": "i", "upperalpha": "A", "upperroman": "I"}  # of docutils


def flatten_code(page: BeautifulSoup) -> None:
    """Make blocks of code plain text: colours take thousands of elements, each of which all selectors would match."""
    for code in page.find_all("pre"):
        if code.find(True) and not code.find(_MARKED):
            for part in [*code.find_all("button"), *code.find_all(class_=_LINE_NUMBERS)]:
                part.decompose()
            for end in code.find_all("br"):
                end.replace_with("\n")
            code.string = code.get_text()
    for code in page.find_all("code"):
        if code.find("br") and not code.find_parent("pre"):
            _set_in_lines(code)


def _set_in_lines(code: Tag) -> None:
    """Make code with ends of lines a block, if it is all of its paragraph."""
    paragraph = code.parent
    alone = paragraph is not None and paragraph.name == "p" and _letters(paragraph) == _letters(code)
    for end in code.find_all("br"):
        end.replace_with("\n" if alone else " ")
    if alone:
        lines = [" ".join(line.split()) for line in code.get_text().split("\n")]
        code.string = "\n".join(filter(None, lines))
        code.name = "pre"


def take_out(page: BeautifulSoup) -> None:
    """Take out menus, signs, controls, hidden and struck parts; panels of tabs and accordions are read."""
    struck = [*page.select(_STRUCK), *struck_by_style(page)]
    for panel in page.select(_HIDDEN):
        if _unfolds(panel, page):
            for attribute in ("hidden", "aria-hidden", "style"):
                panel.attrs.pop(attribute, None)
    _label_panels(page)
    _take_out_signs(page)
    for part in page.select(f"{_NO_TEXT}, {_HIDDEN}"):
        part.decompose()
    for part in struck:
        if not part.decomposed:
            _cut(part)
    _take_out_controls(page)
    for part in [part for part in page.select("[class], [id]") if _names(part) & _NAVIGATING]:
        if not part.decomposed and not part.select_one(_CONTENT) and _is_mostly_links(part):
            part.decompose()
    _take_out_head(page)


def _take_out_head(page: BeautifulSoup) -> None:
    """Take out what stands above the first heading of a page, if it is mostly links and has no sentence."""
    heading = page.find("h1")
    if not heading or heading.find_parent(["article", "table"]):
        return
    above = [
        part
        for part in heading.find_all_previous(["p", "div", "ul", "ol", "table", "header", "h2", "h3"])
        if heading not in part.descendants and not part.find_parent("head")
    ]
    outer = [part for part in above if not any(other in above for other in part.parents)]
    letters, text = sum(map(_letters, outer)), " ".join(part.get_text(" ") for part in outer)
    linked = sum(_letters(link) for part in outer for link in part.find_all("a"))
    if letters and linked >= _MOSTLY * letters and not _SENTENCE.search(text):
        for part in outer:
            part.decompose()


def _take_out_controls(page: BeautifulSoup) -> None:
    """Take out buttons, except those that show an answer: they are its question."""
    for button in page.find_all("button"):
        heading = button.find_parent(_HEADINGS)
        titles = heading is not None and _letters(heading) == _letters(button)
        if button.has_attr("aria-expanded") or titles or _names(button) & _UNFOLDING:
            button.name = "span" if heading else "p"
        else:
            button.decompose()


def rewrite(page: BeautifulSoup) -> None:
    """Make titles of boxes, notes and numbers of items text of their paragraphs, and grids tables."""
    make_tables(page)
    for heading in page.find_all(_HEADINGS):
        link = heading.find("a", href=_INWARD)
        if link and link.get_text() == heading.get_text() and _MARK.fullmatch(link.get_text()):  # a note of Texinfo's
            heading.decompose()
            continue
        if _titles_a_box(heading) or _UNDER_TITLES & {str(one).lower() for one in heading.get_attribute_list("class")}:
            heading.name = "p"
        for picture in heading.find_all("img") if _WORD.search(heading.get_text()) else ():
            picture.decompose()
    for component in page.find_all(_is_labelled):  # of MDX
        component.insert(0, _paragraph(f"{component.get('label') or component.get('title')}:"))
    _move_notes(page)
    _list_paragraphs(page)
    counted = write_counters(page)
    for numbered in page.find_all("ol"):
        _number(numbered, counted)
    for numbered in page.find_all("ol"):
        numbered.name = "ul"


def _is_labelled(tag: Tag) -> bool:
    """Return whether a part is a component of a page generator, such as `<TabItem label="Linux">`."""
    return tag.name not in defs.tags and tag.prefix is None and bool(tag.get("label") or tag.get("title"))


def _names(tag: Tag) -> set[str]:
    """Return the words in the class and id of a part: `md-nav` and `bottomNav` have "nav"."""
    written = " ".join([*map(str, tag.get_attribute_list("class")), str(tag.get("id", ""))])
    return {word.lower() for word in _NAME.findall(written)} | set(written.lower().split())


def _letters(tag: Tag) -> int:
    return len("".join(tag.get_text().split()))


def _is_mostly_links(part: Tag) -> bool:
    linked = sum(_letters(link) for link in part.find_all("a") if not link.find_parent("a"))
    titles = sum(_letters(title) for title in part.select(_TITLES) if not title.find("a"))
    return linked >= _MOSTLY * (_letters(part) - titles or 1)


def _unfolds(part: Tag, page: BeautifulSoup) -> bool:
    """Return whether a hidden part is shown by a click, and is no menu."""
    if part.get("role") in ("menu", "dialog", "listbox") or _is_mostly_links(part):
        return False
    controlled = part.get("id") and page.select_one(f'[aria-controls~="{_quoted(str(part["id"]))}"]')
    answers = part.get("itemprop") == "acceptedAnswer"
    return bool(part.get("role") == "tabpanel" or answers or controlled or _names(part) & _UNFOLDING)


def _quoted(id_: str) -> str:
    return id_.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\a ")


def _label_panels(page: BeautifulSoup) -> None:
    """Put the label of each tab above its panel."""
    divided = {str(part["id"]): part for part in page.find_all("div", id=True)}
    lists = [list_ for list_ in page.find_all("ul") if _leads_to_panels(list_, divided)]
    for tabs in [*page.select("[role=tablist], .nav-tabs, .nav-pills, .tabbed-labels, .vp-code-group > .tabs"), *lists]:
        controls = tabs.select("[role=tab]") or tabs.select("a[href^='#'], button, label")
        panels = [page.find(id=name) if (name := _controlled(tab)) else None for tab in controls]
        if not all(panels) and tabs.parent:
            beside = tabs.find_next_sibling()
            panels = list(
                tabs.parent.select("[role=tabpanel]") or (beside.find_all(True, recursive=False) if beside else ())
            )
        if controls and len(panels) == len(controls):
            for tab, panel in zip(controls, panels, strict=True):
                if isinstance(panel, Tag):
                    panel.insert(0, _paragraph(f"{tab.get_text(' ', strip=True)}:"))
            tabs.decompose()


def _leads_to_panels(list_: Tag, divided: Mapping[str, Tag]) -> bool:
    """Return whether each item of a list only links to a part beside the list, which has no heading of its own."""
    items = list_.find_all("li", recursive=False)
    links = [item.find("a", href=_INWARD) for item in items]
    panels = [
        divided.get(str(link["href"])[1:]) for link in links if link and _letters(link) == _letters(link.parent or link)
    ]
    return (
        len(items) > 1
        and len(panels) == len(items)
        and all(panel and panel.parent is list_.parent and not panel.find(_HEADINGS) for panel in panels)
    )


def _controlled(tab: Tag) -> str:
    """Return the id of the panel of a tab, or ""."""
    given = (str(tab.get(name, "")) for name in ("aria-controls", "href", "data-bs-target", "data-target"))
    return next((name.lstrip("#") for name in given if name), "")


def _paragraph(text: str) -> Tag:
    paragraph = Tag(name="p")
    paragraph.string = text
    return paragraph


def _cut(part: PageElement) -> None:
    """Take out a part of a sentence, with the space before it if there is one behind it, too."""
    before, after = _text_beside(part, behind=False), _text_beside(part, behind=True)
    if before is not None and after is not None and re.match(r"[\s.,;:!?)]", after):
        if kept := before.rstrip():
            before.replace_with(kept)
        else:  # an empty text takes the space behind it along
            before.extract()
    part.decompose() if isinstance(part, Tag) else part.extract()


def _text_beside(part: PageElement, *, behind: bool) -> NavigableString | None:
    """Return the text next to a part of a paragraph, which may be set apart, as in bold."""
    while (beside := part.next_sibling if behind else part.previous_sibling) is None:
        if part.parent is None or part.parent.name not in _INLINE:
            return None
        part = part.parent
    while isinstance(beside, Tag) and beside.name in _INLINE and beside.contents:
        beside = beside.contents[0 if behind else -1]
    return beside if isinstance(beside, NavigableString) else None


def _take_out_signs(page: BeautifulSoup) -> None:
    """Take out what holds links to the pages before and after, or one to the source of the page, and little else."""
    for link in page.find_all("a"):
        if link.decomposed:
            continue
        if _TO_SOURCE.fullmatch(link.get_text()):
            holding = [part for part in link.find_parents(["p", "li", "div"]) if _letters(part) == _letters(link)]
        elif _leads(link):
            parents = link.find_parents(["table", "ul", "p", "div", "header", "center"])
            holding = [part for part in parents if _letters(part) <= _LONGEST_SIGN and _leads_on(part)]
        else:
            continue
        if holding:
            holding[-1].decompose()


def _leads(link: Tag) -> bool:
    words = _NAME.findall(link.get_text())
    named = bool(words) and words[0].lower() in _LEADING and len(words) == 1
    return named or bool(_KEYS & {str(key) for key in link.get_attribute_list("accesskey")})


def _leads_on(part: Tag) -> bool:
    return sum(_leads(link) for link in part.find_all("a")) > 1 and not part.find(["h1", "h2", "pre"])


def _titles_a_box(heading: Tag) -> bool:
    """Return whether a heading is that of a box within a text, whose end it does not reach over."""
    named = _BOX_TITLE.fullmatch(heading.get_text().strip(" \n\xa0:!"))
    boxes = (
        parent for parent in heading.parents if parent.name in ("aside", "details") or named or _names(parent) & _BOXES
    )
    box = next(boxes, None)
    if heading.name == "h1" or box is None or box.name in ("html", "body", "main", "article"):
        return False
    first = next((text for text in box.find_all(string=_WORD)), None)
    return len(box.find_all(_HEADINGS)) == 1 and first is not None and heading in first.parents


def _move_notes(page: BeautifulSoup) -> None:
    """Take out signs of notes, and make notes paragraphs: those within a text behind the paragraph."""
    for back in page.select(".footnote > a[href*=footnoteref]"):  # of Asciidoctor: "1. The note"
        if isinstance(after := back.next_sibling, NavigableString):
            after.replace_with(after.removeprefix("."))
    for sign in page.select(f":is({_NOTED}, {_BACK}):not(.citation *)"):
        if not sign.decomposed:
            _cut(sign)
    for sign in page.select("a, sup"):
        if not sign.decomposed and _is_sign(sign):
            _cut(sign)
    for notes in page.select(_NOTES):
        for part in [notes, *notes.select("ol, li")]:
            if part.name in ("ol", "li"):
                part.name = "div"
    _move_notes_within_text(page)
    _write_powers(page)


def _move_notes_within_text(page: BeautifulSoup) -> None:
    last: dict[int, Tag] = {}
    for note in page.select(_WITHIN_TEXT):
        block = note.find_parent(_BLOCKS)
        text = (note.select_one(".ltx_note_content") or note).get_text(" ", strip=True)
        if note.decomposed or block is None:
            continue
        note.decompose()
        paragraph = _paragraph(text)
        last.get(id(block), block).insert_after(paragraph)
        last[id(block)] = paragraph


def _write_powers(page: BeautifulSoup) -> None:
    """Write raised sums and names of numbers as x^(n+1) and 2^n; what begins with a digit becomes so later."""
    for sup in page.find_all("sup"):
        before, text = str(_text_beside(sup, behind=False) or "")[-_LONGEST_BASE:], sup.get_text().strip()
        if power := power_of(text, before):
            sup.replace_with(power)


def _is_sign(tag: Tag) -> bool:
    """Return whether a part is the number of a reference, or links to the heading in which it stands."""
    text = tag.get_text()
    links = [tag] if tag.name == "a" else tag.find_all("a", limit=2)
    inward = len(links) == 1 and "#" in str(links[0].get("href", ""))
    if tag.name == "sup":
        before, after = tag.previous_sibling, str(tag.next_sibling or "")
        if not str(before or "").strip() and after[:1].isspace() and tag.parent and tag.parent.name in ("p", "li"):
            return _MARK.fullmatch(text) is not None  # of the note that follows
        return _REFERENCE.fullmatch(text) is not None or inward and _MARK.fullmatch(text) is not None
    if inward and tag.find("sup") and _MARK.fullmatch(text):
        return True
    return (tag.find_parent(_HEADINGS) is not None or inward) and not _WORD.search(text)


def _list_paragraphs(page: BeautifulSoup) -> None:
    """Make the paragraphs that Word and Outlook set as items, with their numbers as text, items of lists."""
    for number in page.select("[style*='mso-list:ignore' i]"):
        paragraph = number.find_parent("p")
        if number.decomposed or paragraph is None:
            continue
        written = number.get_text().strip()
        number.decompose()
        if len(written) > 1:
            paragraph.insert(0, NavigableString(f"{written} "))
        before = paragraph.find_previous_sibling()
        if before is None or "mso-list" not in before.attrs:
            before = Tag(name="ul", attrs={"mso-list": ""})
            paragraph.insert_before(before)
        paragraph.name = "li"
        before.append(paragraph.extract())


def _number(numbered: Tag, counted: Container[int]) -> None:
    """Write the numbers of items as browsers count them, unless a style sheet has counted them."""
    items = numbered.find_all("li", recursive=False)
    style = _STYLE.search(str(numbered.get("style", "")))
    named = (_CLASSES[name] for name in map(str, numbered.get_attribute_list("class")) if name in _CLASSES)
    kind = KINDS.get(style[1].lower(), "") if style else str(numbered.get("type") or next(named, "1"))
    step = -1 if numbered.has_attr("reversed") else 1
    number = _whole(numbered.get("start"), len(items) if step < 0 else 1)
    for item in items if kind else ():
        number = _whole(item.get("value"), number)
        if id(item) not in counted:
            first_block(item).insert(0, NavigableString(f"{numeral(number, kind)}. "))
        number += step


def _whole(given: object, otherwise: int) -> int:
    text = str(given).strip()
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else otherwise


_MAIN = ("main, [role=main]", "article", "body")
_DEEPEST = 120  # levels of elements, as converting them takes recursion and time that grows with the square
_BLANKS = re.compile("[ \t]{9,}")  # the converter takes time that grows with the square of their number
_BEGINS_WITH_SPACE = re.compile(r"^[ \t\n]")
_UNKNOWN_BLOCKS = "address center details fieldset form header hgroup legend menu".split()  # to the converter
_ESCAPE = b"\x1b"
_MARKS = re.compile(r"[$^{%]|^[ \t]*+(?:[:!?])(?=\s|::|!!|\?\?)", re.MULTILINE)  # of Markdown's dialects
_BAR = re.compile(r"(?<!\\)\|")


class Page(NamedTuple):
    """The title in the head of a page, or "", and its main part as Markdown."""

    title: str
    markdown: str


def decoded_page(written: bytes) -> str:
    """Decode a page in UTF-8, or else in the encoding that it declares, as browsers read it.

    Raises:
        UnicodeDecodeError: when it is in neither.
    """
    declared = lookup(EncodingDetector.find_declared_encoding(written, is_html=True) or "")
    if declared and _ESCAPE in written:  # ISO-2022-JP would be valid UTF-8
        return str(declared.codec_info.decode(written)[0])
    try:
        return decoded(written)
    except UnicodeDecodeError:
        if declared is None:
            raise
        return str(declared.codec_info.decode(written)[0])


def read_html(html: str) -> Page:
    """Convert a page to Markdown.

    The main part is the only `main` or `article`, or else the whole body. Menus, footers, buttons, scripts, hidden and
    struck parts, signs that link to a heading, and numbers of references are left out. Of a page whose elements are
    nested too deeply, only the text is returned.

    Raises:
        ValueError: when the page has no text.
    """
    with warnings.catch_warnings(action="ignore", category=XMLParsedAsHTMLWarning):
        page = BeautifulSoup(html, "lxml")
    for comment in page.find_all(string=lambda text: isinstance(text, Comment)):
        _cut(comment)
    flatten_code(page)
    simplify_generated(page)
    write_formulas(page)
    if not _is_deep(page):  # what looks into each part of it takes time that grows with the square of the depth
        rewrite(page)
    take_out(page)
    title = " ".join(page.title.get_text().split()) if page.title else ""
    main = next((found[0] for name in _MAIN if len(found := page.select(name)) == 1), page)
    markdown = main.get_text("\n") if _is_deep(main) else _to_markdown(main)
    if not _WORD.search(markdown):
        raise ValueError("expected a page with text, got one without: does a script fill it? (save it from a browser)")
    return Page(title, f"\n{markdown}")  # a rule in the first line would begin front matter


def _is_deep(page: Tag) -> bool:
    depths = {id(page): 0}
    for part in page.find_all():
        depths[id(part)] = depths[id(part.parent)] + 1
    return max(depths.values()) > _DEEPEST


def _to_markdown(page: Tag) -> str:
    for text in page.find_all(string=_BLANKS):
        if not text.find_parent("pre"):
            text.replace_with(_BLANKS.sub(" ", text))
    for block in page.find_all(_UNKNOWN_BLOCKS):
        block.name = "div"
    for text in page.find_all(string=_BEGINS_WITH_SPACE):
        before = _text_beside(text, behind=False)
        if before is not None and before[-1:].isspace() and not text.find_parent(["pre", "code"]):
            text.replace_with(text.lstrip(" \t\n")) if text.strip() else text.extract()
    simplify_tables(page)
    return str(_converter.convert_soup(page))


class _Converter(MarkdownConverter):
    """Writes terms with their descriptions as `Term: description`, summaries as paragraphs, images as their texts."""

    def escape(self, text: str, parent_tags: set[str]) -> str:
        text = super().escape(text, parent_tags)  # type: ignore[misc]  # its stub lacks it
        return _MARKS.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", str(text)).replace("\\[", "&#91;")

    def convert_img(self, image: Tag, _: str, parent_tags: set[str]) -> str:
        return self.escape(str(image.get("alt", "")), parent_tags)

    def convert_td(self, cell: Tag, text: str, parent_tags: set[str]) -> str:
        text = super().convert_td(cell, _BAR.sub(r"\|", text), parent_tags)  # type: ignore[misc]  # its stub lacks it
        return str(text)

    def convert_summary(self, _: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip()}\n\n"

    def convert_dt(self, term: Tag, text: str, parent_tags: set[str]) -> str:
        told = term.find_next_sibling()
        ends = (
            text.strip().endswith((".", "?", "!")) or told is None or told.name == "dd" and not told.get_text().strip()
        )
        return f"\n\n{text.strip()}\n\n" if ends else f"\n\n{text.strip().rstrip(':')}:"

    def convert_dd(self, _: Tag, text: str, parent_tags: set[str]) -> str:
        lines = text.strip().split("\n")
        several = len(lines) > 1
        return (
            "\n\n" + "".join(f"> {line}\n" for line in lines) + "\n" if several else f" {lines[0].removeprefix('- ')}"
        )


_converter = _Converter(
    bullets="-",
    escape_misc=True,
    heading_style="atx",
    newline_style="spaces",
    strip=["a", "b", "strong", "i", "em"],  # their marks would stay beside punctuation
    sup_symbol="<sup>",
)
