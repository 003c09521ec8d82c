"""Plain, JSON-like data: in the knowledge base, in the states of graphs, and in results."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypeVar, cast

from typing_extensions import TypedDict

T = TypeVar("T")


class Passage(TypedDict):
    """A unit of retrieval: about 50 to 250 words with the title of their subject.

    `metadata` has other fields of its document, such as page or URL, as JSON values. `headings` are those above it in
    its document, the outermost first. Passages with the same `document` are of one document; `position` counts them
    from 0.
    """

    id: str
    title: str
    text: str
    source: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    headings: NotRequired[list[str]]
    document: NotRequired[str]
    position: NotRequired[int]


class Fact(TypedDict):
    """A triple of one passage with the positions of the sentences that state it; none where they are not known yet."""

    triple: list[str]
    sentences: list[int]


class Record(Passage):
    """A stored passage, with the hash of its content, its sentences in order, and its phrases.

    While it is indexed, it also has the facts that its text pipeline read at once, and by what name.
    """

    hash: str
    sentences: list[str]
    phrases: list[str]
    facts: NotRequired[list[Fact]]
    read_by: NotRequired[str]


def passage_of(record: Record) -> Passage:
    """Return a record as a passage, without hash, sentences and phrases."""
    return cast(Passage, {name: value for name, value in record.items() if name in Passage.__annotations__})


def titled_text(passage: Passage) -> str:
    """Return the text of a passage below its title, if it has one: the text that is embedded and reranked."""
    return f"{passage['title']}\n{passage['text']}" if passage["title"] else passage["text"]


def page_of(passage: Passage) -> str:
    """Return the page of a passage in its source, according to its metadata; empty if unknown."""
    metadata = passage.get("metadata", {})
    page = metadata.get("page_label", metadata.get("page"))
    if isinstance(page, int) and "total_pages" in metadata:  # from LangChain's loaders, which count from 0
        page += 1
    return str(page) if isinstance(page, int | str) else ""


class _Identified(TypedDict):
    id: str


def ids_of(passages: Iterable[_Identified]) -> list[str]:
    """Return the ids of passages, in their order."""
    return [passage["id"] for passage in passages]


class ScoredPassage(TypedDict):
    """A passage id with its score. Higher is better; scores are only comparable within one list."""

    id: str
    score: float


def reciprocal_ranks(ids: Iterable[str]) -> list[ScoredPassage]:
    """Score passages by their rank alone: 1, 1/2, 1/3, ..."""
    return [ScoredPassage(id=id_, score=1 / rank) for rank, id_ in enumerate(ids, start=1)]


class FoundPassage(Passage):
    """A passage returned by a search."""

    score: float


Statement = tuple[str, str, str, str]
"""The id of a passage, and the head, relation and tail of a triple that it states."""


class Naming(NamedTuple):
    """Another name that a passage gives to an entity.

    `kind` says what sort of name it is (`facts.names`); with one, `entity` may be empty.
    """

    name: str
    entity: str
    kind: str = ""


class Source(TypedDict):
    """The source of a triple: a passage, and the positions of the sentences in it that state the triple."""

    passage_id: str
    sentences: list[int]


class Triple(TypedDict):
    """A fact with all its sources. `triple` is `[head, relation, tail]` as written in the text."""

    triple: list[str]
    sources: list[Source]


class Candidate(Triple):
    """A piece of knowledge that may continue a chain of reasoning, with its score.

    Models refer to it by `name`, and `text` is embedded; `triple` is empty for sentences and documents.
    """

    name: str
    text: str
    score: float


class Evidence(TypedDict):
    """One piece of evidence: a fact, the sentence and passage that state it, and the step (1, 2, ...) that found it.

    `triple` is empty if none was extracted from the sentence. In a result, `source` and `page` of the passage are
    added if they are known.
    """

    triple: list[str]
    sentence: str
    passage_id: str
    title: str
    step: int
    source: NotRequired[str]
    page: NotRequired[str]


def evidence_of(passage: Passage, sentence: str, step: int, triple: Sequence[str] = ()) -> Evidence:
    """Return a sentence of a passage as evidence, with its triple if it has one."""
    return Evidence(triple=[*triple], sentence=sentence, passage_id=passage["id"], title=passage["title"], step=step)


def evidence_at(places: Sequence[int], passage: Record | None, step: int, triple: Sequence[str]) -> list[Evidence]:
    """Return sentences of a passage as evidence; those that no longer exist, after an update, are left out."""
    if passage is None:
        return []
    told = [passage["sentences"][place] for place in places if place < len(passage["sentences"])]
    return [evidence_of(passage, sentence, step, triple) for sentence in told]


def origin_of(evidence: Evidence) -> str:
    """Return the title of the passage of a piece of evidence, or its id if it has no title."""
    return evidence["title"] or evidence["passage_id"]


def place_of(evidence: Evidence) -> tuple[str, str]:
    """Return the passage and the sentence of a piece of evidence."""
    return evidence["passage_id"], evidence["sentence"]


def new_evidence(found: Iterable[Evidence], known: Iterable[Evidence]) -> list[Evidence]:
    """Return the evidence whose sentences are not in the known evidence, each sentence once."""
    places, new = set(map(place_of, known)), []
    for entry in found:
        if (place := place_of(entry)) not in places:
            places.add(place)
            new.append(entry)
    return new


class TraceStep(TypedDict):
    """The query of one retrieval round, its thought, its core triples, and its next question (empty if none).

    `decision` says in words and numbers how the question went on from there, and why, where a gate decided it.
    """

    step: int
    query: str
    thought: str
    core_triples: list[list[str]]
    next_question: str
    decision: NotRequired[str]


def trace_step(
    step: int, query: str, thought: str, *, core_triples: Sequence[list[str]] = (), next_question: str = ""
) -> TraceStep:
    """Return a step of the trace; by default without core triples and next question."""
    return TraceStep(step=step, query=query, thought=thought, core_triples=[*core_triples], next_question=next_question)


Limit = Literal["max_model_calls", "max_tokens", "deadline_s"]
"""The limits of a question, by their names in the run-time context."""


class Usage(TypedDict):
    """The cost of a question, and the limit that ended its search for an answer, if one did.

    `repairs` counts the replies that were asked for again. `dropped` counts the items of replies that the model
    invented or that were too many. `left_out` counts the items that were left out of prompts that were too long. Tokens
    are counted by the model; `estimated_tokens` are those of calls without such a count. `seconds` is the time in which
    nodes ran; parallel nodes are counted once. `longest_call` is the time of the slowest model call, in seconds, 0 if
    none was replied to. `ended_at` is the Unix time at which the last node ended.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    estimated_tokens: int
    seconds: float
    longest_call: float
    ended_at: float
    repairs: int
    dropped: int
    left_out: int
    stopped_by: Limit | Literal[""]


