"""The graph of passages, sentences and phrases: its links, and its updates with the records."""

from collections.abc import Sequence

from made_graphs import hierarchy_graph as built

from langgraph_rag.records import Record
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def record(id_: str, title: str, sentences: Sequence[str], phrases: Sequence[str]) -> Record:
    return Record(
        id=id_, title=title, text=" ".join(sentences), hash=id_, sentences=list(sentences), phrases=list(phrases)
    )


def records(kb: KnowledgeBase) -> list[Record]:
    return kb.passages(kb.ids())


GRAPH = built(
    [
        record("a", "Kell (island)", ["It lies off Norrland.", "See also: none."], ["Norrland"]),
        record("b", "Orsby", ["Orsby faces Kell.", "See also: none."], ["Orsby", "KELL"]),
    ]
)


def edges(graph: HierarchyGraph, sentences: Sequence[str]) -> set[tuple[str, str]]:
    """Return which passages have which sentences, and these which phrases."""
    of = {sentence: graph.sentences[sentence] for sentence in sentences}
    linked = [(graph.passages, of), (of, graph.phrases)]
    return {
        (one, other)
        for above, below in linked
        for one, node in above.items()
        for other, inner in below.items()
        if inner in graph.walk.neighbours(node)
    }


def test_passages_contain_sentences_and_sentences_phrases() -> None:
    assert edges(GRAPH, ["It lies off Norrland.", "See also: none.", "Orsby faces Kell."]) == {
        ("a", "It lies off Norrland."),
        ("a", "See also: none."),
        ("b", "Orsby faces Kell."),
        ("b", "See also: none."),
        ("It lies off Norrland.", "norrland"),
        ("It lies off Norrland.", "kell island"),
        ("It lies off Norrland.", "kell"),
        ("Orsby faces Kell.", "kell"),
        ("Orsby faces Kell.", "orsby"),
    }


def test_a_phrase_is_spelled_as_in_the_title_of_its_passage() -> None:
    graph = built([record("a", "Kell", ["KELL lies off Norrland."], ["KELL", "Norrland"])])

    assert {form: graph.spelling(form) for form in graph.phrases} == {"kell": "Kell", "norrland": "Norrland"}


def test_every_passage_sentence_and_phrase_is_a_node() -> None:
    assert (len(GRAPH.passages), len(GRAPH.sentences), len(GRAPH.phrases)) == (2, 3, 4)
    assert GRAPH.walk.size == 9


def test_phrases_are_known_in_any_spelling() -> None:
    assert GRAPH.has("kell")
    assert GRAPH.has("KELL")
    assert not GRAPH.has("Kel")


def test_it_tells_whether_a_sentence_contains_a_phrase() -> None:
    faces = GRAPH.sentences["Orsby faces Kell."]

    assert GRAPH.linked(faces, GRAPH.phrases["kell"])
    assert not GRAPH.linked(faces, GRAPH.phrases["norrland"])
    assert not GRAPH.linked(faces, GRAPH.walk.size)


def test_similar_phrases_share_words_and_have_the_same_numbers() -> None:
    graph = built([record("a", "", [], ["x"]), record("b", "Treaty 1814 of Kell", ["t"], ["Treaty 1815"])])

    assert graph.similar("the treaty 1815") == []  # "Treaty 1815" stands in no sentence
    assert graph.similar("Kell treaty of 1814") == ["Treaty 1814 of Kell"]
    assert graph.similar("Kell treaty of 1816") == []
    assert graph.similar("Kell 1814") == ["Treaty 1814 of Kell"]
    assert graph.similar("Kell of many other things 1814") == []


def test_a_walk_from_a_phrase_ranks_the_passages_that_name_it() -> None:
    ranked = GRAPH.passages.best(GRAPH.walk.push({GRAPH.phrases["norrland"]: 1.0}), 10)

    assert [passage["id"] for passage in ranked] == ["a", "b"]
    assert [p["id"] for p in GRAPH.passages.best(GRAPH.walk.push({GRAPH.phrases["orsby"]: 1.0}), 1)] == ["b"]


def test_nothing_makes_an_empty_graph() -> None:
    graph = built([])

    assert (graph.walk.size, graph.similar("x")) == (0, [])


# --- in the knowledge base -------------------------------------------------------------------------------------------
def test_it_holds_every_passage_sentence_and_phrase_of_the_records(kb: KnowledgeBase) -> None:
    graph = kb.hierarchy

    assert set(graph.passages) == {record["id"] for record in kb.passages(list(graph.passages))}
    assert len(graph.passages) == kb.info()["passages"]
    sentences = {sentence for record in records(kb) for sentence in record["sentences"]}
    assert len(graph.sentences) == len(sentences)
    assert all(sentence in graph.sentences for sentence in sentences)
    assert "It is gone." not in graph.sentences
    assert {"The Salt Road", "Casper Holm", "Pellworth"} <= set(map(graph.spelling, graph.phrases))


def test_it_is_built_once_and_again_after_documents_came_or_went(kb: KnowledgeBase) -> None:
    first = kb.hierarchy
    assert kb.hierarchy is first

    kb.add([{"id": "tarn", "title": "Lake Tarn", "text": "Lake Tarn lies near Skellby."}], progress=False)
    grown = kb.hierarchy
    kb.delete(["tarn"])

    assert grown.has("Lake Tarn")
    assert not first.has("Lake Tarn")
    sentences = [sentence for record in records(kb) for sentence in record["sentences"]]
    assert edges(kb.hierarchy, sentences) == edges(first, sentences)


def test_a_phrase_is_spelled_as_in_a_passage_that_is_there(kb: KnowledgeBase) -> None:
    kb.add([{"id": "tarn", "title": "LAKE TARN", "text": "LAKE TARN is deep."}], progress=False)
    kb.add([{"id": "shore", "title": "Lake Tarn", "text": "Lake Tarn lies near Skellby."}], progress=False)
    assert kb.hierarchy.similar("the tarn lake") == ["LAKE TARN"]

    kb.delete(["tarn"])

    assert kb.hierarchy.similar("the tarn lake") == ["Lake Tarn"]


def test_a_phrase_is_spelled_as_in_the_first_passage_also_after_this_one_changed(kb: KnowledgeBase) -> None:
    marsh = {"id": "marsh", "title": "REED MARSH", "text": "REED MARSH is wet."}
    kb.add([marsh], progress=False)
    kb.add([{"id": "path", "title": "Reed Marsh", "text": "Reed Marsh has a path."}], progress=False)
    assert kb.hierarchy.spelling("reed marsh") == "REED MARSH"

    kb.update([{**marsh, "page": 3}], progress=False)

    assert kb.hierarchy.spelling("reed marsh") == "REED MARSH"


async def test_for_coroutines_it_is_built_beside_the_loop(kb: KnowledgeBase) -> None:
    assert (await kb.ahierarchy()) is kb.hierarchy


def test_a_walk_from_a_phrase_reaches_first_what_names_it(kb: KnowledgeBase) -> None:
    graph = kb.hierarchy
    best = graph.passages.best(graph.walk.push({graph.phrases["casper holm"]: 1.0}), 3)

    assert {passage["id"] for passage in best} == {"holm", "salt-road", "winter-tide"}


def test_thousands_of_phrases_that_begin_with_one_word_are_found() -> None:
    phrases = [f"Smith {number}" for number in range(40_000)]

    graph = built([record("a", "Smith", [f"{' '.join(phrases)}."], phrases)])

    assert len(graph.phrases) == len(phrases) + 1
