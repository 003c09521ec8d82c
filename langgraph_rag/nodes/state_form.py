"""Explains the failure of a step by the form of its state, which people can edit."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, get_type_hints

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from langgraph_rag.errors import StateError


@contextmanager
def form_blamed(given: Mapping[str, Any], schema: type | None, step: str) -> Iterator[None]:
    """Raise a `StateError` instead of the errors that fields of another form cause in the block.

    Without a schema, the errors stay as they are.
    """
    try:
        yield
    except (TypeError, AttributeError, LookupError):
        if schema:
            _check_form(given, schema, step)
        raise


def _check_form(given: Mapping[str, Any], schema: type, step: str) -> None:
    """Check the fields of a state that have a schema.

    Raises:
        StateError: when one has another form.
    """
    for name, kind in get_type_hints(schema).items():
        if name not in given:
            continue
        try:
            with suppress(PydanticUserError):  # a class that Pydantic cannot check
                TypeAdapter(kind).validate_python(given[name])
        except ValidationError as error:
            wrong = error.errors()[0]
            raise StateError(
                f"{step}: the field {name!r} of the state has another form than expected, with "
                f"{wrong['input']!r:.200} in it: {wrong['msg']}"
            ) from error
