"""Describes what is wrong with a line of a file."""

from pydantic import ValidationError


def first_problem(error: ValidationError, whole: str) -> str:
    """Return the first problem and its field; without a field, the name of the `whole`."""
    wrong = error.errors()[0]
    return f"{'.'.join(map(str, wrong['loc'])) or whole}: {wrong['msg']}"
