"""The offline model: a weak, deterministic, general reasoner without weights, key, server or download."""

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]
"""The values of a prompt; a skill gets nothing else."""
