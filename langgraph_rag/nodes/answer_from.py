"""CIRAG's adaptive cascaded generation (section 3.4): answers from triples, or sentences, or passages."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from langgraph_rag.context import context
from langgraph_rag.llm import ask
from langgraph_rag.metering import stopped
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import normalise, stands_in, triple_key
from langgraph_rag.prompts.answering import Answer, TitledText, passage_texts
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Evidence, ScoredPassage, ids_of, place_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.retrieve.ranking import round_robin
from langgraph_rag.tools.retrieve.retriever import Retriever

_MOST = 10  # passages
_VERDICTS = ("yes", "no", "both", "neither", "equal", "same")

Granularity = Literal["triples", "sentences", "passages"]


class GenerateInput(TypedDict):
    """The question, the answer so far, the evidence, and the first retrieval, which is used without evidence."""

    question: str
    answer: str
    evidence: list[Evidence]
    first_retrieval: list[ScoredPassage]


Suffices = Callable[[str, dict[str, Any]], bool]
"""Returns whether an answer from some texts ends the cascade."""


def is_answer(answer: str, texts: dict[str, Any]) -> bool:
    """Accept all but refusals (Eq. 6)."""
    return not is_refusal(answer)


def stands_in_facts(answer: str, texts: dict[str, Any]) -> bool:
    """Accept what the triples say, and verdicts: other answers from triples are often inferred from a garbled one."""
    told = ". ".join(" ".join(triple) for triple in texts["triples"])
    return is_answer(answer, texts) and (normalise(answer) in _VERDICTS or stands_in(answer, told))


Gather = Callable[[Retriever, GenerateInput], Awaitable[dict[str, Any]]]


async def gather_triples(kb: Retriever, state: GenerateInput) -> dict[str, Any]:
    """Gather the distinct core triples (the paper's set C)."""
    triples = {
        triple_key(evidence["triple"]): evidence["triple"] for evidence in state["evidence"] if evidence["triple"]
    }
    return {"triples": list(triples.values())}


async def gather_sentences(kb: Retriever, state: GenerateInput) -> dict[str, Any]:
    """Gather the supporting sentences (S), by passage and in the order of the text."""
    supporting = set(map(place_of, state["evidence"]))
    records = await kb.apassages([evidence["passage_id"] for evidence in state["evidence"]])
    texts = [
        TitledText(title=r["title"], text="\n".join(s for s in r["sentences"] if (r["id"], s) in supporting))
        for r in records
    ]
    return {"sentences": texts}


async def gather_passages(kb: Retriever, state: GenerateInput) -> dict[str, Any]:
    """Gather up to ten supporting passages (D), or those of the first retrieval if no triple was accepted.

    The passages are taken from each step in turn, so that every step is represented. If a limit ended the search, those
    of the first retrieval follow, as the triples that were found are not all that are needed.
    """
    return {"passages": passage_texts(await kb.apassages(_passages(state)))}


def _passages(state: GenerateInput) -> list[str]:
    supporting, found = round_robin(state["evidence"]), ids_of(state["first_retrieval"])[: context().top_k]
    return list(dict.fromkeys([*supporting, *found]))[:_MOST] if stopped() or not supporting else supporting[:_MOST]


@dataclass(frozen=True)
class AnswerFrom:
    """Answer from one granularity of evidence; `granularity` is "none" if the answer is a refusal.

    Without such evidence the model is not asked, as it would answer from memory; an earlier answer then remains.
    """

    llm: ChatModel
    prompt: Prompt[Answer]
    kb: Retriever
    granularity: Granularity
    gather: Gather
    suffices: Suffices = is_answer

    async def __call__(self, state: GenerateInput) -> dict[str, Any]:
        """Return the answer, its thought, the passages read, and the granularity."""
        texts = await self.gather(self.kb, state)
        if not any(texts.values()):
            emit(f"answer_from_{self.granularity}", thought="", answer="", sufficient=False)
            return {"granularity": "none"}
        reply = await ask(self.llm, self.prompt, question=state["question"], **texts)
        sufficient = self.suffices(reply.answer, texts)
        emit(f"answer_from_{self.granularity}", thought=reply.thought, answer=reply.answer, sufficient=sufficient)
        if not reply.answer or (is_refusal(reply.answer) and state["answer"] and not is_refusal(state["answer"])):
            return {"granularity": "none"}
        return {
            "answer": reply.answer,
            "thought": reply.thought,
            "read": list(reply.shown(_passages(state))) if "passages" in texts else [],
            "granularity": self.granularity if sufficient else "none",
        }
