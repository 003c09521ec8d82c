"""Which of the retrieved passages take a place among those that are read."""

from langgraph_rag.nodes.read_passages import worth_reading
from langgraph_rag.records import Record

QUESTION = "Where was the director of Grey Water born?"


def passage(title: str, text: str, document: str = "") -> Record:
    return Record(id=text, title=title, text=text, hash="", sentences=[text], phrases=[], document=document or text)


FILM = passage("Grey Water (1975 film)", "It was directed by Jon Rask.")
HERONS = passage("Heron", "Herons stand in shallow water and wait for fish.")
DIRECTOR = passage("Jon Rask", "Rask was born in Ost, the son of a cooper.")
TOWN = passage("Ost", "Ost is a port in Kell.")


def titles(question: str, *passages: Record) -> list[str]:
    return [passage["title"] for passage in worth_reading(question, passages)]


def test_passages_that_no_name_of_the_question_leads_to_come_last() -> None:
    assert titles(QUESTION, HERONS, FILM, TOWN, DIRECTOR) == ["Grey Water (1975 film)", "Ost", "Jon Rask", "Heron"]


def test_passages_of_a_document_with_a_name_of_the_question_keep_their_places() -> None:
    parts = [passage("Guide", f"Part {n} tells of {told}.", document="guide") for n, told in enumerate(["ebb", "flow"])]
    named = passage("Guide", "Grey Water has a harbour.", document="guide")

    assert worth_reading(QUESTION, [*parts, named]) == [*parts, named]


def test_near_duplicates_and_lists_of_meanings_take_no_place() -> None:
    meanings = passage("Grey Water", "Grey Water may refer to: a film, a lake, or waste water.")
    long = "Grey Water is a film that was shot in the autumn of 1974 in the harbour of Ost by " + "people of the town "
    twins = [passage("Grey Water (film)", long + "and its county."), passage("Grey Water, film", long + "and county.")]

    assert titles(QUESTION, meanings, *twins) == ["Grey Water (film)"]


def test_a_question_without_names_and_one_with_names_that_stand_nowhere_change_no_order() -> None:
    for question in ("where do they stand?", "Where is Zembla?", ""):
        assert titles(question, HERONS, FILM, TOWN) == ["Heron", "Grey Water (1975 film)", "Ost"]


def test_untitled_and_empty_passages_are_read() -> None:
    assert len(worth_reading(QUESTION, [passage("", "Grey Water."), passage("", ""), passage("", "x")])) == 3
