"""What is wrong with a line of a file, in words."""

from pydantic import ValidationError


def first_problem(error: ValidationError, whole: str) -> str:
    """Say what is wrong first, and in which field, or in the `whole`."""
    wrong = error.errors()[0]
    return f"{'.'.join(map(str, wrong['loc'])) or whole}: {wrong['msg']}"
