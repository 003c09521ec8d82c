"""Run-time settings: the numbers and names a caller may change per run (`graph.invoke(..., context={...})`)."""

from dataclasses import dataclass
from typing import Literal

from langgraph.runtime import get_runtime

Search = Literal["dense", "bm25", "hybrid"]


@dataclass(frozen=True, kw_only=True)
class Context:
    """Settings of one run; every field has the default of the method's paper."""

    top_k: int = 10
    """Passages retrieved per query (CIRAG: K)."""
    max_candidates: int = 30
    """Triples shown to the integrator per step (CIRAG: N)."""
    max_steps: int = 4
    """Retrieval rounds at most (CIRAG: L)."""
    search: Search = "hybrid"
    """How passages are found: by meaning, by words, or both fused."""
    max_history_tokens: int = 4_000
    """Length of the history shown to the integrator above which older candidates are left out (estimated tokens)."""
    max_question_chars: int = 4_000
    """Longer questions are refused."""
    max_concurrency: int = 64
    """Model calls under way at once, over all runs in this process that share this number."""

    def __post_init__(self) -> None:
        for name in ("top_k", "max_candidates", "max_steps", "max_question_chars", "max_concurrency"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


def context() -> Context:
    """Return the settings of the run this is called in, or the defaults where the caller gave none."""
    try:
        given = get_runtime(Context).context
    except RuntimeError:  # outside a graph, e.g. while indexing
        return Context()
    return given or Context()
