"""The parser of Markdown with the marks of its dialects: MyST, Pandoc, kramdown, MkDocs, Quarto, Obsidian."""

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from langgraph_rag.tools.documents import sphinx

TAG = r"\{%[^{}]{0,500}%\}|\{\{[<%][^{}]{0,500}[>%]\}\}"  # of Liquid, and a short code of Hugo or Quarto
CUT = "\0"  # where something is left out
POWER = re.compile(r"[-\u2212+]?\d")  # "10<sup>6</sup>" is not 106
_SUM = re.compile(r"[-+\u2212]?\w+(?: ?[-+\u2212*/\u00b7] ?\w+)+|[-\u2212][a-z]")
_EXPONENT = re.compile("[ijknxyNT]")  # others are often signs of notes
_BASE = re.compile(r"(?:^|\W)(?:[^\W\d]|\d+)$|\)$")
NOTE = "note"  # the type of a node within a text, whose children are a note of Pandoc's
SUBSTITUTIONS = "substitutions"  # of the environment: texts by name
_MOST_EXPANDED = 10_000  # substitutions of a text
_LONGEST_SUBSTITUTED = 1_000  # characters
_NUMBERS = r"[-+.\d\s]+(?:,[-+.\d\s]+)+"
_WIKI_LINK = re.compile(rf"!?\[\[(?!{_NUMBERS}\]\])(?:[^][|\n]*\|)?([^][|\n]+)\]\]")
_OF_PAGE = re.compile(r"(?<=\w)#(?=\w)")  # between a page and its heading
_ATTRIBUTES = (  # of kramdown, and of Pandoc
    r"\{:{1,2}[^{}\n]{0,300}\}"
    r"|\{[ ]?(?:(?:[#.][\w:.-]++|[\w-]++=(?:\"[^\"}\n]*+\"|'[^'}\n]*+'|[^\s\"'}]++)|-)(?:\s++|(?=\})))++\}"
)
_ROLE = re.compile(r"\{([a-zA-Z][\w:+.-]{0,99})\}(`+)(?!`)(.+?)(?<!`)\2(?!`)", re.DOTALL)
_SUBSTITUTION = re.compile(r"\{\{[ \t]*+([\w.-]++)[ \t]*+\}\}")
_FORMULA = re.compile(  # "$5 and $6" are prices, and $HOME/$USER is a path
    r"\$\$(?P<shown>[^$]+)\$\$"
    r"|(?<![\w\\$])\$(?![\s$]|[\d.,]+\s+[A-Za-z]{2})(?P<within>(?:[^$\\]|\\.)++)(?<!\s)\$(?![\w$({])"
    r"|\\\((?P<tex>[^\n]{1,500}?)\\\)",
    re.DOTALL,
)
OF_TEX = re.compile(r"[\\^_=+<>|]|\A\s*\w\s*\Z")  # "\(so\)" has only escaped parentheses
_PAIRED = re.compile(
    r"(?<![\w=+])(?P<mark>==|\+\+)(?=[^\s=+])(?P<marked>.{1,300}?)(?<=\S)(?P=mark)(?![\w=+])"
    rf"|\[(?P<classed>[^][]{{1,300}})\](?:{_ATTRIBUTES})"
    r"|\{(?:(?P<critic>\+\+|==)|~~[^{}]{0,300}?~>)(?P<new>[^{}]{1,300}?)(?(critic)(?P=critic)|~~)\}",  # CriticMarkup
    re.DOTALL,
)
_TO_TEMPLATE = re.compile(
    rf"\[([^][\n]{{1,300}})\]\((?:{TAG}|\{{\{{[^{{}}\n]{{0,300}}\}}\}}|[^(){{}}\s]){{1,300}}(?:[ ]\"[^\"\n]*\")?\)"
)
_RAISED = re.compile(r"(?<=[\w)\]*])\^([\w()+*\u2212,.\u2032-]{1,30}(?=\^(?![\w^]))|\d*[+\u2212-](?=\^\w))\^")
_LOWERED = re.compile(r"(?<=[\w)\]*])~(\d{1,9}(?=~\w)|[\w()+\u2212,-]{1,30}(?=~(?![\w~])))~")
_KEY = r"@\w(?:[\w:.#$%&+?~/-]*\w)?"
_CITED = re.compile(  # "[see @berg, p. 3; -@lind]", and in a sentence a key with a year or of a figure
    rf"\[(?P<cited>(?:[^][@\n]{{1,80}}[ ])?-?{_KEY}(?=[],;\s])[^][\n]{{0,300}})\](?![(:\[])"
    r"|(?<![\w@/.])@(?P<named>(?:fig|tbl|sec|eq|lst|thm)[:-]\w[\w-]*|[a-zA-Z]\w*(?<=[a-z])(?:1[5-9]|20)\d\d[a-z]?\w*)\b"
)
_SIGN_OF_KEY = re.compile(rf"-?(?=({_KEY}))@")
_LEFT_OUT = (
    re.compile(r"%%.*?%%", re.DOTALL),  # a comment in Obsidian
    re.compile(r"\{(?:--(?![- ]*\})[^{}]{1,300}?--|>>[^{}]{1,300}?<<)\}"),  # CriticMarkup: what goes, and a remark
    re.compile(r"\[\^[^][\s]{1,100}\]"),  # a sign of a note
    re.compile(r"(?<![\w~)\]*])~(?=[^\s~/])[^~]{0,300}(?<=\S)~(?![\w~])"),  # struck out on GitHub and in chats
    re.compile(
        rf"(?:(?<=[\])`*_>])(?:{_ATTRIBUTES})|(?:{_ATTRIBUTES})(?=\s*\Z)|(?:(?<=\n)|(?<!.))(?:{_ATTRIBUTES})(?=\n))",
        re.DOTALL,
    ),
    re.compile(rf"(?:{TAG})"),  # of a template
    re.compile(r"\{/\*(?:[^*{]|\*(?!/\}))*+\*/\}"),  # a comment in MDX
    re.compile(r"(?<=[ ])\^[a-z0-9-]{6,}(?=\s*\Z)"),  # a name of a block in Obsidian
)
_UNREAD_LINE = re.compile(  # targets and breaks of MyST, abbreviations, contents, files to include
    r"\([^()\n]+\)=|\*\[[^]\n]+\]:.*|%(?:\s.*)?|\+\+\+(?:\s.*)?|\^{3,}|\[(?:TOC|\[_?TOC_?\])\]|-+8<-+.*"
    r"|import\s[\w\s{},*]+\sfrom\s+['\"][^'\"]+['\"];?|export (?:const|let|var|default)\s.*"
)
_ENDS_OF_FORMULAS = {
    "$$": re.compile(r"\$\$[ \t]*(?:\([^()\n]+\)|\{[^{}\n]+\})?[ \t]*$"),
    "\\[": re.compile(r"\\\][ \t]*$"),
}
_LONGEST_FORMULA = 50  # lines
_LONGEST_NOTE = 1_000  # characters

