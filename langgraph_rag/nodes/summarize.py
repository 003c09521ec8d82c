"""DualRAG's knowledge summariser (section 3.1.2, Eq. 9), and its ablation, which collects whole passages."""

import re
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.retrieve_for_entity import Found
from langgraph_rag.nodes.select_documents import Reading
from langgraph_rag.normal_forms import normalise
from langgraph_rag.prompts.answering import passage_texts
from langgraph_rag.prompts.dualrag import OutlineEntry, Summary
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Evidence, ids_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.ingest.text import RULES, text_pipeline
from langgraph_rag.tools.retrieve.ranking import nearest_evidence, supporting_evidence
from langgraph_rag.tools.retrieve.retriever import Retriever

_PARTS = re.compile(r";|\b(?:but|however|though|although)\b")  # of a sentence; one of them may be informative
_NOTHING = {"none", "null", "nothing", "not helpful", "not relevant"}


class Fragment(TypedDict):
    """A piece of knowledge about an entity, the passages read for it, and the supporting sentences."""

    entity: str
    text: str
    read: list[str]
    evidence: list[Evidence]


class SummarizeInput(Reading):
    """The input of one of the parallel summaries."""

    question: str
    thoughts: list[str]
    step: int


@dataclass(frozen=True)
class Summarize:
    """Ask for a summary of the passages selected for an entity; one without information is dropped."""

    llm: ChatModel
    prompt: Prompt[Summary]
    kb: Retriever

    async def __call__(self, reading: SummarizeInput) -> dict[str, Any]:
        """Return at most one fragment, to be joined with those of the other entities."""
        records = await self.kb.apassages(reading["passages"])
        reply = await ask(
            self.llm,
            self.prompt,
            question=reading["question"],
            thoughts=reading["thoughts"],
            entity=reading["entity"] or "(none in particular)",
            known=reading["known"],
            queries=reading["queries"],
            documents=passage_texts(records),
        )
        shown = reply.shown(records)
        text = await in_thread(told_in, reply.summary or "")
        evidence = await in_thread(supporting_evidence, text, shown, reading["step"])
        emit("summarize", step=reading["step"], entity=reading["entity"], summary=text)
        read = ids_of(shown)
        fragment = Fragment(entity=reading["entity"], text=text, read=read, evidence=evidence)
        return {"fragments": [fragment]} if text else {}


def told_in(summary: str) -> str:
    """Return a summary; empty if it only says that the documents have no information."""
    sentences = text_pipeline(RULES).sentences(summary)
    parts = (part.strip(" ,.") for sentence in sentences for part in _PARTS.split(sentence))
    refused = all(map(is_refusal, parts))
    return "" if normalise(summary) in _NOTHING or refused else summary


class CollectInput(TypedDict):
    """What was found for each entity, and what was collected before."""

    step: int
    found: list[Found]
    outline: list[OutlineEntry]


@dataclass(frozen=True)
class CollectPassages:
    """Collect whole passages, without order, instead of summarising them (table 3, "w/o KO")."""

    kb: Retriever

    async def __call__(self, state: CollectInput) -> dict[str, Any]:
        """Return each new passage as a fragment without an entity."""
        seen = {id_ for entry in state["outline"] for id_ in entry["read"]}
        wanted_by = {id_: found for found in reversed(state["found"]) for id_ in found["passages"]}
        new = [id_ for found in state["found"] for id_ in found["passages"] if id_ not in seen]
        records = await self.kb.apassages(list(dict.fromkeys(new)))
        fragments = [
            Fragment(
                entity="",
                text=f"{record['title']}: {record['text']}",
                read=[record["id"]],
                evidence=nearest_evidence(" ".join(wanted_by[record["id"]]["queries"]), record, state["step"]),
            )
            for record in records
        ]
        emit("collect_passages", step=state["step"], titles=[record["title"] for record in records])
        return {"fragments": fragments}
