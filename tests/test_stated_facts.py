"""The check that a passage states a fact: ends, numbers, assertion, and the sentence that bears it out."""

from itertools import product

import pytest

from langgraph_rag.records import Fact, Record
from langgraph_rag.tools.facts.stated import stated


def passage(*sentences: str, title: str = "Skell Light") -> Record:
    return Record(id="a", title=title, text=" ".join(sentences), hash="", sentences=list(sentences), phrases=[])


def places(triple: list[str], told: Record, named: list[int] | None = None) -> list[int] | None:
    """Return the sentences of a fact that is kept, and None for one that is dropped."""
    held = stated([Fact(triple=triple, sentences=named or [])], told)
    assert all(fact["triple"] == triple for fact in held)
    return held[0]["sentences"] if held else None


# --- which sentences say so ------------------------------------------------------------------------------------------
MILL = passage(
    "The mill stands in Kell.",
    "It was built by Ada Renk in 1911.",
    "Ada Renk sold it in 1920.",
    "The buyer was Casper Holm.",
    title="Halden Mill",
)


@pytest.mark.parametrize(
    ("triple", "positions"),
    [
        (["Halden Mill", "stands in", "Kell"], [0]),
        (["Halden Mill", "built by", "Ada Renk"], [1]),  # sentence 2 has the name too, this one the relation
        (["Ada Renk", "sold", "1920"], [2]),
        (["Halden Mill", "linked to", "Ada Renk"], [1]),  # equally good: the first
        (["Casper Holm", "bought from", "Ada Renk"], [2, 3]),  # no sentence has both: the last one before
        (["halden mill", "BUILT", "ADA RENK"], [1]),
        (["Ada Renk", "built", "Halden Mill"], [1]),
        (["Halden Mill", "is", "Halden Mill"], [0]),
    ],
)
def test_the_sentences_that_state_a_triple(triple: list[str], positions: list[int]) -> None:
    assert places(triple, MILL) == positions


def test_the_sentence_that_an_extractor_names_is_kept_if_it_bears_the_fact_out_and_else_found() -> None:
    assert places(["Halden Mill", "linked to", "Ada Renk"], MILL, [2]) == [2]
    assert places(["Halden Mill", "stands in", "Kell"], MILL, [3]) == [0]
    assert places(["Halden Mill", "stands in", "Kell"], MILL, [99]) == [0]


def test_sentences_are_told_apart_where_no_space_parts_words() -> None:
    told = passage("凯尔灯塔建于一九一一年。", "设计者是陈安。", "岛上有两个村庄。", title="凯尔灯塔")

    assert places(["凯尔灯塔", "设计者", "陈安"], told) == [1]
    assert places(["凯尔灯塔", "设计者", "陈波"], told) is None


def test_a_passage_without_sentences_states_nothing() -> None:
    assert places(["Skell Light", "is", "lighthouse"], passage()) is None


def test_many_facts_of_many_sentences_are_looked_at_once_each() -> None:
    names = [f"Name{n}" for n in range(400)]
    told = passage(*(f"{name} is yes." for name in names))

    assert len(stated([Fact(triple=[name, "is", "yes"], sentences=[]) for name in names], told)) == 400
    assert not stated([Fact(triple=[name, "is", "no"], sentences=[]) for name in names], told)


# --- ends and numbers ------------------------------------------------------------------------------------------------
LIGHT = passage(
    "The Skell Light is a red lighthouse off Ost, designed by Karl Friedrich Senn and Ida Brack.",
    "It has 23,406 bricks, cost 10 000 crowns, and stood at −5 °C in the winters of the 1980s.",
    "José Núñez's company, Lamps & Sons, keeps the colour and the two harbours of Ost.",
    title="Skell Light (lighthouse)",
)


@pytest.mark.parametrize(
    "triple",
    [
        ["Skell Light", "is", "lighthouse"],
        ["Skell Light (lighthouse)", "is", "red lighthouse"],  # the title with its qualifier
        ["The SKELL LIGHT", "lies off", "ost"],
        ["Skell Light", "designer", "Karl Senn"],  # without the middle name
        ["Skell Light", "designed by", "Ida Brack and Karl Friedrich Senn"],
        ["Skell Light", "has", "23406 bricks"],
        ["Skell Light", "has", "23,406 bricks"],
        ["Skell Light", "cost", "10,000 crowns"],
        ["Skell Light", "stood at", "-5 °C"],
        ["Jose Nunez", "owns", "Lamps & Sons"],
        ["Lamps and Sons", "keeps", "2 harbours"],
        ["Lamps & Sons", "keeps", "harbor"],
        ["Lamps & Sons", "keeps", "color"],
    ],
    ids="|".join,
)
def test_ends_may_differ_in_case_accents_inflection_and_spelling(triple: list[str]) -> None:
    assert places(triple, LIGHT)


@pytest.mark.parametrize(
    "triple",
    [
        ["Skell Light", "was built by", "Ada Moss of Bergen"],
        ["Ida Senn", "designed", "Skell Light"],  # a name put together from two
        ["Skell Light", "designed by", "Karl Brack"],
        ["Ost Light", "is", "lighthouse"],
        ["Skell Light", "has bricks", "406"],
        ["Skell Light", "has", "23 bricks"],
        ["Skell Light", "cost", "000 crowns"],
        ["Skell Light", "stood at", "5 °C"],
        ["Skell Light", "stood in", "1980"],
        ["Skell Light", "since 1907 is", "lighthouse"],  # a number in the relation
        ["Skell Light", "keeps", "3 harbours"],
        ["Skell Light", "is", "?!"],
    ],
    ids="|".join,
)
def test_a_fact_whose_ends_or_numbers_stand_nowhere_is_dropped(triple: list[str]) -> None:
    assert places(triple, LIGHT) is None


