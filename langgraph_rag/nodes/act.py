"""PAR RAG's action module (section 3.5): answers the question of a step from numbered sources, with citations."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.citations import UNCITED, cited, uncited
from langgraph_rag.nodes.for_each_question import ForEachQuestion
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import stands_in, words_of
from langgraph_rag.prompts.answering import passage_texts
from langgraph_rag.prompts.par_rag import CitedAnswer, Standing, Trajectory
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Evidence, Record, ScoredPassage, evidence_of, ids_of, place_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.ingest.spans import spot_names, stop_words
from langgraph_rag.tools.retrieve.ranking import nearest_evidence, supporting_evidence
from langgraph_rag.tools.retrieve.retriever import Retriever

_LIFE = re.compile(r"\d{3,4} ?[\u2013-] ?[^()]{0,20}\d{3,4}\)")  # (3 May 1929 – 8 July 1999)
_STEM = 4  # letters, which "directed" and "director" share


class ActInput(TypedDict):
    """The question of this step, the passages retrieved for it, the whole question, and the steps before."""

    question: str
    trajectories: list[Trajectory]
    query: str
    step: int
    retrieved: list[ScoredPassage]


Judge = Callable[[str, str, str, Sequence[Evidence]], Standing]


def unjudged(question: str, answer: str, short: str, cited: Sequence[Evidence]) -> Standing:
    """Leave every answer to the review, as in the paper."""
    return "NOT REVIEWED"


def quoted(question: str, answer: str, short: str, cited: Sequence[Evidence]) -> Standing:
    """Accept an answer that stands in a cited sentence with half of what it says, beside the names of its question."""
    told = [f"{entry['title']}: {entry['sentence']}" for entry in cited]
    names = [name.text for name in spot_names(question)]
    known = {*words_of(short), *(word for name in names for word in words_of(name)), *stop_words()}
    said = {word[:_STEM] for word in words_of(answer) if word not in known}
    stating = [_stems(text) for text in told if short and stands_in(short, text)]
    borne_out = any(2 * len(said & words) >= len(said) for words in stating)
    return "QUOTED" if borne_out and all(stands_in(name, " ".join(told)) for name in names) else "NOT REVIEWED"


def _stems(text: str) -> set[str]:
    lived = " born died" if _LIFE.search(text) else ""
    return {word[:_STEM] for word in words_of(text + lived)}


@dataclass(frozen=True)
class Act(ForEachQuestion):
    """Answer from the first `read_k` passages; the cited passages become the evidence."""

    llm: ChatModel
    prompt: Prompt[CitedAnswer]
    kb: Retriever
    defaults: Settings
    judge: Judge = unjudged

    async def one(self, state: ActInput) -> dict[str, Any]:
        """Return the interim answer without its citations, and the sentences of the cited passages that support it."""
        shown = ids_of(state["retrieved"][: context(self.defaults).read_k])
        records = await self.kb.apassages(shown)
        reply = await ask(
            self.llm,
            self.prompt,
            question=state["query"],
            whole=state["question"],
            found=[Trajectory({**trajectory, "sources": []}) for trajectory in state["trajectories"]],
            sources=passage_texts(records),
        )
        passages = reply.shown(records)
        answer = uncited(reply.answer)
        refused = is_refusal(answer)
        positions = cited(reply.answer, len(passages), otherwise=0 if refused else UNCITED)
        sources = [passages[position] for position in positions]
        evidence = await in_thread(_supporting, sources, state["query"], answer, state["step"])
        emit("act", step=state["step"], question=state["query"], answer=answer, cited=[e["title"] for e in evidence])
        short = "" if refused or is_refusal(reply.short) else uncited(reply.short)
        status = await in_thread(self.judge, state["query"], answer, short, evidence)
        settled = reply.settled and not refused
        return {"interim": answer, "short": short, "settled": settled, "cited": evidence, "status": status}


def _supporting(passages: Sequence[Record], question: str, answer: str, step: int) -> list[Evidence]:
    """Return the sentences of each passage that support the answer, or the one most similar to question and answer.

    They come in the order of the passage, each once, so that a reader understands them.
    """
    found = []
    for passage in passages:
        own = supporting_evidence(answer, [passage], step) or nearest_evidence(f"{question} {answer}", passage, step)
        places = set(map(place_of, own))
        told = dict.fromkeys(sentence for sentence in passage["sentences"] if (passage["id"], sentence) in places)
        found += [evidence_of(passage, sentence, step) for sentence in told]
    return found
