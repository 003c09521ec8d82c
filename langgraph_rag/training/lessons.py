"""Reasoning chains for questions with known answers (KiRAG, appendix B.3), and what an aligner learns from them.

For each step of a chain, a lesson says which triple comes next (section 3.4).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_rag.conclusions import concluded
from langgraph_rag.evaluation.metrics import contains, exact_match, is_closed
from langgraph_rag.graphs.kirag import DEFAULTS
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.construct_chain import meant
from langgraph_rag.nodes.decompose_knowledge import as_triple, into_triples
from langgraph_rag.normal_forms import normalise
from langgraph_rag.prompts.kirag import CONSTRUCT_CHAIN
from langgraph_rag.records import Candidate, ids_of
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.ranking import in_words, whole_chain


async def reasoning_chain(
    llm: ChatModel, kb: KnowledgeBase, question: str, answers: Sequence[str], supporting_ids: Sequence[str]
) -> list[Candidate]:
    """Let a model build a chain from a question to its answer, out of the triples of its supporting passages.

    Returns:
        The chain. It ends with the triple that names the answer, unless the question names the answer itself. It is
        empty if it reaches none of the gold answers or concludes with another one, or if it has more steps than KiRAG
        would take.
    """
    knowledge, chain, conclusion = await into_triples(kb, supporting_ids), list[Candidate](), ""
    unused = knowledge
    while unused and not conclusion and len(chain) <= DEFAULTS.max_steps:
        reply = await ask(
            llm,
            CONSTRUCT_CHAIN,
            question=question,
            candidates=[as_triple(candidate) for candidate in unused],
            chain=[as_triple(candidate) for candidate in chain],
            refused=[],
        )
        taken = [candidate for piece in reply.chain for candidate in meant(piece, unused)]
        if not taken:
            break
        chain += [candidate for place, candidate in enumerate(taken) if candidate not in taken[:place]]
        unused = [candidate for candidate in knowledge if candidate not in chain]
        conclusion = concluded(reply.conclusion)
    complete = _complete(chain, conclusion, question, answers)
    return complete if len(complete) <= DEFAULTS.max_steps else []


def _complete(chain: list[Candidate], conclusion: str, question: str, answers: Sequence[str]) -> list[Candidate]:
    """Return a chain up to its answer, or nothing if it concludes with another one.

    The answer of a comparison is in the question, and "no" in facts of all kinds: these do not mark the end.
    """
    if conclusion and not _agree(conclusion, answers):
        return []
    told_by_facts = not any(contains(question, [answer]) or is_closed(answer) for answer in answers)
    naming = (place for place, link in enumerate(chain, start=1) if contains(link["name"], answers))
    if told_by_facts and (end := next(naming, 0)):
        return chain[:end]
    return chain if exact_match(conclusion, answers) else []


def _agree(conclusion: str, answers: Sequence[str]) -> bool:
    """Return whether a conclusion is an answer, or one of the two is a part of the other."""
    return bool(contains(conclusion, answers)) or any(contains(answer, [conclusion]) for answer in answers)


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
