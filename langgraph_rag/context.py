"""Run-time settings, which can be changed for each run: `graph.invoke(..., context=Context(...))`."""

import json
import logging
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, get_args, overload

from langgraph.runtime import get_runtime
from pydantic import ConfigDict, Field

from langgraph_rag.arguments import expect_count
from langgraph_rag.characters import is_text
from langgraph_rag.filters import read_filter

_log = logging.getLogger(__name__)
Search = Literal["dense", "bm25", "hybrid", "graph"]
DEFAULT_SEARCH: Search = "graph"
"""Of methods, tools, the retriever, the command line and `kb.search`."""
Effort = Literal["low", "medium", "high"]
Count = Annotated[int, Field(ge=1)]
MAX_QUERY_CHARS = 4_000
"""Characters of a query that are searched; tools refuse longer ones, and so do methods by default."""
_LONGEST_STYLE = 1_000
Style = Annotated[str, Field(max_length=_LONGEST_STYLE)]


@dataclass(frozen=True, kw_only=True)
class Context:
    """Settings of one run; None stands for the default of the method, which its page in the documentation shows."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,  # LangGraph Studio shows them
    )

    top_k: Count = 10
    """Passages retrieved per query (CIRAG: K, KiRAG: K0), or kept per entity (DualRAG)."""
    recall_k: Count = 50
    """Passages recalled per query; reranking keeps `top_k` of them for each entity (DualRAG)."""
    max_candidates: Count | None = None
    """Triples shown to the model per step (CIRAG: N = 30, KiRAG: N = 20), or sentences (PAR RAG: 6)."""
    max_steps: Count | None = None
    """Most rounds (CIRAG: 4, KiRAG: 5, DualRAG: 5, MGranRAG: 3, IRCoT: 8, adaptive: 5), or steps (PAR RAG: 6)."""
    read_k: Count | None = None
    """Passages a reader reads (KiRAG: 5, MGranRAG: 5, DualRAG: 10, IRCoT: 15), per step (PAR RAG: 4, adaptive: 7)."""
    similar_k: Count = 200
    """Passages nearest to the augmented query; each weighs as much as it is similar to it (MGranRAG, Eq. 2)."""
    max_reading_tokens: Count = 6_000
    """Most tokens of passages read for evidence in one call; more take several calls (MGranRAG; estimated tokens)."""
    effort: Effort = "medium"
    """How far a question may go (adaptive): read once, look up what is missing and read again, or any method too."""
    search: Search = DEFAULT_SEARCH
    """How passages are found: by meaning, by words, by both fused, or by both and a walk over the triple graph."""
    filter: dict[str, Any] | None = field(default=None, hash=False)
    """Which passages are read, by metadata, title or source, such as {"year": {"$gte": 2020}}; by default all."""
    answer_style: Style = ""
    """How to write the answer, such as "in one sentence, in German"; by default it is as short as possible."""
    max_history_tokens: Count = 4_000
    """Most tokens of earlier rounds that CIRAG shows its model (estimated); beyond, older candidates are left out."""
    max_question_chars: Count = MAX_QUERY_CHARS
    """Most characters of a question; longer ones are refused."""
    max_concurrency: Count = 64
    """Most model calls in flight in this process; at that number this run waits."""
    max_model_calls: Count | None = None
    """Most model calls per question; one of them is kept for the answer. By default there is no limit."""
    max_tokens: Count | None = None
    """Most tokens per question, read and written; a quarter is kept for the answer. A reply in flight may exceed it."""
    deadline_s: Annotated[float, Field(gt=0)] | None = None
    """Most seconds per question; at least a quarter is kept for the answer. Calls that take longer are cancelled."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type == Count or each.type == Count | None and value is not None:
                expect_count(value, each.name)
        style = self.answer_style
        if not isinstance(style, str) or len(style) > _LONGEST_STYLE or not is_text(style):
            raise ValueError(f"answer_style must be text of at most {_LONGEST_STYLE:,} characters, got {style!r:.80}")
        for name, known in (("search", Search), ("effort", Effort)):
            if getattr(self, name) not in get_args(known):
                raise ValueError(f"{name} must be one of {', '.join(get_args(known))}, got {getattr(self, name)!r}")
        if self.filter is not None:
            object.__setattr__(self, "filter", json.loads(read_filter(self.filter).as_json))  # the caller's may change
        deadline = self.deadline_s
        if deadline is True or deadline is not None and not (isinstance(deadline, int | float) and deadline > 0):
            raise ValueError(f"deadline_s must be a number of more than 0 seconds, got {deadline!r}")


