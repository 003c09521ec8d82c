"""DualRAG's retrieval for one entity (Eqs. 6 to 8): retrieves for each query, fuses and reranks."""

from dataclasses import dataclass
from typing import Any

from langchain_core.documents import BaseDocumentCompressor

from langgraph_rag.arguments import expect
from langgraph_rag.concurrency.tasks import gather
from langgraph_rag.context import context
from langgraph_rag.models.streaming import kept_internal
from langgraph_rag.nodes.identify_entities import Demand
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.search import search
from langgraph_rag.records import LISTED, ScoredPassage, ids_of, reciprocal_ranks
from langgraph_rag.tools.retrieve.ranking import fuse, rerank
from langgraph_rag.tools.retrieve.retriever import Retriever

_LEAST = 3  # passages that are kept even if the reranker returns fewer


class EntityDemand(Demand):
    """The input of one of the parallel retrievals."""

    step: int


class Found(Demand):
    """The passages for an entity, best first, and the best ones before reranking."""

    passages: list[str]
    recalled: list[ScoredPassage]


@dataclass(frozen=True)
class RetrieveForEntity:
    """Retrieve `recall_k` passages for each query and keep the `top_k` that the reranker ranks highest.

    `node` is the name in the event.
    """

    kb: Retriever
    reranker: BaseDocumentCompressor
    node: str = "retrieve_for_entity"

    def __post_init__(self) -> None:
        hint = "any LangChain document compressor is one; without one the knowledge base's embeddings rank"
        expect(BaseDocumentCompressor, self.reranker, "a reranker", hint)

    async def __call__(self, demand: EntityDemand) -> dict[str, Any]:
        """Return the passages, to be joined with those of the other entities."""
        settings, queries = context(), demand["queries"]
        lists = await gather(search(self.kb, query, settings.recall_k, settings.search) for query in queries)
        recalled = fuse(lists)
        records = await self.kb.apassages(ids_of(recalled))
        most = settings.top_k
        with kept_internal({}):  # a reranker may call a model
            best = await rerank(self.reranker, demand_text(demand), records, most=most, least=min(_LEAST, most))
        titles = {record["id"]: record["title"] for record in records}
        emit(
            self.node,
            step=demand["step"],
            query=demand_text(demand),
            passages=reciprocal_ranks(best),
            titles=[titles[id_] for id_ in best],
        )
        listed = recalled[: max(most, LISTED)]
        return {"found": [Found(entity=demand["entity"], queries=queries, passages=best, recalled=listed)]}


def demand_text(demand: Demand) -> str:
    """Return entity and queries as one text; the entity alone would favour passages that only mention it."""
    queries = ", ".join(demand["queries"])
    return f"{demand['entity']}: {queries}" if demand["entity"] else queries


def query_texts(demand: Demand) -> list[str]:
    """Return the queries, each preceded by the entity unless it contains it."""
    entity = demand["entity"]
    return [query if entity in query else f"{entity}: {query}" for query in demand["queries"]]
