"""Which other form a file of questions has, where it is not JSON lines."""

import re

_ARRAY = re.compile(r"\s*\[\s*\{")
_SEPARATORS = re.compile(r"[,;\t]")


def other_form(text: str) -> str | None:
    """Return what a text is in place of JSON lines: "a JSON array", "a table (CSV)"; None where it seems to be neither.

    A table is told by its first line, in which one of several columns is named question.

    >>> other_form('[{"_id": "5a8b", "question": "Who?"}]'), other_form('id;"Question";answer'), other_form('{"id": 1}')
    ('a JSON array', 'a table (CSV)', None)
    """
    if _ARRAY.match(text):
        return "a JSON array"
    head = text.lstrip().partition("\n")[0]
    if head.startswith("{"):  # an object, whose texts may have commas
        return None
    columns = [name.strip(" \"'\r").lower() for name in _SEPARATORS.split(head)]
    return "a table (CSV)" if "question" in columns and len(columns) > 1 else None
