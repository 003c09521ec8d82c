"""What knowledge is compared with: the whole chain by a trained aligner, one link at a time by any other embedder."""

import numpy as np
from fakes import ArithmeticEmbeddings

from langgraph_rag.records import Candidate, Source, titled_text
from langgraph_rag.tools.aligner import BiEncoder, OwnAligner, each_link
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "Where was the director of The Salt Road born?"


def fact(head: str, relation: str, tail: str, passage_id: str = "") -> Candidate:
    triple, sources = [head, relation, tail], [Source(passage_id=passage_id, sentences=[0])]
    return Candidate(triple=triple, sources=sources, name=" ".join(triple), text=f"<{'; '.join(triple)}>", score=0.0)


CHAIN = [fact("The Salt Road", "directed by", "Ilan Vint"), fact("Ilan Vint", "son of", "Mara Vint")]
KNOWLEDGE = [fact("Ilan Vint", "born in", "Kell", "skellby"), fact("Salt", "is", "mineral", "heron")]
WHOLE = f"{QUESTION} knowledge triples: <The Salt Road; directed by; Ilan Vint>. <Ilan Vint; son of; Mara Vint>"
LINKS = [QUESTION, f"{QUESTION}. The Salt Road directed by Ilan Vint", f"{QUESTION}. Ilan Vint son of Mara Vint"]


async def test_a_trained_aligner_reads_the_whole_chain(embeddings: ArithmeticEmbeddings) -> None:
    await BiEncoder(embeddings).score(QUESTION, CHAIN, KNOWLEDGE)
    await BiEncoder(embeddings).score(QUESTION, [], KNOWLEDGE)

    assert [text for text in embeddings.embedded if not text.startswith("<")] == [WHOLE, QUESTION]


async def test_any_other_embedder_counts_the_link_most_like_the_knowledge_and_its_own_one_the_passage(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    queries = np.array([embeddings.embed_query(query) for query in LINKS])

    def highest(text: str) -> float:
        return float((queries @ np.array(embeddings.embed_query(text))).max())

    best = [highest(piece["name"]) for piece in KNOWLEDGE]
    passages = kb.passages(piece["sources"][0]["passage_id"] for piece in KNOWLEDGE)
    mixed = [0.7 * alone + 0.3 * highest(titled_text(p)) for alone, p in zip(best, passages, strict=True)]

    assert each_link(QUESTION, CHAIN) == LINKS
    assert np.allclose(await OwnAligner(kb).score(QUESTION, CHAIN, KNOWLEDGE), mixed)
    assert np.allclose(await BiEncoder(embeddings, each_link).score(QUESTION, CHAIN, KNOWLEDGE), best)
