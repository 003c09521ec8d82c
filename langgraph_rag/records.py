"""Plain, JSON-like data: what the knowledge base stores, what graph states hold, what callers receive."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeVar, cast

from typing_extensions import TypedDict

T = TypeVar("T")


class Passage(TypedDict):
    """A unit of retrieval: some 50 to 250 words with the title of what they are about.

    `metadata` is what else its document says of itself, such as page or URL, as JSON values.
    """

    id: str
    title: str
    text: str
    source: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]


class Record(Passage):
    """A passage as stored: with the hash of its content, its sentences in order, and its phrases."""

    hash: str
    sentences: list[str]
    phrases: list[str]


def passage_of(record: Record) -> Passage:
    """Return a record without what was read out of it."""
    return cast(Passage, {name: value for name, value in record.items() if name in Passage.__annotations__})


def titled_text(passage: Passage) -> str:
    """Return the text of a passage below its title, if it has one: what is embedded and reranked."""
    return f"{passage['title']}\n{passage['text']}" if passage["title"] else passage["text"]


def page_of(passage: Passage) -> str:
    """Return the page of its source that a passage stands on, as its metadata tells it; nothing where that does not."""
    metadata = passage.get("metadata", {})
    page = metadata.get("page_label", metadata.get("page"))
    if isinstance(page, int) and "total_pages" in metadata:  # as LangChain's loaders say, which count from 0
        page += 1
    return str(page) if isinstance(page, int | str) else ""


class _Identified(TypedDict):
    id: str


def ids_of(passages: Iterable[_Identified]) -> list[str]:
    """Return the ids of passages, in their order."""
    return [passage["id"] for passage in passages]


class ScoredPassage(TypedDict):
    """A passage id with its score; higher is better, and only comparable within one list."""

    id: str
    score: float


def reciprocal_ranks(ids: Iterable[str]) -> list[ScoredPassage]:
    """Score passages by their rank alone: 1, 1/2, 1/3, ..."""
    return [ScoredPassage(id=id_, score=1 / rank) for rank, id_ in enumerate(ids, start=1)]


class FoundPassage(Passage):
    """A passage returned by a search."""

    score: float


Statement = tuple[str, str, str, str]
"""The id of a passage, and the head, relation and tail of a triple it states."""


class Source(TypedDict):
    """Where a triple comes from: a passage and the positions of the sentences in it that say so."""

    passage_id: str
    sentences: list[int]


class Triple(TypedDict):
    """A fact with all its sources. `triple` is `[head, relation, tail]` in its surface form."""

    triple: list[str]
    sources: list[Source]


class Candidate(Triple):
    """A piece of knowledge that may continue a chain of reasoning, with the score of how well it would.

    `name` is what a model calls it by, `text` what is embedded; `triple` is empty for sentences and documents.
    """

    name: str
    text: str
    score: float


class Evidence(TypedDict):
    """One piece of evidence: the fact, the sentence and passage that state it, the step (1, 2, ...) that found it.

    `triple` is empty where none was read out of the sentence. A result names the passage's `source` and its `page`, if
    known, too.
    """

    triple: list[str]
    sentence: str
    passage_id: str
    title: str
    step: int
    source: NotRequired[str]
    page: NotRequired[str]


def evidence_of(passage: Passage, sentence: str, step: int, triple: Sequence[str] = ()) -> Evidence:
    """Return a sentence of a passage as evidence, with the triple read out of it if there is one."""
    return Evidence(triple=[*triple], sentence=sentence, passage_id=passage["id"], title=passage["title"], step=step)


def evidence_at(places: Sequence[int], passage: Record | None, step: int, triple: Sequence[str]) -> list[Evidence]:
    """Return the sentences at some places of a passage as evidence; none where it was deleted or replaced meanwhile."""
    if passage is None:
        return []
    told = [passage["sentences"][place] for place in places if place < len(passage["sentences"])]
    return [evidence_of(passage, sentence, step, triple) for sentence in told]


def origin_of(evidence: Evidence) -> str:
    """Return what the passage behind a piece of evidence is called: its title, or its id where it has none."""
    return evidence["title"] or evidence["passage_id"]


def place_of(evidence: Evidence) -> tuple[str, str]:
    """Return where a piece of evidence stands: its passage and its sentence."""
    return evidence["passage_id"], evidence["sentence"]


def new_evidence(found: Iterable[Evidence], known: Iterable[Evidence]) -> list[Evidence]:
    """Return the evidence that stands where none of the known does, of each place the first."""
    places, new = set(map(place_of, known)), []
    for entry in found:
        if (place := place_of(entry)) not in places:
            places.add(place)
            new.append(entry)
    return new


class TraceStep(TypedDict):
    """What one retrieval round asked, thought, kept, and wanted to know next (empty: nothing)."""

    step: int
    query: str
    thought: str
    core_triples: list[list[str]]
    next_question: str


def trace_step(
    step: int, query: str, thought: str, *, core_triples: Sequence[list[str]] = (), next_question: str = ""
) -> TraceStep:
    """Return what a round did: by default it kept no triples and asked nothing next."""
    return TraceStep(step=step, query=query, thought=thought, core_triples=[*core_triples], next_question=next_question)


Limit = Literal["max_model_calls", "max_tokens", "deadline_s"]
"""What a question may cost, by the names the run-time context has for it."""


class Usage(TypedDict):
    """What a question cost, and the limit that ended its search for an answer, if one did.

    `repairs` are replies asked for again, `dropped` items a model made up or gave beyond what is taken, `left_out`
    items that had to be left out of prompts that were too long for it. Tokens are the model's own count;
    `estimated_tokens` are those of calls for which it gave none. `seconds` is the time in which nodes ran, counted
    once where they ran side by side; `ended_at` is the Unix time at which the last one ended.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    estimated_tokens: int
    seconds: float
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
        ended_at=0.0,
        repairs=0,
        dropped=0,
        left_out=0,
        stopped_by="",
    )


