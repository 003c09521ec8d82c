"""What the roles and directives of Sphinx print, whether they stand in reStructuredText or in MyST's Markdown."""

import re
from collections.abc import Sequence

CODE = frozenset(
    "code code-block code-cell console digraph doctest graph graphviz highlight-block ipython jupyter-execute "
    "mermaid plantuml plot productionlist prompt sourcecode terminal testcode testoutput uml".split()
)
NO_TEXT = frozenset(
    "autosummary bibliography codeauthor contents currentmodule default-domain default-role footer header "
    "highlight include index inheritance-diagram literalinclude meta module moduleauthor raw role "
    "section-numbering program sectionauthor sectnum tabularcolumns tags target-notes testcleanup testsetup title "
    "toctree todolist".split()
)
_PROSE = frozenset(  # only their content is read; an argument begins the text
    "attention caution danger epigraph error highlights hint important math note pull-quote seealso tip todo "
    "warning".split()
)
_FRAMES = frozenset(  # their arguments are settings
    "button-link button-ref card-carousel compound container cssclass div figure grid grid-item hlist ifconfig image "
    "line-block only rst-class tab-set tabs".split()
)
_VERSIONS = {
    "added": "New in version",
    "changed": "Changed in version",
    "deprecated": "Deprecated since version",
    "deprecated-removed": "Deprecated since version",  # of CPython: and the version that will remove it
    "removed": "Removed in version",
}
_VERSIONS |= {f"version{dash}{name}": said for name, said in _VERSIONS.items() for dash in ("", "-")}  # "-": Sphinx 9
_LABELS = {"availability": "Availability", "impl-detail": "CPython implementation detail"}
KNOWN = _PROSE | _FRAMES | NO_TEXT | {*_VERSIONS, *_LABELS, "admonition", "class", "glossary", "sidebar", "topic"}
RAISED = {"sub": "sub", "subscript": "sub", "sup": "sup", "superscript": "sup"}
_PRINTED = frozenset(  # roles that say how a text looks
    "abbr abbreviation b bold code command dfn doc em emphasis eq file guilabel i index italic kbd literal "
    "mailheader makevar math menuselection mimetype newsgroup numref option program ref regexp samp strong term "
    "title title-reference".split()
)
_UNPRINTED = frozenset("del fa fab far fas octicon raw s strike strikethrough".split())  # struck parts, icons
_NUMBERED = {"cve": "CVE-", "cwe": "CWE-"}
_NUMBER = re.compile(r"(#?\d[\d.,:/-]*)(?:#section-([\d.]+)|#\S*)?")  # and the place on its page
_COUNTED = re.compile(r" ?(?:%s|\{number\})")  # where a number of a figure stands
_ABBREVIATED = 4  # letters of a name that is written in capitals: RFC, PEP
_WORDS = frozenset("bug case item page pull step task".split())  # which are not
_LONGEST_TITLED = 1_000  # characters of a role's text and target
_WITH_TARGET = re.compile(r"(.+?)\s*<[^<>]+>", re.DOTALL)
_SHORTENED = re.compile(r"~[^\s/]")
_STATEMENT = re.compile(
    r"[ \t]*(?:@\w|>>> |\.\.\. |[$%] "
    r"|(?:def|class|import|from|for|if|with|return|while|try|else|assert|print)\b.*[\w:)\]'\"]$"
    r"|[\w.]+\(.*\)?[,;:]?$|[\w.\[\]'\"]+(?:: \w+)? = |[)\]}]+[,;]?$|[{<].*[>};]$|.*;$)"
)
OPTION = re.compile(r":[\w:+.-]+:(?:\s|$)")
_TOLD = re.compile(r":(alt|caption|default|released|required|type|value|version):\s+(\S.*)", re.IGNORECASE)
_UNNAMED = ("alt", "caption")  # options that are told without their names
_FIELDS = {
    **dict.fromkeys("arg argument key keyword kwarg kwparam param parameter".split(), "Parameter"),
    **dict.fromkeys("paramtype type vartype".split(), "Type of"),
    **dict.fromkeys("except exception raise raises throws".split(), "Raises"),
    **dict.fromkeys("cvar ivar var".split(), "Variable"),
    "return": "Returns",
    "returns": "Returns",
    "rtype": "Return type",
}
_CLASS = re.compile(r"[a-z][a-z0-9 -]*")
_LETTER = re.compile(r"[^\W\d_]")
_TERM = re.compile(r"^([^\s.].*?)[ \t]*\n(?=[^\s.])", re.MULTILINE)  # right above another one of the same description


