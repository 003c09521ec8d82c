"""Notes, tabs, folds and directives of page generators in Markdown become the prose and the code that they show."""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from textwrap import dedent
from typing import NamedTuple

from langgraph_rag.tools.documents import sphinx
from langgraph_rag.tools.documents.markdown_marks import TAG
from langgraph_rag.tools.documents.markdown_tables import bars, with_bars
from langgraph_rag.tools.ingest.spans import fenced

_BOXES = 20  # boxes within boxes
_BOX = re.compile(  # of MkDocs with its tabs and interfaces, of Pandoc and Docusaurus, of GitHub and Obsidian, of MyST
    r"""(?P<indent>[ ]*)(?:
        (?P<below>!!!|\?\?\?\+?)[ \t]+[a-z][\w -]*+(?:"(?P<title>.*)")? | (?P<tab>===[!+]?)[ \t]+"(?P<of_tab>.*)"
        | :::[ ]+(?P<interface>\w+(?:\.\w+)+)
        | (?P<colons>:{3,})[ \t]*
          (?:\{(?P<directive>[a-zA-Z][\w:.+-]*)\}[ \t]*(?P<arguments>.*)
             |(?:\{(?P<attributes>[^{}]*)\}|[a-zA-Z][\w-]*)
              (?:\[(?P<in_brackets>.*)\]|[ \t]++(?P<after>[^:{]*+))?(?:\{[^{}]*+\})?[ \t]*+:*+)
        | >[ \t]*\[!\w+\][-+]?[ \t]*(?P<of_quote>.*)
        | (?P<fence>`{3,}|~{3,})\{(?P<of_fence>=?[a-zA-Z][\w:.+-]*)\}[ \t]*(?P<fenced>.*)
    )[ \t]*""",
    re.VERBOSE,
)
_KNOWN = (  # in a fence of backticks; what else stands there in braces may be a language
    sphinx.KNOWN
    | sphinx.CODE
    | frozenset("aside card csv-table details dropdown eval-rst exercise list-table margin parsed-literal".split())
    | frozenset("proof solution table theorem".split())
)
_WITH_LANGUAGE = frozenset("code code-block code-cell sourcecode".split())
_TITLES = ("title", "of_tab", "in_brackets", "after", "of_quote")
_ANY_TAG = re.compile(r"\{%|\{\{[<%]")
_TAG_LINE = re.compile(rf"[ \t]*(?=.[{{%<]*-?[ \t]*(?P<name>/?[\w-]*))(?:(?:{TAG})[ \t]*)+")
_LABEL = re.compile(r"\b(?:title|header|label|name|summary|caption)=[\"']([^\"'\n]+)[\"']")
_LABELLED = frozenset("accordion collapse details expand spoiler step tab".split())  # by what is quoted first
_QUOTED = re.compile(r"[\"']([^\"'\n]+)[\"']")
_ANY_BOX = re.compile(r"^ *(?:!!!|\?\?\?|===[!+]?[ \t]+\"|:::|>[ \t]*\[!|[`~]{3,}\{)", re.MULTILINE)
_FENCE = re.compile(r"[ >]*(?:(?:[*+-]|\d{1,9}[.)]) +)?(`{3,}+(?!.*`)|~{3,}+)")
_COLONS = re.compile(r" *(:{3,})[ \t]*(\S?)")
_TITLE = re.compile(r"title=\"([^\"]*)\"")
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_CELL = re.compile(r"(?:(?P<row>[*+-])[ \t]++|[ \t]*+)[*+-](?:[ \t]++(?P<text>.*)|$)")


def without_boxes(markdown: str) -> str:
    """Return a Markdown text in which notes, warnings, tabs and directives are prose after their titles, or code.

    What only sets a page (contents, indexes, files to include) is left out; what is never closed stays as written.
    """
    lines = with_bars(markdown, _in_code(markdown.split("\n")))
    if _ANY_TAG.search(markdown):
        lines = list(_untagged(lines))
    return "\n".join(_unboxed(lines, _BOXES) if _ANY_BOX.search(markdown) else lines)


def _in_code(lines: Sequence[str]) -> list[bool]:
    return [bool(code) for code in accumulate(lines, lambda code, line: _code_after(line, code), initial="")]