def test_an_end_that_the_border_of_sentences_cuts_stands_in_both() -> None:
    told = passage("The mill belongs to Kell Power Pvt.", "Ltd. of Ost.", title="Kell Mill")

    assert places(["Kell Mill", "belongs to", "Kell Power Pvt. Ltd."], told) == [0]


# --- what is asserted ------------------------------------------------------------------------------------------------
DENIALS = [
    "It was almost built by Karl Senn.",
    "It was not built by Karl Senn.",
    "It wasn't built by Karl Senn.",
    "It was never built by Karl Senn.",
    "Karl Senn did not build it.",
    "Contrary to the plan, it was not, in the end, built by Karl Senn.",
    "It was built neither by Karl Senn nor by Bo Ray.",
    "It was built not by Karl Senn but by Ada Moss.",
    "It was built without Karl Senn.",
    "It was built by Ada Moss, not by Karl Senn.",
    "It was built by Ada Moss instead of Karl Senn.",
    "It was built by Ada Moss rather than Karl Senn.",
    "It is untrue that it was built by Karl Senn.",
    "It is not true that it was built by Karl Senn.",
    "There is no evidence that it was built by Karl Senn.",
    "Ada Moss denied that it was built by Karl Senn.",
    "Ada Moss denied it was built by Karl Senn.",
    "It is doubtful whether it was built by Karl Senn.",
]
REPORTS = [
    "It was reportedly built by Karl Senn.",
    "It was built by Karl Senn, allegedly.",
    "It is said to have been built by Karl Senn.",
    "It is widely believed to have been built by Karl Senn.",
    "Ada Moss claimed that it was built by Karl Senn.",
    "Ada Moss said she thought it was built by Karl Senn.",
    "Legend has it that it was built by Karl Senn.",
    "According to local legend, it was built by Karl Senn.",
    '"It was built by Karl Senn", Ada Moss said.',
    "It may have been built by Karl Senn.",
    "It was perhaps built by Karl Senn.",
    "Was it built by Karl Senn?",
    "They asked whether it was built by Karl Senn.",
    "If it was built by Karl Senn, it is old.",
    "It would last a hundred years if it were built by Karl Senn.",
]


@pytest.mark.parametrize("sentence", [*DENIALS, *REPORTS])
def test_what_is_negated_or_merely_reported_is_no_fact(sentence: str) -> None:
    told = passage("The Skell Light is a lighthouse in Ost.", sentence)

    assert places(["Skell Light", "was built by", "Karl Senn"], told) is None


ASSERTIONS = [
    "It has an almost unlimited view and was built by Karl Senn.",
    "It was built by Karl Senn, not by Ada Moss.",
    "It was built not by Ada Moss but by Karl Senn.",
    "It was not built by Ada Moss, but by Karl Senn.",
    "It was built not only by Ada Moss but also by Karl Senn.",
    "It was not built by Karl Senn until 1907.",
    "It has no keeper; it was built by Karl Senn.",
    "As Ost had no lighthouse, it was built by Karl Senn.",
    "It was built by Karl Senn, who never saw it lit.",
    "It was built by Karl Senn in no less than nine years.",
    "It was built by Karl Senn, who said that it would stand.",
    "It was built by Karl Senn and is perhaps best known for its lamp.",
    "Even if it is small, it was built by Karl Senn.",
    "Although it was never used, it was built by Karl Senn.",
    "No. 5 of nine, it was built by Karl Senn.",
    "It was built by Karl Senn, the architect of Who Is There?",
]


@pytest.mark.parametrize("sentence", ASSERTIONS)
def test_what_is_asserted_beside_something_else_is_kept(sentence: str) -> None:
    told = passage("The Skell Light is a lighthouse in Ost.", sentence)

    assert places(["Skell Light", "was built by", "Karl Senn"], told) == [1]


@pytest.mark.parametrize(
    ("fact", "sentence"),
    [
        (["Skell Light", "was not built by", "Karl Senn"], "It was not built by Karl Senn."),
        (["Karl Senn", "denied selling", "Skell Light"], "Karl Senn denied that he sold it."),
        (["Skell Light", "reportedly built by", "Karl Senn"], "It was reportedly built by Karl Senn."),
        (["Skell Light", "is said to be by", "Karl Senn"], "It is said to be by Karl Senn."),
        (["Skell Light", "closes if it meets", "Karl Senn"], "It closes if it meets Karl Senn."),
    ],
)
def test_a_fact_may_say_itself_that_it_is_negated_or_reported(fact: list[str], sentence: str) -> None:
    assert places(fact, passage("The Skell Light is a lighthouse in Ost.", sentence)) == [1]


def test_a_fact_is_kept_if_another_sentence_asserts_it() -> None:
    told = passage("Some say that it was built by Karl Senn.", "It was built by Karl Senn in 1907.")

    assert places(["Skell Light", "was built by", "Karl Senn"], told) == [1]


def test_the_names_of_a_denied_fact_are_no_proof_where_they_say_something_else() -> None:
    told = passage("Karl Senn visited the Skell Light in 1907.", "The Skell Light was not built by Karl Senn.")

    assert places(["Skell Light", "was built by", "Karl Senn"], told) is None
    assert places(["Karl Senn", "visited", "Skell Light"], told) == [0]


def test_long_sentences_of_signs_are_read_in_linear_time() -> None:
    for sign, between in product(("not ", "if ", "said that ", "reportedly ", "was widely "), ("", ", ")):
        told = passage("It " + (sign + between) * 4_000 + "end.")
        stated([Fact(triple=["Skell Light", "is", "end"], sentences=[])], told)