def name_of(written: str) -> str:
    """Return the name of a role or directive without its domain: `py:class` is `class`."""
    return written.lower().rsplit(":", 1)[-1]


def is_code(name: str, arguments: Sequence[str], content: Sequence[str]) -> bool:
    """Return whether a directive shows code: an unknown one does if most of its lines are statements."""
    lines = [line for line in content if line.strip()]
    of_code = sum(_STATEMENT.match(line) is not None for line in lines) > len(lines) / 2
    return name in CODE or not arguments and name not in KNOWN and of_code


def prose_of(name: str, arguments: Sequence[str], options: Sequence[str], content: Sequence[str]) -> list[str]:
    """Return the lines that a directive prints below its titles: those of its content and what stands before them."""
    if name in _LABELS and arguments:
        return [f"{_LABELS[name]}: {arguments[0]}", *arguments[1:], "", *content]
    if name in _VERSIONS:
        version, _, rest = " ".join(arguments).partition(" ")
        if name == "deprecated-removed":
            removing, _, rest = rest.partition(" ")
            version = f"{version}, will be removed in version {removing}"
        first = f"{_VERSIONS[name]} {version}{': ' if rest or any(content) else '.'}{rest}"
        return [first, "", *content] if rest or not any(content) else [first + content[0], *content[1:]]
    if name in _PROSE:
        return [*arguments, "", *content]
    if name == "glossary":
        return _TERM.sub(r"\1, ", "\n".join(content)).split("\n")
    return [*_told(options), *content]


def caption_of(options: Sequence[str]) -> str:
    """Return the caption of a block of code, which may be "", given the options of its directive."""
    return next((found[2] for line in options if (found := _TOLD.match(line)) and found[1] == "caption"), "")


def field_name(written: str) -> str:
    """Return the name of a field in the description of an object as it is printed: `param int x` is `Parameter x`.

    >>> field_name("param int size"), field_name("returns"), field_name("Author")
    ('Parameter size (int)', 'Returns', 'Author')
    """
    name, _, rest = written.partition(" ")
    said = _FIELDS.get(name)
    if said == "Parameter":
        kind, _, rest = rest.rpartition(" ")
        rest = f"{rest} ({kind})" if kind else rest
    return f"{said} {rest}".rstrip() if said else written


def _told(options: Sequence[str]) -> list[str]:
    """Return the options that are printed as paragraphs, such as the default of a setting."""
    found = [(option[1], option[2]) for line in options if (option := _TOLD.match(line))]
    told = [text if name in _UNNAMED else f"{name.capitalize()}: {text}" for name, text in found]
    return [line for paragraph in told for line in (paragraph, "")]


def titles_of(name: str, arguments: Sequence[str], content: Sequence[str]) -> list[str]:
    """Return those arguments of a directive that are printed above its content: titles, terms and signatures."""
    styled = name == "class" and not any(content) and _CLASS.fullmatch("".join(arguments))
    if name.startswith("auto") or styled or any(name in known for known in (_FRAMES, _LABELS, _PROSE, _VERSIONS)):
        return []
    return [line for line in arguments if _LETTER.search(line)]


def role_text(role: str, text: str) -> str:
    """Return the text of a role as it is printed."""
    if role in _UNPRINTED:
        return ""
    if len(text) <= _LONGEST_TITLED and (titled := _WITH_TARGET.fullmatch(text)):
        return _COUNTED.sub("", titled[1]) if role == "numref" else titled[1]
    if role in ("samp", "file"):
        return text.replace("{", "").replace("}", "").replace("\\\\", "\\")
    if role in ("guilabel", "menuselection"):
        return text.replace("&", "").replace("-->", "\u2192")
    if role in _PRINTED or not role:
        return text
    if number := _NUMBER.fullmatch(text):
        named = role.upper() if len(role) <= _ABBREVIATED and role not in _WORDS else role
        return f"{_NUMBERED.get(role, f'{named} ')}{number[1]}{f' section {number[2]}' if number[2] else ''}"
    if _SHORTENED.match(text):
        return re.split(r"\.|::", text[1:].rstrip("."))[-1]
    return text.lstrip("!.") if text[:1] in "!." else text
