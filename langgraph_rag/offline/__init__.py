"""The offline model: a weak, deterministic, general reasoner that needs no weights, key, server or download."""

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]
"""What a prompt is filled with: all that a skill is given."""
