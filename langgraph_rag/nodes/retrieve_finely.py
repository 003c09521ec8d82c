"""PAR RAG's fine-grained retrieval (sections 3.3 and 3.6): with the interim answer, by vectors and by the graph."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.nodes.node import emit
from langgraph_rag.records import Evidence, Triple
from langgraph_rag.refusals import states_refusal
from langgraph_rag.tools.fusion import fuse
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.spans import spot


class RetrieveFinelyInput(TypedDict):
    """The question of this step, its interim answer and what that cites."""

    query: str
    step: int
    interim: str
    cited: list[Evidence]


@dataclass(frozen=True)
class RetrieveFinely:
    """Gather the facts that an interim answer is to be checked against, each as the sentence that states it."""

    kb: KnowledgeBase
    defaults: Settings

    async def __call__(self, state: RetrieveFinelyInput) -> dict[str, Any]:
        """Return at most `max_candidates` sources: what the answer cites, then the facts most like question and answer.

        What it cites takes no more than half of the places while there are facts for the others: no answer is checked
        against its own sources alone. Facts come from the cited passages and from the best of two rankings, fused:
        passages found with the answer (E(a)), and passages nearest in the triple graph to the entities of question and
        answer (KG(a)).
        """
        settings, question, answer = context(self.defaults), state["query"], state["interim"]
        both = f"{question} {answer}"
        about = answer if any(span.kind == "name" for span in spot(answer)) and not states_refusal(answer) else both
        by_meaning, by_graph = await asyncio.gather(
            self.kb.asearch(about, settings.top_k, by=settings.search),
            self.kb.anear_entities([question, answer], settings.top_k),
        )
        found = [passage["id"] for passage in fuse([by_meaning, by_graph], settings.top_k)]
        triples = await self.kb.atriples([*(evidence["passage_id"] for evidence in state["cited"]), *found])
        scores = await self.kb.rank(both, [entry["triple"] for entry in triples]) if triples else []
        order = sorted(range(len(triples)), key=lambda position: -scores[position])
        stated = await self._stated([triples[position] for position in order], state["step"])
        fine = _checking(state["cited"], stated, settings.max_candidates or 0)
        emit("retrieve_finely", step=state["step"], passages=found, by_graph=len(by_graph), sources=len(fine))
        return {"fine_sources": fine}

    async def _stated(self, triples: list[Triple], step: int) -> list[Evidence]:
        """Return each fact with the first sentence that states it."""
        sources = [(entry["triple"], entry["sources"][0]) for entry in triples]
        records = {record["id"]: record for record in await self.kb.apassages([s["passage_id"] for _, s in sources])}
        return [
            Evidence(
                triple=triple,
                sentence=records[source["passage_id"]]["sentences"][source["sentences"][0]],
                passage_id=source["passage_id"],
                title=records[source["passage_id"]]["title"],
                step=step,
            )
            for triple, source in sources
            if source["passage_id"] in records and source["sentences"]
        ]


def _checking(cited: Sequence[Evidence], facts: Sequence[Evidence], most: int) -> list[Evidence]:
    """Return what is cited, then facts, each sentence once."""
    own = {(evidence["passage_id"], evidence["sentence"]): evidence for evidence in cited}
    others = {(evidence["passage_id"], evidence["sentence"]): evidence for evidence in reversed(facts)}
    new = [evidence for place, evidence in reversed(others.items()) if place not in own]
    kept = list(own.values())[: max(most // 2, most - len(new))]
    return [*kept, *new[: most - len(kept)]]
