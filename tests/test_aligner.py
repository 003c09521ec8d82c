"""What knowledge is compared with: the whole chain by a trained aligner, one link at a time by any other embedder."""

import numpy as np
from fakes import ArithmeticEmbeddings

from langgraph_rag.records import Candidate
from langgraph_rag.tools.aligner import BiEncoder, OwnAligner, each_link
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "Where was the director of The Salt Road born?"


def fact(head: str, relation: str, tail: str) -> Candidate:
    triple = [head, relation, tail]
    return Candidate(triple=triple, sources=[], name=" ".join(triple), text=f"<{'; '.join(triple)}>", score=0.0)


CHAIN = [fact("The Salt Road", "directed by", "Ilan Vint"), fact("Ilan Vint", "son of", "Mara Vint")]
KNOWLEDGE = [fact("Ilan Vint", "born in", "Kell"), fact("Salt", "is", "mineral")]
WHOLE = f"{QUESTION} knowledge triples: <The Salt Road; directed by; Ilan Vint>. <Ilan Vint; son of; Mara Vint>"
LINKS = [QUESTION, f"{QUESTION}. The Salt Road directed by Ilan Vint", f"{QUESTION}. Ilan Vint son of Mara Vint"]


async def test_a_trained_aligner_reads_the_whole_chain(embeddings: ArithmeticEmbeddings) -> None:
    await BiEncoder(embeddings).score(QUESTION, CHAIN, KNOWLEDGE)
    await BiEncoder(embeddings).score(QUESTION, [], KNOWLEDGE)

    assert [text for text in embeddings.embedded if not text.startswith("<")] == [WHOLE, QUESTION]


async def test_any_other_embedder_counts_the_link_most_like_the_knowledge(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    queries = np.array([embeddings.embed_query(query) for query in LINKS])
    best = [(queries @ np.array(embeddings.embed_query(piece["name"]))).max() for piece in KNOWLEDGE]

    assert each_link(QUESTION, CHAIN) == LINKS
    assert np.allclose(await OwnAligner(kb).score(QUESTION, CHAIN, KNOWLEDGE), best)
    assert np.allclose(await BiEncoder(embeddings, each_link).score(QUESTION, CHAIN, KNOWLEDGE), best)