@dataclass(frozen=True, kw_only=True)
class Settings(Context):
    """The defaults of a method for settings that are None; each graph module has one.

    Raises:
        ValueError: for a setting that has the same default in all methods.
    """

    max_steps: Count = field()

    def __post_init__(self) -> None:
        super().__post_init__()
        common = [each.name for each in fields(Context) if each.default is not None]
        if given := [name for name in common if getattr(self, name) != getattr(_UNCHANGED, name)]:
            raise ValueError(
                f"{', '.join(given)}: a method has no default of its own for this, as callers see one for all; of its "
                f"own are those of {', '.join(sorted(_NAMES.difference(common)))}"
            )


class _Completed(Settings):
    """The settings of a run, completed by the defaults of a method."""

    def __post_init__(self) -> None:
        Context.__post_init__(self)


def as_context(given: object, schema: object = None) -> Context | None:
    """Convert a dict of settings to a `Context`, or to the subclass in a graph's `schema`; return others unchanged.

    Raises:
        TypeError: when the settings are neither a `Context` nor a dict, or a setting does not exist.
        ValueError: when a setting has an invalid value.
    """
    if isinstance(given, dict):
        kind = schema if isinstance(schema, type) and issubclass(schema, Context) else Context
        names = {each.name for each in fields(kind)}
        if unknown := sorted(map(str, given.keys() - names)):
            raise TypeError(f"there is no setting {', '.join(unknown)}, but {', '.join(sorted(names))}")
        return kind(**given)
    if given is None or isinstance(given, Context):
        return given
    raise TypeError(
        f"expected settings, got {repr(given)[:80]}: give a Context, or a dict such as {{'max_tokens': 20_000}}"
    )


_UNCHANGED = Context()
_NAMES = frozenset(each.name for each in fields(Context))


@overload
def context() -> Context: ...
@overload
def context(defaults: Settings) -> Settings: ...
def context(defaults: Settings | None = None) -> Context:
    """Return the settings of the current run, completed by the defaults of a method."""
    try:
        runtime = get_runtime(Context)
    except RuntimeError:  # outside a graph, e.g. while indexing
        runtime = None
    given = runtime and runtime.context  # None while a state is edited, or in a tool outside a graph
    if isinstance(given, dict):  # an outer graph passed it on as it was given
        given = _ours(given)
    if not isinstance(given, Context):  # none, or that of an outer graph
        given = _UNCHANGED
    elif type(given) is not Context:  # a subclass may have fields that cannot be hashed
        given = Context(**{each.name: getattr(given, each.name) for each in fields(Context)})
    return given if defaults is None else _completed(given, defaults)


def _ours(given: dict[str, Any]) -> Context:
    """Return the settings of this package in the context of an outer graph, which may use the same names otherwise."""
    ours = {name: value for name, value in given.items() if name in _NAMES}
    try:
        return Context(**ours)
    except ValueError:
        if len(ours) == len(given):
            raise
    return Context(**{name: value for name, value in ours.items() if _can_be(name, value)})


def _can_be(name: str, value: object) -> bool:
    try:
        Context(**{name: value})  # type: ignore[arg-type]
    except ValueError as error:
        _tell_not_ours(str(error))
        return False
    return True


@lru_cache  # called by every node
def _tell_not_ours(problem: str) -> None:
    _log.warning("a setting in this run's context does not count for the method: %s", problem)


@lru_cache  # called by every node
def _completed(given: Context, defaults: Settings) -> Settings:
    values = {f.name: (getattr(given, f.name), getattr(defaults, f.name)) for f in fields(Settings)}
    return _Completed(**{name: value if value is not None else default for name, (value, default) in values.items()})
