"""Reads lines of fields, such as `- Product: HX-200; Price: 400`, as facts."""

import re
from collections.abc import Iterator

from langgraph_rag.tools.language.subjects import UPPER

_LABELLED = re.compile(rf"({UPPER}[^:;.!?]{{0,60}}): (\w[^:;.!?]{{0,40}}): ([^:;!?]{{1,80}}[^:;.!?])")
_FIELD = re.compile(rf"(?P<name>{UPPER}[^:;.!?]{{0,40}}): (?P<value>[^:;!?]{{1,80}}[^:;.!?])")


def fields_of(line: str) -> list[tuple[str, str]]:
    """Return the fields of a line such as `- Product: HX-200; Price: 400`; none if it is a sentence.

    In a line such as `- Mill: owner: Ada Renk`, the first field has no name; its value is the subject.
    """
    if labelled := _LABELLED.fullmatch(line.removeprefix("- ")):
        return [("", labelled[1]), (labelled[2], labelled[3])]
    parts = [_FIELD.fullmatch(part) for part in line.removeprefix("- ").split("; ")]
    fields = [(part["name"], part["value"]) for part in parts if part]
    return fields if len(fields) == len(parts) else []


def field_facts(topic: str, fields: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Read a single field as a fact about the topic; the value of the first of several is the subject of the others."""
    subject = topic if len(fields) == 1 else fields[0][1]
    for name, value in fields:
        yield subject, name.lower(), value
