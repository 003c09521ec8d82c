"""IRCoT's reasoning step (Trivedi et al. 2023): writes one sentence, which is also the next query."""

from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.conclusions import concludes
from langgraph_rag.concurrency.threads import in_thread
from langgraph_rag.context import Settings, context
from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import normalise
from langgraph_rag.prompts.answering import passage_texts
from langgraph_rag.prompts.ircot import Thought
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import ScoredPassage, TraceStep, ids_of, trace_step
from langgraph_rag.tools.ingest.text import RULES, text_pipeline
from langgraph_rag.tools.retrieve.retriever import Retriever


class ThinkInput(TypedDict):
    """The question, all passages found so far, best first, and the sentences so far."""

    question: str
    query: str
    step: int
    ranking: list[ScoredPassage]
    thoughts: list[str]
    trace: list[TraceStep]


@dataclass(frozen=True)
class Think:
    """Ask for the next sentence; further sentences in the reply are ignored."""

    llm: ChatModel
    prompt: Prompt[Thought]
    kb: Retriever
    defaults: Settings

    async def __call__(self, state: ThinkInput) -> dict[str, Any]:
        """Return the sentence as the next query, which is empty at the end of the reasoning."""
        settings = context(self.defaults)
        ids = ids_of(state["ranking"][: settings.read_k])
        texts = passage_texts(await self.kb.apassages(ids))
        reply = await ask(self.llm, self.prompt, passages=texts, question=state["question"], thoughts=state["thoughts"])
        sentences = await in_thread(text_pipeline(RULES).sentences, reply.sentence)
        thought = sentences[0] if sentences else ""
        repeats = normalise(thought) in {"", *map(normalise, state["thoughts"])}
        following = "" if repeats or concludes(thought) else thought
        goes_on = bool(following) and state["step"] < settings.max_steps
        emit("think", step=state["step"], thought=thought, goes_on=goes_on)
        step = trace_step(state["step"], state["query"], thought, next_question=following)
        return {"query": following, "thoughts": [*state["thoughts"], thought], "trace": [*state["trace"], step]}