def no_usage() -> Usage:
    """Return a usage of zeros."""
    return Usage(
        calls=0,
        input_tokens=0,
        output_tokens=0,
        estimated_tokens=0,
        seconds=0.0,
        longest_call=0.0,
        ended_at=0.0,
        repairs=0,
        dropped=0,
        left_out=0,
        stopped_by="",
    )


def tokens_spent(usage: Usage) -> int:
    """Return the number of all tokens: input, output and estimated."""
    return usage["input_tokens"] + usage["output_tokens"] + usage["estimated_tokens"]


def add_usage(left: Usage, right: Usage) -> Usage:
    """Add two usages (a LangGraph reducer), in which fields may be missing.

    One on the right that has not ended, such as `no_usage()` or one that a person writes, replaces the sum.
    """
    left, right = Usage(**{**no_usage(), **(left or {})}), Usage(**{**no_usage(), **(right or {})})
    if not right["ended_at"]:
        return right
    began_at = right["ended_at"] - right["seconds"]
    overlap = max(0.0, min(right["seconds"], left["ended_at"] - began_at))
    return Usage(
        calls=left["calls"] + right["calls"],
        input_tokens=left["input_tokens"] + right["input_tokens"],
        output_tokens=left["output_tokens"] + right["output_tokens"],
        estimated_tokens=left["estimated_tokens"] + right["estimated_tokens"],
        seconds=round(left["seconds"] + right["seconds"] - overlap, 4),
        longest_call=max(left["longest_call"], right["longest_call"]),
        ended_at=max(left["ended_at"], right["ended_at"]),
        repairs=left["repairs"] + right["repairs"],
        dropped=left["dropped"] + right["dropped"],
        left_out=left["left_out"] + right["left_out"],
        stopped_by=left["stopped_by"] or right["stopped_by"],
    )


def joined(left: list[T], right: list[T]) -> list[T]:
    """Join the lists of parallel nodes (a LangGraph reducer); an empty list resets the field."""
    return [*left, *right] if right else []


Supported = Literal["yes", "partly", "no"]
"""Whether all of an answer, a part of it, or nothing stands in what was shown to the model."""

LISTED = 10
"""Minimum number of passages in a result, if the knowledge base has as many."""


class Result(TypedDict):
    """The result of every method.

    `evidence` lists the facts behind the answer, `trace` the steps, and `usage` the cost. `supported` says whether the
    answer stands in what was shown: its names, dates and numbers, in sentences that bear on the question.

    `passages` has at least 10 passages if the knowledge base has as many, best first: those that the method gathered,
    then those of its first retrieval, then, if these are fewer than 10, those most similar to the question. The scores
    are 1, 1/2, 1/3, and so on.
    """

    answer: str
    supported: Supported
    evidence: list[Evidence]
    passages: list[ScoredPassage]
    trace: list[TraceStep]
    usage: Annotated[Usage, add_usage]
