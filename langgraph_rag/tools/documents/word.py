"""Word files become Markdown, with the numbers that Word counts."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import Any, NamedTuple, TypeVar
from zipfile import ZipFile

import mammoth
from bs4 import BeautifulSoup
from lxml import etree
from mammoth.documents import Table, TableRow
from mammoth.transforms import element_of_type

from langgraph_rag.tools.documents.html_styles import roman
from langgraph_rag.tools.documents.office import (
    DIAGRAM,
    NS,
    READ,
    check_format,
    check_size,
    id_of_diagram,
    is_on,
    name,
    parsed,
    told_by_diagram,
    value,
)
from langgraph_rag.tools.documents.word_formulas import formula

NUMBERING = "word/numbering.xml"
_SHOWN = re.compile(r"%([1-9])")
_MOST = 4_999  # the largest number written with letters
_WRITTEN: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": lambda number: _letters(number),
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": lambda number: roman(number),
    "upperRoman": lambda number: roman(number).upper(),
    "ordinal": lambda number: f"{number}{_ending(number)}",
    "bullet": lambda _: "",
    "none": lambda _: "",
}  # others, such as those of other scripts, are written with digits


class Place(NamedTuple):
    """The list that a paragraph or a style belongs to, and its level from "0" on; either may be ""."""

    list_id: str
    level: str


class _Level(NamedTuple):
    start: int
    form: str
    shown: str  # such as "%1.%2"
    restarts: int  # after paragraphs of levels below this one
    in_digits: bool


class _List(NamedTuple):
    counted: str  # lists of one definition are counted together
    levels: Mapping[int, _Level]
    starts: Mapping[int, int]  # where this list begins anew
    by_style: Mapping[str, int]


class Numbering(NamedTuple):
    """The lists of a file by their ids, and the places of styles in them."""

    lists: Mapping[str, _List]
    styles: Mapping[str, Place]


def read_numbering(part: bytes, styles: Mapping[str, Place]) -> Numbering:
    """Read the definitions of lists, given the places of styles."""
    root = parsed(part)
    defined = {found.get(name("w:abstractNumId"), ""): found for found in root.iter(name("w:abstractNum"))}
    instances = {found.get(name("w:numId"), ""): found for found in root.iter(name("w:num"))}
    lists = {}
    for id_, instance in instances.items():
        counted = value(instance, "w:abstractNumId")
        linked = styles.get(value(defined.get(counted), "w:numStyleLink"))
        if linked and linked.list_id in instances:
            counted = value(instances[linked.list_id], "w:abstractNumId")
        if counted in defined:
            lists[id_] = _list(counted, defined[counted], instance)
    return Numbering(lists, styles)


def _list(counted: str, defined: Any, instance: Any) -> _List:
    overriding = {_depth(found): found for found in instance.findall("w:lvlOverride", NS)}
    levels = {_depth(found): found for found in defined.findall("w:lvl", NS)}
    levels |= {depth: own for depth, found in overriding.items() if (own := found.find("w:lvl", NS)) is not None}
    starts = {depth: _whole(value(found, "w:startOverride")) for depth, found in overriding.items()}
    return _List(
        counted,
        {depth: _level(depth, found) for depth, found in levels.items()},
        {depth: start for depth, start in starts.items() if start is not None},
        {style: depth for depth, found in levels.items() if (style := value(found, "w:pStyle"))},
    )


def _level(depth: int, found: Any) -> _Level:
    restarts = _whole(value(found, "w:lvlRestart"))
    return _Level(
        _whole(value(found, "w:start")) or 0,
        value(found, "w:numFmt") or "decimal",
        value(found, "w:lvlText"),
        depth if restarts is None else restarts,
        is_on(found, "w:isLgl") or False,
    )


def _depth(element: Any) -> int:
    return _whole(element.get(name("w:ilvl"), "")) or 0


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def bulleted(part: bytes) -> bytes:
    """Return the definitions of lists with bullets instead of numbers, for paragraphs that have theirs as text."""
    root = parsed(part)
    for form in root.iter(name("w:numFmt")):
        form.set(name("w:val"), "bullet")
    return bytes(etree.tostring(root))


def numbers_of(root: Any, numbering: Numbering) -> list[tuple[Any, str]]:
    """Return the paragraphs with numbers, in order, and the number of each as Word shows it: "2.1" or "(b)"."""
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    begun = set[tuple[str, int]]()
    found = []
    for paragraph, id_, depth in _listed(root, numbering):
        own = numbering.lists[id_]
        count = counts[own.counted]
        for above in range(depth + 1):
            if above in own.starts and (id_, above) not in begun:
                count[above] = own.starts[above] - (above == depth)
                begun.add((id_, above))
            elif above not in count and above in own.levels:
                count[above] = own.levels[above].start - (above == depth)
        count[depth] += 1
        for below in [at for at in count if at > depth and at in own.levels and depth < own.levels[at].restarts]:
            del count[below]
        number = _number(own, depth, count)
        if number and any(text.text for text in paragraph.iter(name("w:t"))):
            found.append((paragraph, number))
    return found


def _listed(root: Any, numbering: Numbering) -> Iterator[tuple[Any, str, int]]:
    """Yield the paragraphs in lists, each with its list and its level."""
    for paragraph in root.iter(name("w:p")):
        style = value(paragraph, "w:pPr/w:pStyle")
        of_style = numbering.styles.get(style, Place("", ""))
        id_ = value(paragraph, "w:pPr/w:numPr/w:numId") or of_style.list_id
        own = numbering.lists.get(id_)
        level = _whole(value(paragraph, "w:pPr/w:numPr/w:ilvl"))
        if own and level is None:
            level = own.by_style.get(style, _whole(of_style.level) or 0)
        if own and level is not None and level in own.levels:
            yield paragraph, id_, level


def _number(own: _List, depth: int, count: Mapping[int, int]) -> str:
    level = own.levels[depth]
    if level.form in ("bullet", "none") and not _SHOWN.search(level.shown):
        return level.shown if level.form == "none" else ""

    def shown(part: re.Match[str]) -> str:
        at = int(part[1]) - 1
        form = own.levels[at].form if at in own.levels else "none"
        form = "decimal" if level.in_digits and form != "decimalZero" else form
        return _WRITTEN.get(form, str)(count.get(at, 0))

    return " ".join(_SHOWN.sub(shown, level.shown).split())


def _letters(number: int) -> str:
    """Write a number as a to z, aa to zz, aaa to zzz."""
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1) if 0 < number <= _MOST else str(number)


def _ending(number: int) -> str:
    return "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


TITLE, HEADING = "read-title", "read-heading"  # ids of styles; headings have their level at the end
_TEXTS = re.compile(r"word/(?:document|footnotes|endnotes)\d*\.xml")
_STYLES_PART = "word/styles.xml"
_LARGEST = 30_000_000  # bytes of text, which need a hundred times as much memory
_WRAPPERS = ("w:fldSimple", "w:hyperlink", "w:bdo", "w:dir", "w:smartTag", "m:oMathPara")
_PICTURES = ("{*}blip", "{*}imagedata")  # of any format; they may be missing from the file
_GONE = ("w:del", "w:moveFrom")  # deleted, and moved elsewhere
_UNREAD = ("w:strike", "w:dstrike", "w:vanish")  # struck out, or hidden
_GONE_PARTS = (*(f"w:trPr/{gone}" for gone in _GONE), "w:tcPr/w:cellDel")
_GONE_MARKS = tuple(f"w:pPr/w:rPr/{gone}" for gone in (*_GONE, "w:vanish"))
_PROPERTIES = ("w:rPr", "w:trPr", "w:tcPr")  # where such an element is a mark
_NAMED_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_LEVELS = range(1, 6)


_Own = TypeVar("_Own")


class _Styles(NamedTuple):
    """By the ids of styles: ours for titles and headings, whether their text is unread, their places in lists."""

    ours: dict[str, str]
    unread: dict[str, bool]
    numbered: dict[str, Place]


def rewritten(written: bytes) -> BytesIO:
    """Return the file with plain runs and line breaks, without links and pictures; titles and headings have our styles.

    Deleted, moved away, struck out and hidden text is gone, text boxes are paragraphs, and numbers of lists are text.

    Raises:
        ValueError: when it has over 30 MB of text.
        Exception: when it is no .docx file.
    """
    out = BytesIO()
    with ZipFile(BytesIO(written)) as given, ZipFile(out, "w") as taken:
        check_size(given, _LARGEST)
        names = given.namelist()
        styles = _styles(given.read(_STYLES_PART)) if _STYLES_PART in names else _Styles({}, {}, {})
        lists = read_numbering(given.read(NUMBERING), styles.numbered) if NUMBERING in names else None
        for part in (part for part in given.infolist() if part.filename.endswith(READ)):
            content = given.read(part)
            if _TEXTS.fullmatch(part.filename):
                root = _simplified(content, styles, _diagrams(given, part.filename))
                if lists:
                    _write_numbers(root, numbers_of(root, lists))
                for paragraph in root.iter(name("w:p")):
                    _name_style(paragraph, styles.ours)
                content = bytes(etree.tostring(root))
            taken.writestr(part, bulleted(content) if part.filename == NUMBERING else content)
    return out


def _diagrams(file: ZipFile, part: str) -> dict[str, list[str]]:
    """Return the lines of the diagrams of a part, by their relationships."""
    folder, _, own = part.rpartition("/")
    related = f"{folder}/_rels/{own}.rels"
    links = parsed(file.read(related)) if related in file.namelist() else ()
    targets = {link.get("Id", ""): link.get("Target", "") for link in links if "/diagramData" in link.get("Type", "")}
    names = {id_: target[1:] if target.startswith("/") else f"{folder}/{target}" for id_, target in targets.items()}
    return {id_: told_by_diagram(file.read(at)) for id_, at in names.items() if at in file.namelist()}


def _styles(part: bytes) -> _Styles:
    defined = {style.get(name("w:styleId"), ""): style for style in parsed(part).iter(name("w:style"))}
    ours = _inherited(defined, _our_style)
    return _Styles(
        {id_: style for id_, style in ours.items() if style},
        _inherited(defined, lambda style: _unread(style.find("w:rPr", NS))),
        _inherited(defined, _place_of),
    )


def _inherited(defined: dict[str, Any], own: Callable[[Any], _Own | None]) -> dict[str, _Own]:
    """Return a property by the ids of styles, also of styles based on them."""
    known = {id_: found for id_, style in defined.items() if (found := own(style)) is not None}
    undefined = set[str]()
    for id_ in defined:
        based, at = dict.fromkeys([id_]), id_
        while at not in known and (at := value(defined[at], "w:basedOn")) in defined and at not in based:
            if at in undefined:
                break
            based[at] = None
        if at in known:
            known |= dict.fromkeys(based, known[at])
        else:
            undefined.update(based)
    return known


def _place_of(style: Any) -> Place | None:
    number = value(style, "w:pPr/w:numPr/w:numId")
    return Place(number, value(style, "w:pPr/w:numPr/w:ilvl")) if number else None


def _our_style(style: Any) -> str | None:
    """Return the id of our style, empty if it is one of plain text; None if that depends on what it is based on."""
    named = value(style, "w:name")
    if numbered := _NAMED_HEADING.fullmatch(named):
        return _heading(int(numbered[1]))
    return TITLE if named.lower() == "title" else _outlined(style)


def _outlined(element: Any) -> str | None:
    """Return the id of our style for an outline level, which begins with 0; 9 stands for plain text."""
    level = value(element, "w:pPr/w:outlineLvl")
    return _heading(int(level) + 1) if level.isdecimal() else None


def _heading(level: int) -> str:
    return f"{HEADING}{level}" if level in _LEVELS else ""


def _unread(properties: Any) -> bool | None:
    """Return whether text is struck out or hidden; None if that depends on its styles."""
    own = [is_on(properties, kind) for kind in _UNREAD] if properties is not None else []
    return True if True in own else False if False in own else None


def _simplified(part: bytes, styles: _Styles, diagrams: Mapping[str, list[str]]) -> Any:
    root = parsed(part)
    for diagram in [*root.iter(DIAGRAM)]:
        for line in reversed(diagrams.get(id_of_diagram(diagram), [])):
            paragraph = etree.Element(name("w:p"))
            paragraph.append(_run(line))
            next(diagram.iterancestors(name("w:p"))).addnext(paragraph)
    _leave_out(root, styles.unread)
    _place_text_boxes(root)
    for wrapper in [*root.iter(*map(name, _WRAPPERS))]:
        _replace_by(list(wrapper), wrapper)
    for picture in [*root.iter(*_PICTURES)]:
        picture.getparent().remove(picture)
    for ruby in [*root.iter(name("w:ruby"))]:
        _replace_by(ruby.findall("w:rubyBase/*", NS), ruby)
    for written in [*root.iter(name("m:oMath"))]:
        _replace_by([_run(formula(written))], written)
    for end in root.iter(*map(name, ("w:cr", "w:ptab", "w:br"))):
        end.tag = name("w:br")
        end.attrib.clear()  # those of a page or a column join the words around them
    return root


def _leave_out(root: Any, unread: dict[str, bool]) -> None:
    """Remove what is deleted, moved elsewhere, struck out or hidden, and paragraphs that are empty by that.

    What a control shows until it is filled in, such as "Click here to enter text", is no text either.
    """
    for paragraph in root.iter(name("w:p")):
        of_style = unread.get(value(paragraph, "w:pPr/w:pStyle"))
        for run in [*_runs(paragraph)]:
            own = _unread(run.find("w:rPr", NS))
            own = unread.get(value(run, "w:rPr/w:rStyle"), of_style) if own is None else own
            if own:
                run.getparent().remove(run)
    parts = [part for part in root.iter(*map(name, ("w:tr", "w:tc"))) if any(_has(part, gone) for gone in _GONE_PARTS)]
    for control in root.iter(name("w:sdt")):
        for run in [*control.iter(name("w:r"))] if is_on(control, "w:sdtPr/w:showingPlcHdr") else ():
            run.getparent().remove(run)
    marks = {*map(name, _PROPERTIES)}
    changes = [change for change in root.iter(*map(name, _GONE)) if change.getparent().tag not in marks]
    for gone in (*parts, *changes):
        gone.getparent().remove(gone)
    for paragraph in [*root.iter(name("w:p"))]:
        if any(_has(paragraph, mark) for mark in _GONE_MARKS) and not any(
            text.text for text in paragraph.iter(*map(name, ("w:t", "m:t")))
        ):
            paragraph.getparent().remove(paragraph)


def _runs(paragraph: Any) -> Iterator[Any]:
    """Yield the runs of a paragraph, without those of text boxes in it, which are in paragraphs of their own."""
    return (run for run in paragraph.iter(name("w:r")) if next(run.iterancestors(name("w:p"))) is paragraph)


def _has(element: Any, path: str) -> bool:
    return element.find(path, NS) is not None


def _place_text_boxes(root: Any) -> None:
    """Put the paragraphs of text boxes, which are written twice for older programs, after those that hold them."""
    for alternatives in [*root.iter("{*}AlternateContent")]:
        choice, fallback = alternatives.find("{*}Choice"), alternatives.find("{*}Fallback")
        taken = choice if fallback is None or choice is not None and _has_text(choice) else fallback
        _replace_by([] if taken is None else list(taken), alternatives)
    for shape in [*root.iter(name("a:txBody"))]:
        shape.tag = name("w:txbxContent")
        for line in shape:
            text = "".join(part.text or "" for part in line.iter("{*}t"))
            line.clear()
            line.tag = name("w:p")
            line.append(_run(text))
    for box in reversed([*root.iter(name("w:txbxContent"))]):  # the inner ones first
        holder = next(box.iterancestors(name("w:p")), None)
        if holder is not None:
            for block in reversed(box):
                holder.addnext(block)


def _has_text(element: Any) -> bool:
    return next(element.iter(name("w:txbxContent"), name("a:txBody")), None) is not None


def _run(text: str) -> Any:
    run = etree.Element(name("w:r"))
    etree.SubElement(run, name("w:t")).text = text
    return run


def _replace_by(others: list[Any], element: Any) -> None:
    for other in others:
        element.addprevious(other)
    element.getparent().remove(element)


def _write_numbers(root: Any, numbers: list[tuple[Any, str]]) -> None:
    """Write the number of each paragraph before its text."""
    for paragraph, number in numbers:
        properties = paragraph.find("w:pPr", NS)
        paragraph.insert(0 if properties is None else paragraph.index(properties) + 1, _run(f"{number} "))


def _name_style(paragraph: Any, styles: dict[str, str]) -> None:
    """Give a title or heading, which a paragraph may be by itself, our style."""
    own = _outlined(paragraph)
    if style := styles.get(value(paragraph, "w:pPr/w:pStyle"), "") if own is None else own:
        properties = paragraph.find("w:pPr", NS)
        for named in properties.findall("w:pStyle", NS):
            properties.remove(named)
        properties.insert(0, etree.Element(name("w:pStyle"), {name("w:val"): style}))


_STYLES = "\n".join(  # names are compared without case
    [
        f"p.{TITLE} => h1:separator(' ')",
        *(f"p.{HEADING}{level} => h{level + 1}:fresh" for level in range(1, 6)),
        "p[style-name^='Heading '] => p:fresh",  # those of our styles, too deep ones, and what looks like one
        *(f"p[style-name^='{contents}'] => !" for contents in ("TOC ", "Contents ", "Table of ")),
    ]
)
_COLUMNS_WITH_NAMES = 3
_NOTE = "[id^=footnote-], [id^=endnote-]"
_BACK = "a[href^='#footnote-ref'], a[href^='#endnote-ref']"


def word_to_html(written: bytes) -> str:
    """Convert a .docx file to HTML: the title and headings by their styles, notes in a section at the end.

    Contents, headers, footers, pictures, comments, and deleted, struck out or hidden text are left out. Lists and
    headings have the numbers that Word counts. The first row of a table of three columns has their names, as Word
    seldom marks it.

    Raises:
        ValueError: when it is not a .docx file, or has no text or over 30 MB of it.
    """
    check_format(written, ".docx")
    try:
        html = mammoth.convert_to_html(
            rewritten(written),
            style_map=_STYLES,
            include_embedded_style_map=False,
            transform_document=_with_names_of_columns,
        ).value
    except Exception as error:  # any error, as files are broken in many ways
        raise ValueError(f"it cannot be read as a Word document ({error}): save it as .docx in Word") from error
    return _readable(html)


def _readable(html: str) -> str:
    """Return a page whose notes are in a section of their own, and whose checkboxes are characters."""
    page = BeautifulSoup(html, "lxml")
    if not page.get_text(strip=True):
        raise ValueError("expected a document with text, got one without: has it only pictures?")
    for box in page.select("input[type=checkbox]"):
        box.replace_with("☒" if box.has_attr("checked") else "☐")
    for back in page.select(_BACK):
        back.decompose()
    if note := page.select_one(f"li:is({_NOTE})"):
        heading = page.new_tag("h2", string="Notes")
        (note.find_parent("ol") or note).insert_before(heading)
    return str(page)


def _first_row_as_head(table: Any) -> Any:
    rows = [row for row in table.children if isinstance(row, TableRow)]
    titled = bool(rows) and len(rows[0].children) == 1 and rows[0].children[0].colspan >= _COLUMNS_WITH_NAMES
    if titled and len(rows) > 2:
        below = _first_row_as_head(table.copy(children=rows[1:])).children
        return table.copy(children=[rows[0].copy(is_header=below[0].is_header), *below])
    names = rows[0].children if rows else []
    merged = any(cell.colspan != 1 or cell.rowspan != 1 for cell in names)
    if len(rows) < 2 or merged or any(row.is_header for row in rows) or len(names) < _COLUMNS_WITH_NAMES:
        return table
    return table.copy(children=[rows[0].copy(is_header=True), *rows[1:]])


_with_names_of_columns = element_of_type(Table, _first_row_as_head)
