"""PAR RAG's fine-grained retrieval (sections 3.3 and 3.6), with the interim answer, by vectors and graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.context import Settings, context
from langgraph_rag.nodes.for_each_question import ForEachQuestion
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.search import search
from langgraph_rag.prompts.par_rag import Standing
from langgraph_rag.records import Evidence, Record, Triple, evidence_at, ids_of, new_evidence, place_of
from langgraph_rag.refusals import is_refusal
from langgraph_rag.tools.ingest.spans import spot_names
from langgraph_rag.tools.retrieve.ranking import fuse, nearest_evidence
from langgraph_rag.tools.retrieve.retriever import Retriever


class RetrieveFinelyInput(TypedDict):
    """The question of this step, its interim answer and the cited evidence."""

    query: str
    step: int
    interim: str
    status: Standing
    cited: list[Evidence]


@dataclass(frozen=True)
class RetrieveFinely(ForEachQuestion):
    """Retrieve the sentences against which an interim answer is checked, unless it was quoted."""

    kb: Retriever
    defaults: Settings

    async def one(self, state: RetrieveFinelyInput) -> dict[str, Any]:
        """Return at most `max_candidates` sources: cited ones, then those most similar to question and answer.

        If there are enough other sources, at most half are cited ones, so that no answer is checked against its own
        sources alone. The others come from the cited passages and from the best passages of two fused rankings: the
        passages that the answer retrieves (E(a)), and the passages nearest in the triple graph to the entities of
        question and answer (KG(a)).
        """
        if state["status"] == "QUOTED":
            return {}
        settings, question, answer = context(self.defaults), state["query"], state["interim"]
        both, most = f"{question} {answer}", settings.max_candidates or 0
        named = spot_names(answer) and not is_refusal(answer)
        by_meaning, by_graph = await gather(
            [
                search(self.kb, answer if named else both, settings.top_k, settings.search),
                self.kb.anear_entities([question, answer], settings.top_k),
            ]
        )
        found = ids_of(fuse([by_meaning, by_graph], settings.top_k))
        ids = list(dict.fromkeys([*(evidence["passage_id"] for evidence in state["cited"]), *found]))
        fine = _checking(state["cited"], await self._told(both, ids, state["step"], most), most)
        emit("retrieve_finely", step=state["step"], passages=found, by_graph=len(by_graph), sources=len(fine))
        return {"fine_sources": fine}

    async def _told(self, query: str, ids: Sequence[str], step: int, enough: int) -> list[Evidence]:
        """Return the sentences of passages that state facts, by the similarity of the facts to the query.

        A passage without a fact of its own contributes its sentence most similar to the query, with the similarity of
        the passage as the score; if there are not `enough` facts, every passage does.
        """
        await self.kb.atriples(ids)  # which extracts those that are missing
        passages, triples = await self.kb.apassages_with_triples(ids)
        records = {record["id"]: record for record in passages}
        facts = [entry for triple in triples for entry in _stated(triple, records, step)]
        stating = {triple["sources"][0]["passage_id"] for triple in triples if triple["sources"][0]["sentences"]}
        few = len(set(map(place_of, facts))) < enough
        others = [id_ for id_ in records if few or id_ not in stating]
        nearest = [entry for id_ in others for entry in nearest_evidence(query, records[id_], step)]
        told = await self.kb.atriple_cosines([query], [fact["triple"] for fact in facts])
        alike = await self.kb.apassage_cosines([query], others)
        scores = [*told[:, 0], *(alike[id_][0] if (id_ := entry["passage_id"]) in alike else 0.0 for entry in nearest)]
        ranked = sorted(zip(scores, [*facts, *nearest], strict=True), key=lambda pair: -pair[0])
        return [entry for _, entry in ranked]


def _stated(triple: Triple, records: Mapping[str, Record], step: int) -> list[Evidence]:
    """Return the sentences of the first source of a triple as evidence."""
    source = triple["sources"][0]
    return evidence_at(source["sentences"], records.get(source["passage_id"]), step, triple["triple"])


def _checking(cited: Sequence[Evidence], told: Sequence[Evidence], most: int) -> list[Evidence]:
    """Return cited and other evidence, each sentence once, `most` in all."""
    own, new = new_evidence(cited, []), new_evidence(told, cited)
    kept = own[: max(most // 2, most - len(new))]
    return [*kept, *new[: most - len(kept)]]