_Shown = Callable[[re.Match[str]], str | None]


def power_of(raised: str, before: str) -> str:
    """Return a raised sum or name of a number as ^(n+1) or ^n; "" if it is another text, or stands behind none."""
    if _SUM.fullmatch(raised) and before[-1:].strip():
        return f"^({raised})"
    return f"^{raised}" if _EXPONENT.fullmatch(raised) and _BASE.search(before) else ""


def _mark(pattern: re.Pattern[str], shown: _Shown) -> Callable[[StateInline, bool], bool]:
    """Return a parser rule that reads what matches as the text that `shown` gives, unless it is escaped or in code."""

    def rule(state: StateInline, silent: bool) -> bool:
        found = pattern.match(state.src, state.pos, state.posMax)
        text = shown(found) if found else None
        if found is None or text is None:
            return False
        state.pos = found.end()
        if not silent:
            state.push("text", "", 0).content = text
        return True

    return rule


def _of_role(found: re.Match[str]) -> str:
    name, text = sphinx.name_of(found[1]), found[3].strip().replace("\n", " ")
    if raised := sphinx.RAISED.get(name):
        return _power(text) if raised == "sup" else text
    return sphinx.role_text(name, text) or CUT


def _power(raised: str) -> str:
    return f"^{raised}" if POWER.match(raised) else raised


def _of_formula(found: re.Match[str]) -> str | None:
    formula = found["shown"] or found["within"] or found["tex"]
    return None if found["tex"] and not OF_TEX.search(formula) else formula.strip()


def _of_citation(found: re.Match[str]) -> str:
    return found["named"] or f"[{_SIGN_OF_KEY.sub('', found['cited'])}]"


def _note(state: StateInline, silent: bool) -> bool:
    """Read `^[a note]` as a node of its own, which has the text of the note."""
    if not state.src.startswith("^[", state.pos):
        return False
    whole, state.posMax = state.posMax, min(state.posMax, state.pos + _LONGEST_NOTE)
    end = state.md.helpers.parseLinkLabel(state, state.pos + 1)
    state.posMax = whole
    if end < 0:
        return False
    if not silent:
        note = state.push(NOTE, "", 0)
        note.content, note.children = state.src[state.pos + 2 : end], []
        state.md.inline.parse(note.content, state.md, state.env, note.children)
    state.pos = end + 1
    return True


