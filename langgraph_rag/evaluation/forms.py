"""Recognises question files that are not JSON lines."""

import re

_ARRAY = re.compile(r"\s*\[\s*\{")
_SEPARATORS = re.compile(r"[,;\t]")


def other_form(text: str) -> str | None:
    """Return the format of a text that is not JSON lines: "a JSON array", "a table (CSV)", or None if neither.

    In a table, the first line has several columns, and one of them is named question.

    >>> other_form('[{"_id": "5a8b", "question": "Who?"}]'), other_form('id;"Question";answer'), other_form('{"id": 1}')
    ('a JSON array', 'a table (CSV)', None)
    """
    if _ARRAY.match(text):
        return "a JSON array"
    head = text.lstrip().partition("\n")[0]
    if head.startswith("{"):  # an object; its strings may contain commas
        return None
    columns = [name.strip(" \"'\r").lower() for name in _SEPARATORS.split(head)]
    return "a table (CSV)" if "question" in columns and len(columns) > 1 else None
