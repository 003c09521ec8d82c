"""Prints properties as a table with two columns."""

from typing import Any

import typer


def show_properties(properties: dict[str, Any], indent: int = 0) -> None:
    """Print the names and values of properties, one per line."""
    width = max(map(len, properties))
    for name, value in properties.items():
        typer.echo(f"{' ' * indent}{name.replace('_', ' '):<{width}}  {value}")
