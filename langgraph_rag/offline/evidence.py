"""Split a question into simpler ones, and find the sentences that help with each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from langgraph_rag.matching import normalise
from langgraph_rag.offline.compare import look_up
from langgraph_rag.offline.paths import Fact
from langgraph_rag.offline.question import analyse
from langgraph_rag.offline.reason import ask_about, conclude, integrate
from langgraph_rag.records import Record
from langgraph_rag.tools.extraction import supporting_sentences
from langgraph_rag.tools.rule_triples import extract_triples, topic_of
from langgraph_rag.tools.spans import spot

_SUBQUERIES = 5


@dataclass
class Found:
    """A sentence that helps: the questions it answers, those it helps with, the phrases that matter in it."""

    full: set[int] = field(default_factory=set)
    partial: set[int] = field(default_factory=set)
    phrases: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Sentence:
    """A sentence with its title, its number and the facts it states."""

    number: int
    title: str
    text: str
    facts: tuple[Fact, ...]


def split(text: str) -> list[str]:
    """Return a question about each name in a question, or about each side of a comparison and who stands behind it."""
    question = analyse(text)
    if not question.compares:
        return [ask_about(question, name, frozenset()) for name in question.names][:_SUBQUERIES]
    missing = [look_up(question, name, []).missing for name in question.pair or ()]
    return [subquery for subquery in dict.fromkeys(missing) if normalise(subquery) != normalise(text)]


def read_sentences(title: str, sentences: Sequence[str], first: int = 0) -> list[Sentence]:
    """Read facts out of sentences; each fact belongs to those that state it."""
    triples = extract_triples(title, list(sentences))
    passage = Record(id="", title=title, text="", hash="", sentences=list(sentences), phrases=[])
    stated = supporting_sentences(triples, passage)
    facts: list[list[Fact]] = [[] for _ in sentences]
    for triple, positions in zip(triples, stated, strict=True):
        for position in positions:
            facts[position].append(triple)
    return [Sentence(first + place, title, text, tuple(facts[place])) for place, text in enumerate(sentences)]


def find_evidence(queries: Sequence[str], known: Sequence[Sentence], read: Sequence[Sentence]) -> dict[int, Found]:
    """Return the sentences whose facts lie on paths from a question towards its answer, by number.

    Args:
        queries: the main question first.
        known: the evidence so far.
        read: the sentences to choose from.
    """
    told = {sentence.text for sentence in known}
    read = [sentence for sentence in read if sentence.text not in told]
    found: dict[int, Found] = {}
    for number, query in enumerate(queries):
        for sentence, facts, answers in _helping(query, known, read):
            entry = found.setdefault(sentence.number, Found())
            (entry.full if answers else entry.partial).add(number)
            entry.phrases.update(dict.fromkeys(_phrases(sentence, facts)))
    return found


def _helping(
    query: str, known: Sequence[Sentence], read: Sequence[Sentence]
) -> Iterator[tuple[Sentence, list[Fact], bool]]:
    before = [fact for sentence in known for fact in sentence.facts]
    useful = integrate(query, [fact for sentence in read for fact in sentence.facts], before, [query]).facts
    answer = normalise(conclude(query, [*before, *useful]).answer)
    for sentence in read:
        if facts := [fact for fact in sentence.facts if fact in useful]:
            said = normalise(f"{sentence.title} {sentence.text}")
            yield sentence, facts, bool(answer) and f" {answer} " in f" {said} "


def _phrases(sentence: Sentence, facts: Sequence[Fact]) -> Iterator[str]:
    """Yield the names and dates in some facts, and the title, which stands for the pronouns of its sentences."""
    yield topic_of(sentence.title)
    for fact in facts:
        for end in (fact[0], fact[2]):
            yield from (span.text for span in spot(end) if span.kind != "number")


def as_reply(found: Mapping[int, Found]) -> list[dict[str, object]]:
    """Write what was found as the model is asked to: most questions first."""
    order = sorted(found.items(), key=lambda item: (-2 * len(item[1].full) - len(item[1].partial), item[0]))
    return [
        {
            "sentence": number,
            "full": sorted(entry.full),
            "partial": sorted(entry.partial - entry.full),
            "phrases": list(entry.phrases),
        }
        for number, entry in order
    ]
