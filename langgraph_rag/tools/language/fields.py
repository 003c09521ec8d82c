"""Reads lines of fields, such as `- Product: HX-200; Price: 400`, as facts."""

import re
from collections.abc import Iterator

from langgraph_rag.tools.language.subjects import UPPER

_NO_FIELDS = frozenset(
    "chapter appendix example examples note notes section figure table see usage syntax warning tip hint "
    "important caution todo where page part for false true none yes no syntax".split()
)
_NO_LABEL = re.compile(r"(?:For|It|This|These|They|There|In|If|See|I\.e|E\.g)\b")
_NAMED = re.compile(r"[^\W\d_a-z]|\w-\w|\d")  # a name of its own
_LABELLED = re.compile(rf"({UPPER}[^:;.!?]{{0,60}}): (\w[^:;.!?]{{0,40}}): ([^:;!?]{{1,80}}[^:;.!?])")
_FIELD = re.compile(rf"(?P<name>{UPPER}[^:;.!?]{{0,40}}): (?P<value>[^:;!?]{{1,80}}[^:;.!?])")
_IN_ROW = re.compile(  # also "- Stock: 5; Opens: 9:30; Maker: Acme Inc.; 2023: 7"
    rf"(?P<name>(?:{UPPER}|\d)[^:;.!?]{{0,40}}): "
    r"(?P<value>(?:[^:;!?]|(?<=\d):(?=\d)){0,80}[^:;.!?]|(?:[^\s:;!?]+ ){0,2}[^\s:;!?]+\.)"
)


def fields_of(line: str) -> list[tuple[str, str]]:
    """Return the fields of a line such as `- Product: HX-200; Price: 400`; none if it is a sentence.

    In a line such as `- Mill: owner: Ada Renk`, the first field has no name; its value is the subject. A row may have
    cells that are no fields, after one that is.
    """
    row = line.removeprefix("- ")
    if labelled := _LABELLED.fullmatch(row):
        return [("", labelled[1]), (labelled[2], labelled[3])]
    parts = [(_FIELD if row == line else _IN_ROW).fullmatch(part) for part in row.split("; ")]
    fields = [(part["name"], part["value"]) for part in parts if part]
    whole = len(fields) == len(parts) or (row != line and len(parts) > 1 and parts[0])
    return fields if whole else []


def field_facts(topic: str, fields: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Read a single field as a fact about the topic; the value of the first of several is the subject of the others."""
    subject = topic if len(fields) == 1 else fields[0][1]
    if subject != topic and (len(subject.split()) > 8 or _NO_LABEL.match(subject)):
        return
    for name, value in fields:
        plain = len(fields) > 1 or (
            len(name.split()) <= 3 and not set("(){}\\$") & set(name) and not _NAMED.search(name[1:])
        )
        if plain and name.lower().split(" ")[0] not in _NO_FIELDS:
            yield subject, name.lower(), value
