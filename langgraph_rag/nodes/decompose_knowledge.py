"""KiRAG's knowledge decomposition (section 3.2): splits documents into triples or, in variants, other units."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import triple_key, triple_text
from langgraph_rag.prompts.answering import TitledText
from langgraph_rag.records import Candidate, Record, ScoredPassage, Source, Triple, ids_of
from langgraph_rag.tools.retrieve.retriever import Retriever

Decomposer = Callable[[Retriever, Sequence[str]], Awaitable[list[Candidate]]]
WithPassages = Callable[[Retriever, Sequence[str]], Awaitable[tuple[Sequence[Record], Sequence[Triple]]]]
WholeGraph = Callable[[Retriever, Sequence[str], int], Awaitable[list[Candidate]]]


async def into_triples(kb: Retriever, ids: Sequence[str]) -> list[Candidate]:
    """Decompose passages into triples, each with all passages and sentences that state it."""
    return [_fact(entry) for entry in await kb.atriples(ids)]


async def with_triples(kb: Retriever, ids: Sequence[str]) -> tuple[list[Record], list[Triple]]:
    """Return passages with their extracted triples."""
    return await kb.apassages_with_triples(ids)


async def into_sentences(kb: Retriever, ids: Sequence[str]) -> list[Candidate]:
    """Decompose passages into sentences (KiRAG-Sent), each with the title, to which its pronouns may refer."""
    return (await with_sentences(kb, ids))[1]


async def with_sentences(kb: Retriever, ids: Sequence[str]) -> tuple[list[Record], list[Candidate]]:
    """Return passages and their sentences."""
    records = await kb.apassages(ids)
    return records, [
        _piece(f"{record['title']}: {sentence}", f"{record['title']}: {sentence}", record["id"], [position])
        for record in records
        for position, sentence in enumerate(record["sentences"])
    ]


async def into_documents(kb: Retriever, ids: Sequence[str]) -> list[Candidate]:
    """Leave passages whole (KiRAG-Doc)."""
    return (await with_documents(kb, ids))[1]


async def with_documents(kb: Retriever, ids: Sequence[str]) -> tuple[list[Record], list[Candidate]]:
    """Return passages, and each one as a piece of knowledge."""
    records = await kb.apassages(ids)
    return records, [
        _piece(
            record["title"], f"{record['title']}\n{record['text']}", record["id"], [*range(len(record["sentences"]))]
        )
        for record in records
    ]


async def nearest_triples(kb: Retriever, queries: Sequence[str], most: int) -> list[Candidate]:
    """Return the triples of the whole knowledge base that are nearest to each of some queries."""
    found = await gather(kb.asearch_triples(query, most) for query in queries)
    return list({triple_key(entry["triple"]): _fact(entry) for entry in chain.from_iterable(found)}.values())


def all_knowledge(into: Decomposer) -> WholeGraph:
    """Return a function that decomposes all passages, independent of the queries."""

    async def decompose(kb: Retriever, queries: Sequence[str], most: int) -> list[Candidate]:
        return await into(kb, await kb.aids())

    return decompose


def _fact(entry: Triple) -> Candidate:
    text = f"<{'; '.join(entry['triple'])}>"
    return Candidate(**entry, name=triple_text(entry["triple"]), text=text, score=0.0)


def _piece(name: str, text: str, passage_id: str, sentences: list[int]) -> Candidate:
    source = Source(passage_id=passage_id, sentences=sentences)
    return Candidate(triple=[], sources=[source], name=name, text=text, score=0.0)


def as_triple(candidate: Candidate) -> list[str]:
    """Show a triple to the constructor."""
    return candidate["triple"]


def as_sentence(candidate: Candidate) -> str:
    """Show a sentence after its title."""
    return candidate["text"]


def as_document(candidate: Candidate) -> TitledText:
    """Show a document under its title, numbered where several have it."""
    return TitledText(title=candidate["name"], text=candidate["text"].partition("\n")[2])


class DecomposeKnowledgeInput(TypedDict):
    """The passages retrieved in this step."""

    retrieved: list[ScoredPassage]


@dataclass(frozen=True)
class DecomposeKnowledge:
    """Decompose the retrieved passages; triples were read when the documents were added, or are read now and kept."""

    kb: Retriever
    into: Decomposer

    async def __call__(self, state: DecomposeKnowledgeInput) -> dict[str, Any]:
        """Return the pieces of knowledge, in the order of their passages, not scored yet."""
        ids = ids_of(state["retrieved"])
        knowledge = await self.into(self.kb, ids)
        emit("decompose_knowledge", passages=len(ids), pieces=len(knowledge))
        return {"knowledge": knowledge}
