"""DualRAG's summaries of one round in one reply, from the passages of all its entities together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.select_documents import Reading
from langgraph_rag.nodes.summarize import Fragment, told_in
from langgraph_rag.normal_forms import normalise
from langgraph_rag.prompts.answering import passage_texts
from langgraph_rag.prompts.dualrag import Notes, Wanted
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import ids_of
from langgraph_rag.tools.retrieve.ranking import in_turn, supporting_evidence
from langgraph_rag.tools.retrieve.retriever import Retriever

_LEAST_EACH = 6  # passages of each entity


class TakeNotesInput(TypedDict):
    """The question, the thoughts, and what was found for each entity."""

    question: str
    thoughts: list[str]
    step: int
    readings: list[Reading]


@dataclass(frozen=True)
class TakeNotes:
    """Ask for notes on the passages of a round, each passage once; notes may be about names that were found in them."""

    llm: ChatModel
    prompt: Prompt[Notes]
    kb: Retriever

    async def __call__(self, state: TakeNotesInput) -> dict[str, Any]:
        """Return a fragment for each name that something was found about, and what stayed open."""
        readings = state["readings"]
        records = await self.kb.apassages(_pooled([reading["passages"] for reading in readings]))
        reply = await ask(
            self.llm,
            self.prompt,
            question=state["question"],
            thoughts=state["thoughts"],
            wanted=[Wanted(entity=r["entity"], queries=r["queries"], known=r["known"]) for r in readings],
            documents=passage_texts(records),
        )
        shown = reply.shown(records)
        spelling = {normalise(reading["entity"]): reading["entity"] for reading in readings}
        fragments = []
        for note in reply.notes:
            if text := await in_thread(told_in, note.summary):
                evidence = await in_thread(supporting_evidence, text, shown, state["step"])
                entity = spelling.get(normalise(note.entity), note.entity)
                fragments.append(Fragment(entity=entity, text=text, read=ids_of(shown), evidence=evidence))
        names = ", ".join(dict.fromkeys(fragment["entity"] for fragment in fragments))
        emit("summarize", step=state["step"], entity=names, summary="\n".join(f["text"] for f in fragments))
        return {"fragments": fragments, "missing": reply.missing}


def _pooled(found: Sequence[Sequence[str]]) -> list[str]:
    """Return the first passages of each entity in turn, each once: as many as one has, or six for each."""
    return in_turn(found)[: max(_LEAST_EACH * len(found), *map(len, found))]