def tokens_spent(usage: Usage) -> int:
    """Return all tokens of a usage, read and written, by the model's own count and estimated where it gave none."""
    return usage["input_tokens"] + usage["output_tokens"] + usage["estimated_tokens"]


def add_usage(left: Usage, right: Usage) -> Usage:
    """Sum two usages (a LangGraph reducer); one that has not begun, `no_usage()` or empty, begins a new sum."""
    if not right or not right["ended_at"]:
        return right or no_usage()
    left = left or no_usage()
    began_at = right["ended_at"] - right["seconds"]
    overlap = max(0.0, min(right["seconds"], left["ended_at"] - began_at))
    return Usage(
        calls=left["calls"] + right["calls"],
        input_tokens=left["input_tokens"] + right["input_tokens"],
        output_tokens=left["output_tokens"] + right["output_tokens"],
        estimated_tokens=left["estimated_tokens"] + right["estimated_tokens"],
        seconds=round(left["seconds"] + right["seconds"] - overlap, 4),
        ended_at=max(left["ended_at"], right["ended_at"]),
        repairs=left["repairs"] + right["repairs"],
        dropped=left["dropped"] + right["dropped"],
        left_out=left["left_out"] + right["left_out"],
        stopped_by=left["stopped_by"] or right["stopped_by"],
    )


def joined(left: list[T], right: list[T]) -> list[T]:
    """Join what parallel nodes return (a LangGraph reducer); an empty list begins a new one."""
    return [*left, *right] if right else []


LISTED = 10
"""Passages that a result lists at least, where the knowledge base has as many."""


class Result(TypedDict):
    """What every method returns.

    `evidence` lists the facts behind the answer, `trace` what each step did, and `usage` what it cost.

    `passages` are at least 10 if the knowledge base has them, best first: those that the method gathered, then those of
    its first retrieval, then, if these are fewer, those most like the question. The score of a passage is its place
    alone: 1, 1/2, 1/3, and so on.
    """

    answer: str
    evidence: list[Evidence]
    passages: list[ScoredPassage]
    trace: list[TraceStep]
    usage: Annotated[Usage, add_usage]