def _to_template(state: StateInline, silent: bool) -> bool:
    """Read a link whose target a template writes, `[guide]({% link guide.md %})`, as its text."""
    found = _TO_TEMPLATE.match(state.src, state.pos, state.posMax)
    if found and not silent:
        end, state.pos, state.posMax = state.posMax, found.start(1), found.end(1)
        state.md.inline.tokenize(state)
        state.posMax = end
    state.pos = found.end() if found else state.pos
    return found is not None


def _of_page(found: re.Match[str]) -> str:
    """Return the text of `[[Page]]` or `[[Page|label]]`; an embedded file, `![[map.png]]`, has none."""
    if found[0].startswith("!"):
        return CUT
    return found[1] if "|" in found[0] else _OF_PAGE.sub(", ", found[1]).lstrip("#")


def _paired(state: StateInline, silent: bool) -> bool:
    """Read `==marked==`, `{++inserted++}`, `{~~old~>new~~}` and `[text]{.class}` as what stands within."""
    found = _PAIRED.match(state.src, state.pos, state.posMax)
    if found and not silent:
        group = next(group for group in ("marked", "classed", "new") if found[group])
        end, state.pos, state.posMax = state.posMax, found.start(group), found.end(group)
        state.md.inline.tokenize(state)
        state.posMax = end
    state.pos = found.end() if found else state.pos
    return found is not None


def _substituted(state: StateInline, silent: bool) -> bool:
    """Read `{{ name }}` as its value; it has no substitutions of its own."""
    found = _SUBSTITUTION.match(state.src, state.pos, state.posMax)
    value = state.env.get(SUBSTITUTIONS, {}).get(found[1]) if found else None
    expanded = state.env["expanded"] = state.env.get("expanded", 0) + 1
    if found is None or not isinstance(value, str | int) or len(str(value)) > _LONGEST_SUBSTITUTED:
        return False
    if expanded > _MOST_EXPANDED:
        return False
    state.pos = found.end()
    if not silent:
        if state.pending:
            state.pushPending()
        state.md.inline.parse(str(value), state.md, {}, state.tokens)
    return True


def _unread_line(state: StateBlock, start: int, _: int, silent: bool) -> bool:
    """Skip a line that only sets the page, but "% of them" below "50" is read."""
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].rstrip()
    if state.is_code_block(start) or not _UNREAD_LINE.fullmatch(line):
        return False
    if silent:
        return not (line.startswith("%") and state.src[: state.eMarks[start - 1]][-1:].isdigit())
    state.line = start + 1
    return True


def _formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    closing = _ENDS_OF_FORMULAS.get(state.src[begin : begin + 2])
    if closing is None or state.is_code_block(start):
        return False
    lines = list[str]()
    for number in range(start, min(end, start + _LONGEST_FORMULA)):
        line = state.src[
            state.bMarks[number] + state.tShift[number] if number > start else begin + 2 : state.eMarks[number]
        ]
        ended = closing.search(line)
        lines.append(line[: ended.start()] if ended else line)
        if ended:
            break
    else:
        return False
    formula = "\n".join(filter(str.strip, lines))
    if not formula.strip() or state.src[begin] == "\\" and not OF_TEX.search(formula) or "\\]" in formula:
        return False
    if not silent:
        state.line = number + 1
        token = state.push("math_block", "math", 0)
        token.content, token.map = formula, [start, state.line]
    return True


parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(deflist_plugin)
parser.use(footnote_plugin, inline=False, move_to_end=False).disable("footnote_ref")  # it takes quadratic time
_ALL: dict[str, Callable[[StateInline, bool], bool]] = {
    **{f"left_out_{number}": _mark(pattern, lambda _: CUT) for number, pattern in enumerate(_LEFT_OUT)},
    "note": _note,
    "to_template": _to_template,
    "citation": _mark(_CITED, _of_citation),
    "role": _mark(_ROLE, _of_role),
    "substitution": _substituted,
    "formula": _mark(_FORMULA, _of_formula),
    "paired": _paired,
    "raised": _mark(_RAISED, lambda found: _power(found[1])),
    "lowered": _mark(_LOWERED, lambda found: found[1]),
}
for _name, _rule in _ALL.items():
    parser.inline.ruler.before("escape", _name, _rule)
parser.inline.ruler.after("link", "wiki_link", _mark(_WIKI_LINK, _of_page))
_ENDING: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list", "footnote_def"]}
parser.block.ruler.before("hr", "unread_line", _unread_line, _ENDING)
parser.block.ruler.before("fence", "formula_block", _formula_block, _ENDING)
