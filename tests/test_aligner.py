"""A trained aligner compares knowledge with the chain, any other embedder also with the question and with names."""

import numpy as np
from fakes import ArithmeticEmbeddings

from langgraph_rag.records import Candidate, Source, titled_text
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.ranking import BiEncoder, OwnAligner, names_led_to, with_and_without_chain

QUESTION = "Where was the director of The Salt Road born?"


def fact(head: str, relation: str, tail: str, passage_id: str = "") -> Candidate:
    triple, sources = [head, relation, tail], [Source(passage_id=passage_id, sentences=[0])]
    return Candidate(triple=triple, sources=sources, name=" ".join(triple), text=f"<{'; '.join(triple)}>", score=0.0)


CHAIN = [
    fact("The Salt Road", "directed by", "Ilan Vint", "salt-road"),
    fact("Ilan Vint", "son of", "Mara Vint", "vint"),
]
KNOWLEDGE = [fact("Ilan Vint", "born in", "Kell", "skellby"), fact("Salt", "is", "mineral", "heron")]
WHOLE = f"{QUESTION}. knowledge triples: <The Salt Road; directed by; Ilan Vint>. <Ilan Vint; son of; Mara Vint>"
QUERIES = [QUESTION, f"{QUESTION} The Salt Road directed by Ilan Vint. Ilan Vint son of Mara Vint."]


async def test_a_trained_aligner_reads_the_whole_chain(embeddings: ArithmeticEmbeddings) -> None:
    await BiEncoder(embeddings).score(QUESTION, CHAIN, KNOWLEDGE)
    await BiEncoder(embeddings).score(QUESTION, [], KNOWLEDGE)

    assert [text for text in embeddings.embedded if not text.startswith("<")] == [WHOLE, QUESTION]


async def test_any_other_embedder_reads_the_question_alone_too(embeddings: ArithmeticEmbeddings) -> None:
    queries = np.array([embeddings.embed_query(query) for query in QUERIES])
    best = [(queries @ np.array(embeddings.embed_query(piece["name"]))).max() for piece in KNOWLEDGE]

    assert with_and_without_chain(QUESTION, CHAIN) == QUERIES
    assert with_and_without_chain(QUESTION, []) == [QUESTION]
    assert np.allclose(await BiEncoder(embeddings, with_and_without_chain).score(QUESTION, CHAIN, KNOWLEDGE), best)


async def test_the_own_embedder_counts_the_passage_too_and_the_share_of_what_is_nearest_to_the_same_query(
    kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    stating = [titled_text(record) for record in kb.passages(["skellby", "heron", "salt-road", "vint"])]
    shares = []
    for query, weight in [*((query, 1.0) for query in QUERIES), ("Ilan Vint", 0.9), ("Mara Vint", 0.9)]:
        names, passages = (
            np.array([embeddings.embed_query(text) for text in texts]) @ np.array(embeddings.embed_query(query))
            for texts in ([piece["name"] for piece in [*KNOWLEDGE, *CHAIN]], stating)
        )
        cosines = 0.7 * names + 0.3 * passages
        shares.append(weight * cosines / cosines.max())

    assert np.allclose(await OwnAligner(kb).score(QUESTION, CHAIN, KNOWLEDGE), np.max(shares, axis=0)[:2])


def test_a_chain_leads_to_the_names_that_the_question_does_not_have() -> None:
    chain = [*CHAIN, fact("Mara Vint", "was", "painter"), fact("the salt road", "filmed in", "1931")]

    assert names_led_to(QUESTION, chain) == ["Ilan Vint", "Mara Vint"]
    assert names_led_to(QUESTION, [Candidate(triple=[], sources=[], name="Heron", text="A bird.", score=0.0)]) == []


async def test_where_nothing_is_near_cosines_stay_as_they_are(kb: KnowledgeBase) -> None:
    assert await OwnAligner(kb).score("zzzz", [], [fact("Salt", "is", "mineral", "nowhere")]) == [0.0]