def _untagged(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a text without lines of tags of a template, but with the labels that these show."""
    hiding = False
    for line, in_code in zip(lines, _in_code(lines), strict=False):
        tag = None if in_code else _TAG_LINE.fullmatch(line)
        name = tag["name"].lower() if tag else ""
        if hiding or name == "comment":
            hiding = name != "endcomment"
        elif name in ("highlight", "endhighlight"):
            yield f"```{line.split()[2] if name == 'highlight' else ''}"
        elif tag:
            label = _LABEL.search(line) or name in _LABELLED and _QUOTED.search(line)
            yield from ("", f"{label[1]}:", "") if label else [""]
        else:
            yield line


def _unboxed(lines: Sequence[str], levels: int) -> Iterator[str]:
    place, code = 0, ""
    ends = _ends(lines)
    while place < len(lines):
        line = lines[place]
        box = None if code or not levels else _BOX.fullmatch(line)
        end = _end(lines, place, box, ends) if box else None
        told = _told(box, _inside(lines[place + 1 : end], box), levels - 1) if box and end else None
        if box and end and told is not None:
            yield from (f"{box['indent']}{one}" for one in ["", *told, ""])
            place = end + bool(box["colons"] or box["fence"])
            continue
        code = _code_after(line, code)
        yield line
        place += 1


def _code_after(line: str, code: str) -> str:
    """Return the mark of the block of code that is open after a line; `code` is that of the one before it."""
    fence = _FENCE.match(line)
    closes = fence and code and fence[1].startswith(code) and not line.strip(" >`~")
    return "" if closes else code or (fence[1] if fence else "")


def _ends(lines: Sequence[str]) -> dict[int, int]:
    """Return the numbers of lines that open a fence of colons, with those of the lines that close them.

    A bare line closes the last open fence of its length (MyST) or else the last one of all (Pandoc).
    """
    ends = dict[int, int]()
    opened, lengths, code = list[tuple[int, int]](), dict[int, int](), ""
    for number, line in enumerate(lines):
        code = _code_after(line, code)
        if not code and (colons := _COLONS.match(line)):
            length = len(colons[1])
            if colons[2]:
                opened.append((number, length))
                lengths[length] = lengths.get(length, 0) + 1
                continue
            while opened:
                opening, of_length = opened.pop()
                wanted = lengths.get(length, 0)
                lengths[of_length] -= 1
                if of_length == length or not wanted:
                    ends[opening] = number
                    break
    return ends


def _end(lines: Sequence[str], place: int, box: re.Match[str], ends: dict[int, int]) -> int | None:
    """Return the place after the last line in a box; None if it is never closed."""
    if box["colons"]:
        return ends.get(place)
    end, indent = place + 1, len(box["indent"])
    while end < len(lines):
        line = lines[end]
        if box["fence"] and line.strip() == box["fence"]:
            return end
        if box["of_quote"] is not None and not line.lstrip().startswith(">"):
            return end
        if (box["below"] or box["tab"] or box["interface"]) and line[: indent + 4].strip():
            return end
        end += 1
    return None if box["fence"] else end


def _inside(lines: Sequence[str], box: re.Match[str]) -> list[str]:
    """Return the lines in a box without what sets them apart."""
    if box["of_quote"] is not None:
        return [re.sub(r"^ *> ?", "", line) for line in lines]
    below = box["below"] or box["tab"] or box["interface"]
    margin = len(box["indent"]) + (4 if below else 0)
    return [line[margin:].rstrip() if below else line[margin:] if not line[:margin].strip() else line for line in lines]


class _Shown(NamedTuple):
    """What a box shows: titles, and lines of Markdown, which may have boxes of their own unless they are `final`."""

    titles: Sequence[str]
    lines: Sequence[str]
    final: bool = False


def _told(box: re.Match[str], inside: list[str], levels: int) -> list[str] | None:
    """Return the lines that tell what is in a box, after its title; None if it is none."""
    if name := box["directive"] or box["of_fence"]:
        if box["of_fence"] and _is_language(name, box["fenced"]):
            return None
        shown = _directive(name, (box["arguments"] or box["fenced"] or "").strip(), inside)
    elif box["interface"]:
        shown = _Shown([box["interface"]], [])
    elif not any(inside) and not box["colons"]:
        return None
    else:
        titles = [title for group in _TITLES if (title := (box[group] or "").strip())]
        shown = _titled(box["attributes"] or "", titles, inside)
    *names, title = shown.titles or [""]
    told = list(shown.lines if shown.final else _unboxed(shown.lines, levels))
    first = next((number for number, one in enumerate(told) if one.strip()), None)
    if first is None:
        return list(shown.titles)
    if title and told[first][0].isalnum():
        told[first] = f"{title}: {told[first]}"
    elif title:
        told[first:first] = [f"{title}:", ""]
    return [*(line for name in names for line in (f"{name}:", "")), *told]


def _titled(attributes: str, titles: list[str], inside: list[str]) -> _Shown:
    """Return what a box with a title shows; in Quarto, it may be an attribute, or a heading in a callout."""
    if found := _TITLE.search(attributes):
        titles = [found[1]]
    first = next((number for number, line in enumerate(inside) if line.strip()), 0)
    if "callout" in attributes and inside and (heading := _HEADING.fullmatch(inside[first])):
        return _Shown([heading[1]], inside[first + 1 :])
    return _Shown(titles, inside)


def _is_language(name: str, arguments: str) -> bool:
    """Return whether a block in braces is code to run, as in Quarto and R Markdown, and no directive."""
    return name.lower() not in _KNOWN and ":" not in name and name[0] != "=" and (not arguments or "=" in arguments)


def _directive(written: str, argument: str, inside: list[str]) -> _Shown:
    """Return what a directive of MyST shows."""
    name = sphinx.name_of(written)
    options, content = _options(inside)
    arguments = [argument] if argument else []
    if name in sphinx.NO_TEXT or name.startswith("="):  # for another kind of output
        return _Shown([], [])
    if name == "eval-rst":
        return _Shown([], _of_restructured_text(inside), final=True)
    if name == "math":
        return _Shown([], ["$$", *filter(str.strip, [*arguments, *content]), "$$"], final=True)
    if name == "parsed-literal" or sphinx.is_code(name, arguments, content):
        language = " ".join(argument.split()[:1]) if name in _WITH_LANGUAGE else ""
        caption = [f"{told}\n"] if (told := sphinx.caption_of(options)) else []
        code = fenced("\n".join(content).strip("\n"), "```", language)
        return _Shown([], "\n".join([*caption, code]).split("\n"), final=True)
    if name in ("csv-table", "list-table", "table"):
        rows = {"csv-table": _comma_separated, "list-table": _listed}[name](content) if name != "table" else []
        return _Shown([], [*arguments, "", *(_table(rows, options) or content)])
    if name == "glossary":
        return _Shown([], _terms(content))
    return _Shown(sphinx.titles_of(name, arguments, content), sphinx.prose_of(name, arguments, options, content))


def _options(inside: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options of a directive as `:name: value`, and its other lines."""
    begin = end = len(inside) - len(_from_text(inside, 0))
    if begin < len(inside) and inside[begin].strip() == "---":
        closing = next((n for n in range(begin + 1, len(inside)) if inside[n].strip() == "---"), begin)
        return [f":{line.strip()}" for line in inside[begin + 1 : closing]], _from_text(inside, closing + 1)
    while end < len(inside) and sphinx.OPTION.match(inside[end]):
        end += 1
    return list(inside[begin:end]), _from_text(inside, end)


def _from_text(lines: Sequence[str], begin: int) -> list[str]:
    """Return the lines after blank ones."""
    while begin < len(lines) and not lines[begin].strip():
        begin += 1
    return list(lines[begin:])


def _of_restructured_text(lines: Sequence[str]) -> list[str]:
    from langgraph_rag.tools.documents.html import read_html  # takes a while
    from langgraph_rag.tools.documents.restructured_text import restructured_text_to_html

    try:
        return read_html(restructured_text_to_html("\n".join(lines))).markdown.split("\n")
    except ValueError:  # it has no text
        return []


def _terms(lines: Sequence[str]) -> list[str]:
    """Return a glossary, whose descriptions are indented, as a definition list."""
    found, described = list[str](), list[str]()
    for line in [*lines, "end"]:
        if line[:1].isspace() or not line.strip():
            described.append(line)
            continue
        text = dedent("\n".join(described)).strip("\n").split("\n")
        found += [f": {text[0]}", *(f"  {one}" if one else "" for one in text[1:]), ""] if any(text) else [""]
        described = []
        found.append(line)
    return found[:-1]


def _comma_separated(lines: Sequence[str]) -> list[list[str]]:
    try:
        return [row for row in csv.reader(lines, skipinitialspace=True) if row]
    except csv.Error:  # a cell is too long
        return [[line] for line in lines if line]


def _listed(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of a list of lists; a cell is one line."""
    rows = list[list[str]]()
    for line in lines:
        cell = _CELL.fullmatch(line)
        if cell and cell["row"]:
            rows.append([])
        if cell and rows:
            rows[-1].append(cell["text"] or "")
        elif rows and line.strip():
            rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}".strip()
    return rows


def _table(rows: list[list[str]], options: Sequence[str]) -> list[str]:
    """Return rows as a table of Markdown."""
    given = {name: value.strip() for option in options for name, _, value in [option.lstrip(":").partition(":")]}
    heads = _comma_separated([given["header"]]) if given.get("header") else []
    if not heads and not (given.get("header-rows", "0").isdigit() and int(given.get("header-rows", "0"))):
        heads = [[]]
    return bars(heads + rows)
