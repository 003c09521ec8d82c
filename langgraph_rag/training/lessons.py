"""Lessons for an aligner: for each step of a chain, which triple comes next (KiRAG, section 3.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_rag.graphs.kirag import DEFAULTS
from langgraph_rag.nodes.decompose_knowledge import into_triples
from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Candidate, ids_of
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.ranking import in_words, whole_chain


@dataclass(frozen=True)
class Lesson:
    """A question with the chain so far, the next triple, and retrieved triples that are not in the chain."""

    query: str
    right: str
    wrong: list[str]


async def lessons_of(kb: KnowledgeBase, question: str, chain: Sequence[Candidate]) -> list[Lesson]:
    """Split a chain into lessons; the wrong triples are those of the passages that KiRAG retrieves at that step.

    Steps without a wrong triple teach nothing and are left out.
    """
    lessons = [await _lesson(kb, question, chain, step) for step in range(len(chain))]
    return [lesson for lesson in lessons if lesson.wrong]


async def _lesson(kb: KnowledgeBase, question: str, chain: Sequence[Candidate], step: int) -> Lesson:
    so_far = chain[:step]
    found = await kb.arank(in_words(question, so_far), DEFAULTS.top_k, by=DEFAULTS.search)
    candidates = await into_triples(kb, ids_of(found))
    used = {normalise(link["text"]) for link in chain}
    wrong = [candidate["text"] for candidate in candidates if normalise(candidate["text"]) not in used]
    (query,) = whole_chain(question, so_far)
    return Lesson(query, chain[step]["text"], wrong)
