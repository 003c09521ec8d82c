"""Properties as a table of two columns."""

from typing import Any

import typer


def show_properties(properties: dict[str, Any], indent: int = 0) -> None:
    """Print properties by name, one a line."""
    width = max(map(len, properties))
    for name, value in properties.items():
        typer.echo(f"{' ' * indent}{name.replace('_', ' '):<{width}}  {value}")
